/**
 * The console's script: asks the administration endpoints with a key that the operator types in and that stays in this page's
 * memory, so that a reload forgets it. Whatever they answer is shown as text, never as markup.
 *
 * `deno task check` checks its types with those of a browser (`browser.json`).
 */

import { act, at, count, onSubmit, queryOf, table, tell, valuesOf, when } from "./dom.js";

/**
 * @typedef {import("../../accounts/mod.ts").KeyView} Key
 * @typedef {import("../../accounts/mod.ts").CreditsView} Credits
 * @typedef {import("../../accounts/mod.ts").UsageView} Usage
 * @typedef {import("../../accounts/mod.ts").TeamView} Team
 * @typedef {import("../../accounts/mod.ts").GenerationView} Generation
 * @typedef {import("../../accounts/mod.ts").AuditView & Record<string, string>} Audit
 * @typedef {import("../../providers/states.ts").ProviderHealth} Provider
 */

/**
 * @template Row
 * @typedef {import("./dom.js").Column<Row>} Column
 */

let adminKey = "";
/** @type {string | null} The cursor of the next page of generations. */
let older = null;
/** @type {string | null} The cursor of the next page of keys. */
let moreKeys = null;

/**
 * Asks an administration endpoint. Throws what it refuses.
 *
 * @template T
 * @param {string} path
 * @param {string} [method]
 * @param {unknown} [body]
 * @returns {Promise<T>}
 */
async function ask(path, method = "GET", body) {
  /** @type {Record<string, string>} */
  const headers = { authorization: `Bearer ${adminKey}` };
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(path, {
    method,
    headers,
    credentials: "omit",
    cache: "no-store",
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error?.message ?? `The gateway answered ${response.status}`);
  return answer;
}

/**
 * @param {string} text
 * @param {string} label for who does not see the row
 * @param {() => Promise<unknown>} work
 */
function button(text, label, work) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.ariaLabel = label;
  made.addEventListener("click", act(work));
  return made;
}

/**
 * @param {string} name
 * @param {string} secret
 */
function showSecret(name, secret) {
  at("secret-of", HTMLElement).textContent = name;
  at("secret-text", HTMLElement).textContent = secret;
  const box = at("secret", HTMLElement);
  box.hidden = false;
  box.focus();
}

/** @param {Key} key */
function limitsOf(key) {
  return [
    key.spend_limit && `${key.spend_limit.amount} a ${key.spend_limit.period}`,
    key.rate_limit?.requests_per_minute && `${key.rate_limit.requests_per_minute} requests/min`,
    key.rate_limit?.tokens_per_minute && `${key.rate_limit.tokens_per_minute} tokens/min`,
    key.session_limit?.amount && `${key.session_limit.amount} a session`,
    key.session_limit?.requests_per_minute &&
    `${key.session_limit.requests_per_minute} requests/min of a session`,
    ...key.tag_limits.map(({ tag, amount, period }) => `${amount} a ${period} for each ${tag}`),
    key.models && `models ${key.models.join(" ")}`,
    key.access_policy && `access ${key.access_policy}`,
    key.dlp_policy && `DLP ${key.dlp_policy}`,
  ].filter(Boolean).join(", ");
}

/** @param {Key} key */
function stateOf(key) {
  if (key.revoked_at) return "revoked";
  if (!key.expires_at) return "valid";
  return Date.parse(key.expires_at) <= Date.now() ? "expired" : `until ${when(key.expires_at)}`;
}

/** @param {Key} key */
function actionsOf(key) {
  if (key.source === "config") return "in the file";
  if (key.revoked_at) return "";
  const path = `/admin/keys/${encodeURIComponent(key.id)}`;
  const box = document.createElement("span");
  const rotate = async () => {
    const seconds = prompt(
      `A new secret for ${key.name}. For how many seconds does the old one stay valid?`,
      "0",
    );
    if (seconds === null) return;
    /** @type {{ secret: string }} */
    const { secret } = await ask(`${path}/rotate`, "POST", { overlap_seconds: Number(seconds) });
    showSecret(key.name, secret);
    tell(`Rotated ${key.name}`);
  };
  const revoke = async () => {
    if (!confirm(`Revoke ${key.name}? Calls with it are refused from now on; this cannot be undone.`)) return;
    await ask(path, "DELETE");
    await showKeys();
    tell(`Revoked ${key.name}`);
  };
  box.append(
    button("Rotate", `Rotate ${key.name}`, rotate),
    button("Revoke", `Revoke ${key.name}`, revoke),
  );
  return box;
}

/** @param {string | null} [cursor] null or absent: from the beginning */
async function showKeys(cursor = null) {
  const query = queryOf({ limit: "100", cursor: cursor ?? "" });
  /** @type {{ data: Key[], next_cursor: string | null }} */
  const { data, next_cursor } = await ask(`/admin/keys?${query}`);
  moreKeys = next_cursor;
  at("more-keys", HTMLElement).hidden = moreKeys === null;
  /** @type {Column<Key>[]} */
  const columns = [
    ["Name", (k) => k.name],
    ["Id", (k) => k.id],
    ["Account", (k) => k.account],
    ["Team", (k) => k.team],
    ["State", stateOf],
    ["Limits", limitsOf],
    ["Made", (k) => when(k.created)],
    ["", actionsOf],
  ];
  table("keys-table", "API keys", columns, data);
  await showCredits([...new Set(data.map((k) => k.account))].sort());
}

/** @param {readonly string[]} accounts */
async function showCredits(accounts) {
  /** @type {Credits[]} */
  const rows = await Promise.all(
    accounts.map((name) => ask(`/admin/accounts/${encodeURIComponent(name)}/credits`)),
  );
  /** @type {Column<Credits>[]} */
  const columns = [
    ["Account", (a) => a.account],
    ["Granted", (a) => a.unlimited ? "without limit" : a.granted, true],
    ["Added", (a) => a.added, true],
    ["Spent", (a) => a.spent, true],
    ["Left", (a) => a.balance, true],
  ];
  table("credits-table", "Accounts that have keys", columns, rows);
}

async function showTeams() {
  /** @type {{ data: Team[] }} */
  const { data } = await ask("/admin/teams");
  /** @type {Column<Team>[]} */
  const columns = [
    ["Team", (t) => t.name],
    ["Account", (t) => t.account ?? "each key's own"],
    ["Keys", (t) => count(t.keys), true],
    ["Limit", (t) => t.spend_limit && `${t.spend_limit.amount} a ${t.spend_limit.period}`, true],
    ["Spent", (t) => `${t.spend.amount} this ${t.spend.period}`.replace("this total", "in all"), true],
    ["Left", (t) => t.spend.remaining, true],
    ["At this pace", (t) => t.spend.forecast, true],
    ["Begins anew", (t) => when(t.spend.reset_at)],
  ];
  table("teams-table", "Teams", columns, data);
}

async function showUsage() {
  const given = valuesOf(at("usage-form", HTMLFormElement));
  const names = /** @type {(keyof Usage)[]} */ (given.by.split(",").map((name) => name.trim()));
  /** @type {{ data: Usage[] }} */
  const { data } = await ask(`/admin/usage?${queryOf(given)}`);
  /** @type {Column<Usage>[]} */
  const columns = [
    ...names.map((name) => titled(name)),
    ["Generations", (u) => count(u.generations), true],
    ["Failed", (u) => count(u.failed), true],
    ["Input tokens", (u) => count(u.input_tokens), true],
    ["of which cached", (u) => count(u.cached_tokens), true],
    ["Output tokens", (u) => count(u.output_tokens), true],
    ["of which reasoning", (u) => count(u.reasoning_tokens), true],
    ["Searches", (u) => count(u.searches), true],
    ["Cost", (u) => u.cost, true],
    ["Saved by caching", (u) => u.cache_saved, true],
    ...(data[0]?.tool_calls === undefined ? [] : LABELLED),
  ];
  table("usage-table", `Usage by ${given.by}`, columns, data);
}

/**
 * @param {keyof Usage} name
 * @returns {Column<Usage>}
 */
function titled(name) {
  return [name[0].toUpperCase() + name.slice(1), (u) => String(u[name] || "none")];
}

/** @type {Column<Usage>[]} What sums by team, session and tag have beside. */
const LABELLED = [
  ["Tool calls", (u) => count(u.tool_calls), true],
  ["Seconds a call", (u) => ((u.latency_ms ?? 0) / u.generations / 1000).toFixed(1), true],
];

/** @param {Generation} g */
function outcomeOf(g) {
  return g.status + (g.error_code ? `: ${g.error_code}` : "") + (g.client_gone ? ", caller left" : "");
}

/** @param {string | null} cursor null: the newest */
async function showGenerations(cursor) {
  const query = queryOf({ limit: "25", ...valuesOf(at("generations-form", HTMLFormElement)) });
  if (cursor !== null) query.set("cursor", cursor);
  /** @type {{ data: Generation[], next_cursor: string | null }} */
  const { data, next_cursor } = await ask(`/admin/generations?${query}`);
  older = next_cursor;
  at("older", HTMLElement).hidden = older === null;
  /** @type {Column<Generation>[]} */
  const columns = [
    ["Time", (g) => when(g.created)],
    ["Key", (g) => g.key],
    ["Model", (g) => g.model],
    ["Provider", (g) => g.provider],
    ["Format", (g) => g.format + (g.stream ? ", stream" : "")],
    ["Status", outcomeOf],
    ["Input", (g) => count(g.usage?.input_tokens), true],
    ["Output", (g) => count(g.usage?.output_tokens), true],
    ["Cost", (g) => g.cost, true],
    ["First part, ms", (g) => count(g.ttft_ms), true],
    ["Whole, ms", (g) => count(g.latency_ms), true],
    ["Id", (g) => g.id],
  ];
  table("generations-table", "Generations, newest first (times are UTC)", columns, data);
}

async function showAudit() {
  const { data } = await ask(`/admin/audit?${queryOf(valuesOf(at("audit-form", HTMLFormElement)))}`);
  table("audit-table", "Audit log, newest first (times are UTC)", [
    ["Time", (/** @type {Audit} */ a) => when(a.created)],
    ["Key", (/** @type {Audit} */ a) => a.key ?? a.account],
    [
      "What",
      ({ of, by, action, types, fields }) => `${of ?? by} ${action} ${JSON.stringify(types ?? fields)}`,
    ],
  ], data);
}
const BREAKER = { closed: "in service", open: "out of service", "half-open": "being tried again" };

/** @typedef {Omit<Provider, "models"> & Partial<Provider["models"][number]>} ProviderRow */

/** @param {ProviderRow} p */
function healthOf(p) {
  const state = p.state === undefined ? "not asked yet" : BREAKER[p.state];
  return p.retry_in_seconds ? `${state}, tried again in ${p.retry_in_seconds} s` : state;
}

async function showProviders() {
  /** @type {{ data: Provider[] }} */
  const { data } = await ask("/admin/providers");
  const rows = data.flatMap(({ models, ...provider }) => {
    /** @type {ProviderRow[]} */
    const found = models.map((model) => ({ ...provider, ...model }));
    return found.length > 0 ? found : [provider];
  });
  /** @type {Column<ProviderRow>[]} */
  const columns = [
    ["Provider", (p) => p.provider],
    ["API", (p) => p.api],
    ["Model", (p) => p.model],
    ["State", healthOf],
    ["Recent calls", (p) => count(p.calls), true],
    ["Recent failures", (p) => count(p.failures), true],
    ["Under way", (p) => count(p.in_flight), true],
    ["Waiting", (p) => count(p.queued), true],
  ];
  table("providers-table", "Providers", columns, rows);
}

async function showAll() {
  await Promise.all([
    showKeys(),
    showTeams(),
    showUsage(),
    showGenerations(null),
    showAudit(),
    showProviders(),
  ]);
}

onSubmit("open-form", async () => {
  const field = at("admin-key", HTMLInputElement);
  adminKey = field.value.trim();
  await showAll();
  field.value = "";
  at("open-form", HTMLElement).hidden = true;
  at("console", HTMLElement).hidden = false;
  tell("");
});
at("forget", HTMLElement).addEventListener("click", () => location.reload());
at("refresh", HTMLElement).addEventListener("click", act(showAll, "Up to date."));
onSubmit("usage-form", showUsage);
onSubmit("generations-form", () => showGenerations(null));
at("more-keys", HTMLElement).addEventListener("click", act(() => showKeys(moreKeys)));
onSubmit("audit-form", showAudit);
at("older", HTMLElement).addEventListener("click", act(() => showGenerations(older)));
at("secret-done", HTMLElement).addEventListener("click", () => {
  at("secret-text", HTMLElement).textContent = "";
  at("secret", HTMLElement).hidden = true;
});
onSubmit("create-form", async (given, form) => {
  /** @type {Record<string, unknown>} */
  const input = { name: given.name };
  if (given.account) input.account = given.account;
  if (given.team) input.team = given.team;
  if (given.amount) input.spend_limit = { amount: given.amount, period: given.period };
  if (given.requests) input.rate_limit = { requests_per_minute: Number(given.requests) };
  if (given.models) input.models = given.models.split(/[\s,]+/);
  if (given.expires) input.expires_at = `${given.expires}T00:00:00Z`;
  /** @type {{ name: string, secret: string }} */
  const { name, secret } = await ask("/admin/keys", "POST", input);
  form.reset();
  showSecret(name, secret);
  await showKeys();
  tell(`Made ${name}`);
});
onSubmit("credits-form", async (given, form) => {
  const path = `/admin/accounts/${encodeURIComponent(given.account)}/credits`;
  /** @type {Credits} */
  const { account, balance } = await ask(path, "POST", { amount: given.amount, note: "console" });
  form.reset();
  await showKeys();
  tell(`Credits of ${account}${balance === null ? " are without limit." : `: ${balance} left.`}`);
});
