/** One generation: when what happened as bars, tokens, price, what screening found. Live and Explore open it. */
import { Dialog } from "./lib/dialog.js";
import { count, duration, money, named, when } from "./lib/format.js";
import { useAsk } from "./lib/hooks.js";
import { html } from "./lib/html.js";
import { href } from "./lib/router.js";
import { Answer, Badge, Copy, Facts } from "./lib/ui.js";
import { Payload } from "./payload.js";
import { seesAll } from "./manage/rights.js";

/** @typedef {import("../../accounts/mod.ts").GenerationView} Generation */
/** @typedef {import("../../accounts/mod.ts").GenerationDetails} Details */
/** @typedef {Details["steps"][number]} Step */

/** @param {{ call: { status: string, error_code?: string | null, client_gone?: boolean, dlp?: Generation["dlp"] } }} props */
export function Outcome({ call: { status, error_code, client_gone, dlp } }) {
  const tone = status === "completed"
    ? "good"
    : status === "running"
    ? "accent"
    : status === "incomplete"
    ? "warn"
    : "bad";
  return html`<${Badge} tone=${tone}>${status === "running" && html`<i class="pulse"></i>`}${
    error_code ?? status
  }<//>${
    client_gone && html`
      <small class="note">caller left</small>
    `
  }${
    dlp && dlp.findings > 0 && html`
      <${Badge} tone="warn">${dlp.mode} ${count(dlp.findings)}<//>
    `
  }`;
}

/** @param {{ tags: Readonly<Record<string, string>>, session: string | null }} props */
export function Tags({ tags, session }) {
  return html`<span class="tags">${
    Object.entries(tags).map(([name, value]) =>
      html`<span key=${name} class="tag"><i>${name}</i> ${value}</span>`
    )
  }${session && html`<span class="tag"><i>session</i> ${session}</span>`}</span>`;
}

/**
 * @param {{ id: string, call?: { status: string }, onClose: () => void }} props `call`: what is known of it already
 */
export function GenerationDialog({ id, call, onClose }) {
  const running = call?.status === "running";
  const unrecorded = call !== undefined && "recorded" in call;
  const answer = useAsk(running || unrecorded ? null : `/admin/generations/${encodeURIComponent(id)}`);
  return html`<${Dialog} side title="Generation" onClose=${onClose}>
    <p class="id-line"><code>${id}</code> <${Copy} text=${id} what="the id" /></p>
    ${
    running
      ? html`
        <p>Running. The usage is known when it ends.</p>
        <${Beginning} of=${call} />
      `
      : unrecorded
      ? html`
        <p>Refused, or no provider accepted it: nothing was billed, and there is no record.</p>
        <${Beginning} of=${call} />
      `
      : html`<${Answer} of=${answer}>${(/** @type {Details} */ g) =>
        html`<${Whole} g=${{ ...MEMBERS, ...g }} />`}<//>`
  }
  <//>`;
}

/** @param {{ of: any }} props */
function Beginning({ of }) {
  return html`
    <${Outcome} call=${of} />
    <${Facts} items=${[
      ["Began", when(of.created)],
      ["Key", of.key],
      ["Model", named(of.model)],
      ["Format", of.format],
    ]} />
    <${Tags} tags=${of.tags} session=${of.session} />
  `;
}

/** A member is not told of routes and engines. */
const MEMBERS = { steps: [], findings: [], prices: [] };

/** @param {{ g: Details }} props */
function Whole({ g }) {
  // The last one: the models that were chosen before could not answer.
  const route = g.steps.findLast(({ name }) => name === "route");
  const dropped = g.steps.find(({ name }) => name === "dropped");
  const find = (/** @type {Record<string, string>} */ by) => href("explore", { query: by });
  return html`
    <div
      class="outcome-line"><${Outcome} call=${g} /><strong>${g.model}</strong><span>${duration(
        g.latency_ms,
      )}</span><span>${money(g.cost)}</span></div>
    ${g.steps.length > 0 && html`
      <section>
        <h3>Steps and times</h3>
        <${Timeline} g=${g} />
      </section>
    `}
    <${Facts} items=${[
      ["Began", when(g.created)],
      ["Key", html`<a href=${find({ key: g.key })}>${g.key}</a>`],
      ["Account", g.account],
      ["Team", g.team && html`<a href=${find({ team: g.team })}>${g.team}</a>`],
      ["Asked for", g.requested_model === g.model ? null : g.requested_model],
      ["Provider", g.provider && html`<a href=${find({ provider: g.provider })}>${g.provider}</a>`],
      ["Format", `${g.format}${g.stream ? ", streamed" : ""}`],
      ["Route", route && routeText(String(route.route))],
      ["Dropped fields", dropped && String(dropped.fields)],
      ["Searches", g.searches > 0 ? count(g.searches) : null],
      [
        "Tool calls",
        g.tool_calls
          ? `${count(g.tool_calls)}${g.repaired > 0 ? `, ${count(g.repaired)} mended` : ""}`
          : null,
      ],
    ].filter(([, value]) => value)} />
    ${(Object.keys(g.tags).length > 0 || g.session) && html`<${Tags} tags=${g.tags} session=${g.session} />`}
    ${g.usage && html`
      <section>
        <h3>Tokens and price</h3>
        <${Bill} g=${g} usage=${g.usage} />
      </section>
    `}
    ${g.findings.length > 0 && html`
      <section>
        <h3>Data-loss prevention</h3>
        <${Findings} entries=${g.findings} />
      </section>
    `}
    ${seesAll() && html`<${Payload} id=${g.id} />`}
    ${seesAll() &&
      html`<p><a href=${
        href("policies", { rest: ["findings"], query: { key: g.key } })
      }>Findings of this key</a></p>`}
  `;
}

/**
 * What `svc/auto` chose and why: `a/b open,words:2,gain:0.23` in words.
 * @param {string} route
 */
function routeText(route) {
  const [model, why = ""] = route.split(" ", 2);
  return [model, ...why.split(",").filter(Boolean).map((part) => part.replace(":", " "))].join(" · ");
}

const KINDS = /** @type {Record<string, string>} */ ({
  admission: "Admission",
  screening: "Screening",
  search: "Search",
  attempt: "Attempt",
  streaming: "Streaming",
  provider_tools: "Provider's tools",
  answer_screening: "Answer screening",
});

/** @param {{ g: Details }} props */
function Timeline({ g }) {
  const steps = [...unkept(g), ...g.steps.filter(({ name }) => name !== "route" && name !== "dropped")];
  const begins = Math.min(0, ...steps.map((s) => s.start_ms));
  const ends = Math.max(g.latency_ms, 1, ...steps.map((s) => s.start_ms + s.ms));
  const share = (/** @type {number} */ ms) => `${(100 * ms / (ends - begins)).toFixed(2)}%`;
  return html`<ol class="timeline">${
    steps.map((step, i) => {
      const good = step.outcome === "ok";
      return html`<li key=${i} class=${`${step.kind} ${good ? "" : "bad"}`}>
        <span class="what"><strong>${KINDS[step.kind] ?? step.kind}</strong> ${step.name}</span>
        <span class="lane" aria-hidden="true"><i style=${{
        left: share(step.start_ms - begins),
        width: `max(3px, ${share(step.ms)})`,
      }}></i></span>
        <span class="number">${
        step.short === true ? `< ${duration(WORTH_TELLING_MS)}` : duration(step.ms)
      }</span>
        ${
        (!good || moreOf(step)) &&
        html`<span class="why">${
          !good &&
          html`<${Badge} tone=${
            step.kind === "screening" || step.kind === "answer_screening" ? "warn" : "bad"
          }>${step.outcome}<//>`
        } ${moreOf(step)}</span>`
      }
      </li>`;
    })
  }</ol>`;
}

const SHOWN = new Set(["kind", "name", "start_ms", "ms", "outcome", "provider", "model", "short"]);

/** Shorter waits and screenings that found nothing are not kept with a record. */
const WORTH_TELLING_MS = 20;

/**
 * Steps that the call went through and that were too short to be kept.
 * @param {Details} g
 * @returns {Step[]}
 */
function unkept(g) {
  const has = (/** @type {Step["kind"]} */ kind) =>
    g.steps.some((step) => step.kind === kind && step.name !== "route" && step.name !== "dropped");
  const short = { start_ms: 0, ms: 0, outcome: "ok", short: true };
  return [
    ...(has("admission") ? [] : [{ ...short, kind: /** @type {const} */ ("admission"), name: "" }]),
    ...(g.dlp && !has("screening")
      ? [{
        ...short,
        kind: /** @type {const} */ ("screening"),
        name: g.dlp.mode,
        findings: g.dlp.findings,
      }]
      : []),
  ];
}

/** @type {Record<string, (value: unknown) => string>} */
const DETAILS = {
  head_ms: (ms) => `the answer began after ${ms} ms`,
  hits: (n) => `${n} ${Number(n) === 1 ? "hit" : "hits"}`,
  findings: (n) => Number(n) === 0 ? "nothing found" : `${n} ${Number(n) === 1 ? "finding" : "findings"}`,
  status: (status) => `HTTP ${status}`,
};

/** @param {Step} step what else is known of it */
const moreOf = (step) =>
  Object.entries(step).filter(([name]) => !SHOWN.has(name))
    .map(([name, value]) => DETAILS[name]?.(value) ?? `${name.replaceAll("_", " ")} ${value}`).join(", ");

/** Kinds of tokens, with the price each is billed by; those that are part of another stand below it. */
const TOKENS = /** @type {const} */ ([
  ["input_tokens", "Input", "prompt", 0],
  ["cached_tokens", "read from cache", "input_cache_read", 1],
  ["cache_write_tokens", "written to cache", "input_cache_write", 1],
  ["cache_write_1h_tokens", "written for an hour", "input_cache_write_1h", 2],
  ["audio_input_tokens", "audio", "audio", 1],
  ["image_input_tokens", "images", "image", 1],
  ["video_input_tokens", "video", "video", 1],
  ["output_tokens", "Output", "completion", 0],
  ["reasoning_tokens", "reasoning", "internal_reasoning", 1],
  ["audio_output_tokens", "audio", "audio_output", 1],
  ["image_output_tokens", "images", "image_output", 1],
]);

/** @param {{ g: Details, usage: Record<string, number> }} props */
function Bill({ g, usage }) {
  const prices = g.prices[0]?.prices ?? {};
  const rows = TOKENS.filter(([name, , , depth]) => depth === 0 || (usage[name] ?? 0) > 0);
  return html`
    <table class="bill">
      <caption class="for-readers">Tokens by kind, with prices</caption>
      <thead>
        <tr>
          <th scope="col">Kind</th>
          <th scope="col" class="number">Tokens</th>
          <th scope="col" class="number">$ a million</th>
        </tr>
      </thead>
      <tbody>${rows.map(([name, label, price, depth]) =>
        html`
          <tr key=${name}>
            <td class=${`depth-${depth}`}>${depth > 0 && "of which "}${label}</td>
            <td class="number">${count(usage[name])}</td>
            <td class="number">${prices[price] === undefined ? "" : perMillion(prices[price])}</td>
          </tr>
        `
      )}</tbody>
    </table>
    <p class="note">${g.usage_estimated && "Estimated: the provider reported no usage. "}Cost ${money(
      g.cost,
    )}${g.searches > 0
      ? `, ${g.searches === 1 ? "a web search" : `${count(g.searches)} web searches`} included`
      : ""}${Number(prices.request ?? 0) > 0
      ? `, ${money(prices.request)} for each request to the provider included`
      : ""}${Number(g.cache_saved) > 0 ? `, ${money(g.cache_saved)} saved by the cache` : ""}${g.price_version
      ? `, at prices ${g.price_version}`
      : ""}.</p>
  `;
}

/** @param {string} price of one token */
const perMillion = (price) => String(Number((Number(price) * 1e6).toPrecision(6)));

/** @param {{ entries: any[] }} props */
function Findings({ entries }) {
  return entries.map((entry) =>
    html`
      <div key=${entry.id} class="finding">
        <p>
          <${Badge}
            tone="warn">${entry.action}<//> in the ${entry.of}${entry.policy &&
              `, policy ${entry.policy}`}</p><${Counts} title="Types" counts=${entry
              .types} /><${Counts} title="Places" counts=${entry.places} /></div>
    `
  );
}

/** @param {{ title: string, counts: Record<string, number> }} props */
function Counts({ title, counts = {} }) {
  return html`<p><span class="note">${title}:</span> ${
    Object.entries(counts).map(([name, n]) =>
      html`<span key=${name} class="tag"><i>${count(n)}×</i> ${name}</span>`
    )
  }</p>`;
}
