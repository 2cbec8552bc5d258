/**
 * `GET /console`: the operator's page. One HTML document without anything from elsewhere; it asks the administration routes
 * with a key that the operator types in and that stays in the page's memory, so a reload forgets it.
 *
 * Whatever the routes answer is shown as text, never as markup, and the content security policy lets run only this script.
 */
import { createHash } from "node:crypto";
import { Failure } from "../exchange/failure.ts";

const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, CanvasText 18%, Canvas); --soft: color-mix(in srgb, CanvasText 5%, Canvas) }
* { box-sizing: border-box } [hidden] { display: none !important }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 78rem; padding: 1rem 1.25rem 4rem }
h1 { font-size: 1.35rem; margin: 0 } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem }
header { display: flex; gap: 1rem; align-items: baseline; flex-wrap: wrap; border-bottom: 1px solid var(--line); padding-bottom: .75rem }
nav { display: flex; gap: 1rem; flex-wrap: wrap }
form, .row { display: flex; gap: .6rem; flex-wrap: wrap; align-items: end; margin: .5rem 0 }
label { display: grid; gap: .15rem; font-size: .85rem }
input, select, button { font: inherit; padding: .3rem .5rem; border: 1px solid var(--line); border-radius: .3rem; background: Canvas; color: CanvasText }
button { cursor: pointer } button:hover { background: var(--soft) }
:focus-visible { outline: 2px solid Highlight; outline-offset: 1px }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
caption { text-align: left; font-size: .85rem; padding: .25rem 0 }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap; vertical-align: top }
th { background: var(--soft) } td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
td button { padding: .05rem .45rem; margin-right: .3rem }
code { font: .9rem ui-monospace, monospace; user-select: all; overflow-wrap: anywhere }
#told { min-height: 1.5rem; margin: .75rem 0 } .bad { color: light-dark(#a40000, #ff8a80) } .good { color: light-dark(#06600e, #8fdf96) }
#secret { border: 2px solid Highlight; border-radius: .4rem; padding: .75rem 1rem; margin: .75rem 0 }
`;

const SCRIPT = `
"use strict";
const $ = (id) => document.getElementById(id);
let adminKey = "";
let older = null;

async function ask(path, method = "GET", body) {
  const headers = { authorization: "Bearer " + adminKey };
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(path, { method, headers, credentials: "omit", cache: "no-store", body: body && JSON.stringify(body) });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error?.message ?? "The gateway answered " + response.status);
  return answer;
}

function tell(text, kind = "good") {
  $("told").textContent = text;
  $("told").className = kind;
}

/** Runs what an operator asked for, and says what came of it. */
function act(work, done) {
  return async (event) => {
    event?.preventDefault();
    try {
      await work(event);
      if (done) tell(done);
    } catch (error) {
      tell(error.message, "bad");
    }
  };
}

function element(name, text, props = {}) {
  const made = Object.assign(document.createElement(name), props);
  if (text !== undefined && text !== null) made.textContent = text;
  return made;
}

/** Columns are [title, value of a row, true for numbers]; a value may be an element. */
function table(id, caption, columns, rows) {
  const head = element("tr");
  for (const [title, , number] of columns) head.append(element("th", title, { scope: "col", className: number ? "number" : "" }));
  const body = rows.map((row) => {
    const line = element("tr");
    for (const [, value, number] of columns) {
      const shown = value(row);
      const cell = element("td", undefined, { className: number ? "number" : "" });
      cell.append(shown ?? "");
      line.append(cell);
    }
    return line;
  });
  const made = element("table");
  made.append(element("caption", rows.length > 0 ? caption : caption + ": nothing yet"), element("thead"), element("tbody"));
  made.tHead.append(head);
  made.tBodies[0].append(...body);
  $(id).replaceChildren(made);
}

const when = (text) => text === null ? "" : text.slice(0, 19).replace("T", " ");
const count = (n) => n === null || n === undefined ? "" : Number(n).toLocaleString("en");

function button(text, label, work) {
  const made = element("button", text, { type: "button" });
  made.setAttribute("aria-label", label);
  made.addEventListener("click", act(work));
  return made;
}

function showSecret(name, secret) {
  $("secret-of").textContent = name;
  $("secret-text").textContent = secret;
  $("secret").hidden = false;
  $("secret").focus();
}

const limits = (k) => [
  k.spend_limit && k.spend_limit.amount + " a " + k.spend_limit.period,
  k.rate_limit?.requests_per_minute && k.rate_limit.requests_per_minute + " requests/min",
  k.rate_limit?.tokens_per_minute && k.rate_limit.tokens_per_minute + " tokens/min",
  k.models && "models " + k.models.join(" "),
  k.access_policy && "access " + k.access_policy,
  k.dlp_policy && "DLP " + k.dlp_policy,
].filter(Boolean).join(", ");

const stateOf = (k) => k.revoked_at ? "revoked" : !k.expires_at ? "valid" : Date.parse(k.expires_at) <= Date.now() ? "expired" : "until " + when(k.expires_at);

function keyActions(k) {
  if (k.source === "config") return "in the file";
  if (k.revoked_at) return "";
  const box = element("span");
  box.append(
    button("Rotate", "Rotate " + k.name, async () => {
      const overlap = prompt("A new secret for " + k.name + ". For how many seconds does the old one stay valid?", "0");
      if (overlap === null) return;
      const { secret } = await ask("/admin/keys/" + encodeURIComponent(k.id) + "/rotate", "POST", { overlap_seconds: Number(overlap) });
      showSecret(k.name, secret);
      tell("Rotated " + k.name);
    }),
    button("Revoke", "Revoke " + k.name, async () => {
      if (!confirm("Revoke " + k.name + "? Calls with it are refused from now on; this cannot be undone.")) return;
      await ask("/admin/keys/" + encodeURIComponent(k.id), "DELETE");
      await keys();
      tell("Revoked " + k.name);
    }),
  );
  return box;
}

async function keys() {
  const { data } = await ask("/admin/keys");
  table("keys-table", "API keys", [
    ["Name", (k) => k.name],
    ["Id", (k) => k.id],
    ["Account", (k) => k.account],
    ["State", stateOf],
    ["Limits", limits],
    ["Made", (k) => when(k.created)],
    ["", keyActions],
  ], data);
  await credits([...new Set(data.map((k) => k.account))].sort());
}

async function credits(accounts) {
  const rows = await Promise.all(accounts.map((name) => ask("/admin/accounts/" + encodeURIComponent(name) + "/credits")));
  table("credits-table", "Accounts that have keys", [
    ["Account", (a) => a.account],
    ["Granted", (a) => a.unlimited ? "without limit" : a.granted, true],
    ["Added", (a) => a.added, true],
    ["Spent", (a) => a.spent, true],
    ["Left", (a) => a.balance ?? "", true],
  ], rows);
}

async function usage() {
  const form = new FormData($("usage-form"));
  const query = new URLSearchParams([...form].filter(([, value]) => value !== ""));
  const by = form.get("by");
  const { data } = await ask("/admin/usage?" + query);
  table("usage-table", "Usage by " + by, [
    [by[0].toUpperCase() + by.slice(1), (u) => u[by]],
    ["Generations", (u) => count(u.generations), true],
    ["Failed", (u) => count(u.failed), true],
    ["Input tokens", (u) => count(u.input_tokens), true],
    ["of which cached", (u) => count(u.cached_tokens), true],
    ["Output tokens", (u) => count(u.output_tokens), true],
    ["of which reasoning", (u) => count(u.reasoning_tokens), true],
    ["Searches", (u) => count(u.searches), true],
    ["Cost", (u) => u.cost, true],
  ], data);
}

async function generations(cursor) {
  const form = new FormData($("generations-form"));
  const query = new URLSearchParams([["limit", "25"], ...[...form].filter(([, value]) => value !== "")]);
  if (cursor) query.set("cursor", cursor);
  const { data, next_cursor } = await ask("/admin/generations?" + query);
  older = next_cursor;
  $("older").hidden = older === null;
  table("generations-table", "Generations, newest first (times are UTC)", [
    ["Time", (g) => when(g.created)],
    ["Key", (g) => g.key],
    ["Model", (g) => g.model],
    ["Provider", (g) => g.provider],
    ["Format", (g) => g.format + (g.stream ? ", stream" : "")],
    ["Status", (g) => g.status + (g.error_code ? ": " + g.error_code : "") + (g.client_gone ? ", caller left" : "")],
    ["Input", (g) => count(g.usage?.input_tokens), true],
    ["Output", (g) => count(g.usage?.output_tokens), true],
    ["Cost", (g) => g.cost, true],
    ["First part, ms", (g) => count(g.ttft_ms), true],
    ["Whole, ms", (g) => count(g.latency_ms), true],
    ["Id", (g) => g.id],
  ], data);
}

async function providers() {
  const { data } = await ask("/admin/providers");
  const rows = data.flatMap((p) => p.models.length > 0 ? p.models.map((m) => ({ ...p, ...m })) : [{ ...p, model: "" }]);
  const health = { closed: "in service", open: "out of service", "half-open": "being tried again" };
  table("providers-table", "Providers", [
    ["Provider", (p) => p.provider],
    ["API", (p) => p.api],
    ["Model", (p) => p.model],
    ["State", (p) => (health[p.state] ?? p.state ?? "not asked yet") + (p.retry_in_seconds ? ", tried again in " + p.retry_in_seconds + " s" : "")],
    ["Recent calls", (p) => count(p.calls), true],
    ["Recent failures", (p) => count(p.failures), true],
    ["Under way", (p) => count(p.in_flight), true],
    ["Waiting", (p) => count(p.queued), true],
  ], rows);
}

async function everything() {
  await Promise.all([keys(), usage(), generations(), providers()]);
}

$("open-form").addEventListener("submit", act(async () => {
  adminKey = $("admin-key").value.trim();
  await everything();
  $("admin-key").value = "";
  $("open-form").hidden = true;
  $("console").hidden = false;
  tell("");
}));
$("forget").addEventListener("click", () => location.reload());
$("refresh").addEventListener("click", act(everything, "Up to date."));
$("usage-form").addEventListener("submit", act(usage));
$("generations-form").addEventListener("submit", act(() => generations()));
$("older").addEventListener("click", act(() => generations(older)));
$("secret-done").addEventListener("click", () => {
  $("secret-text").textContent = "";
  $("secret").hidden = true;
});
$("create-form").addEventListener("submit", act(async ({ target }) => {
  const given = Object.fromEntries([...new FormData(target)].map(([name, value]) => [name, value.trim()]));
  const input = { name: given.name };
  if (given.account) input.account = given.account;
  if (given.amount) input.spend_limit = { amount: given.amount, period: given.period };
  if (given.requests) input.rate_limit = { requests_per_minute: Number(given.requests) };
  if (given.models) input.models = given.models.split(/[\\s,]+/);
  if (given.expires) input.expires_at = given.expires + "T00:00:00Z";
  const { name, secret } = await ask("/admin/keys", "POST", input);
  target.reset();
  showSecret(name, secret);
  await keys();
  tell("Made " + name);
}));
$("credits-form").addEventListener("submit", act(async ({ target }) => {
  const given = new FormData(target);
  const path = "/admin/accounts/" + encodeURIComponent(given.get("account")) + "/credits";
  const { account, balance } = await ask(path, "POST", { amount: given.get("amount").trim(), note: "console" });
  target.reset();
  await keys();
  tell("Credits of " + account + (balance === null ? " are without limit." : ": " + balance + " left."));
}));
`;

const BODY = `
<header><h1>Sluice</h1>
<nav aria-label="Sections" ><a href="#keys">Keys</a><a href="#credits">Credits</a><a href="#usage">Usage</a><a href="#generations">Generations</a><a href="#providers">Providers</a></nav></header>
<p id="told" role="status" aria-live="polite"></p>
<form id="open-form"><label>Admin key<input id="admin-key" type="password" autocomplete="off" required size="40"></label><button>Open</button>
<noscript>This page needs JavaScript.</noscript></form>
<main id="console" hidden>
<div class="row"><button id="refresh" type="button">Refresh</button><button id="forget" type="button">Forget the admin key</button></div>
<div id="secret" role="alert" tabindex="-1" hidden>The secret of <strong id="secret-of"></strong>, shown this once: <code id="secret-text"></code>
<div class="row"><button id="secret-done" type="button">I have kept it</button></div></div>
<section id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2><div id="keys-table" class="wide"></div>
<form id="create-form"><label>New key<input name="name" required maxlength="100" placeholder="name"></label>
<label>Account<input name="account" placeholder="default"></label>
<label>Spend limit<input name="amount" inputmode="decimal" size="8" placeholder="none"></label>
<label>a<select name="period"><option>day<option>week<option selected>month<option>total</select></label>
<label>Requests a minute<input name="requests" type="number" min="0" size="8" placeholder="none"></label>
<label>Models<input name="models" placeholder="all, or mistral/* demo/small"></label>
<label>Ends on<input name="expires" type="date"></label><button>Make key</button></form></section>
<section id="credits" aria-labelledby="credits-title"><h2 id="credits-title">Credits</h2><div id="credits-table" class="wide"></div>
<form id="credits-form"><label>Account<input name="account" required></label><label>Amount to add<input name="amount" inputmode="decimal" required size="10"></label><button>Add</button></form></section>
<section id="usage" aria-labelledby="usage-title"><h2 id="usage-title">Usage</h2>
<form id="usage-form"><label>By<select name="by"><option>key<option>model<option>day</select></label>
<label>From<input name="from" type="date"></label><label>Before<input name="to" type="date"></label><button>Show</button></form><div id="usage-table" class="wide"></div></section>
<section id="generations" aria-labelledby="generations-title"><h2 id="generations-title">Generations</h2>
<form id="generations-form"><label>Key<input name="key" placeholder="any"></label><label>Model<input name="model" placeholder="any"></label><button>Show newest</button></form>
<div id="generations-table" class="wide"></div><div class="row"><button id="older" type="button" hidden>Older</button></div></section>
<section id="providers" aria-labelledby="providers-title"><h2 id="providers-title">Providers</h2><div id="providers-table" class="wide"></div></section>
</main>`;

const HTML = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>Sluice</title>
<style>${STYLE}</style></head><body>${BODY}
<script>${SCRIPT}</script></body></html>
`;

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": [
    "default-src 'none'",
    `script-src ${hashOf(SCRIPT)}`,
    `style-src ${hashOf(STYLE)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

export function consolePage(method: string): Response {
  if (method !== "GET" && method !== "HEAD") {
    throw new Failure("method_not_allowed", `Cannot ${method} here: expected GET.`, {
      details: { allow: "GET, HEAD" },
    });
  }
  return new Response(HTML, { headers: HEADERS });
}
