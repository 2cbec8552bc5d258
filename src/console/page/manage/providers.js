/** Providers: health, circuit breakers, times, the last error; closing a breaker and trying a credential by hand. */
import { ask } from "../lib/api.js";
import { ago, count, countOf, duration, money, percent, when } from "../lib/format.js";
import { useAct, useAsk } from "../lib/hooks.js";
import { html, useState } from "../lib/html.js";
import { Table } from "../lib/table.js";
import { toast } from "../lib/toast.js";
import { Answer, Badge, Button, Empty, Panel } from "../lib/ui.js";
import { mayChange } from "./rights.js";

/**
 * @typedef {import("../../../providers/states.ts").ProviderHealth} Provider
 * @typedef {import("../../../providers/states.ts").ModelHealth} Model
 * @typedef {import("../../../pipeline/try_provider.ts").Trial} Trial
 */

const EVERY_MS = 5000;

export function Providers() {
  const answer = useAsk("/admin/providers", { every: EVERY_MS });
  return html`<${Answer} of=${answer}>${(/** @type {{ data: Provider[] }} */ { data }) =>
    data.length === 0
      ? html`<${Empty} title="No providers" />`
      : data.map((provider) =>
        html`<${OneProvider} key=${provider.provider} of=${provider} reload=${answer.reload} />`
      )}<//>`;
}

/** @param {{ of: Provider, reload: () => void }} props */
function OneProvider({ of: provider, reload }) {
  const { provider: name, models } = provider;
  const path = `/admin/providers/${encodeURIComponent(name)}`;
  const [trial, setTrial] = useState(/** @type {Trial | null} */ (null));
  const [attempt, trying] = useAct(async () => {
    setTrial(await ask(`${path}/try`, { method: "POST", body: {} }));
    reload();
  });
  const [close] = useAct(async (/** @type {string} */ model) => {
    /** @type {{ everywhere: boolean }} */
    const { everywhere } = await ask(`${path}/close`, { method: "POST", body: { model } });
    toast(
      everywhere
        ? `Calls go to ${model} again`
        : `Calls go to ${model} again, on this node only; the store is unavailable`,
    );
    reload();
  });
  const ill = models.filter(({ state }) => state !== "closed");
  const open = ill.filter(({ state }) => state === "open").length;
  // First, since a long table does not show all of its rows.
  const rows = ill.length === 0 ? models : [...ill, ...models.filter(({ state }) => state === "closed")];
  return html`
    <${Panel} title=${html`${name} <${Badge}>${provider.api}<//> ${
      open > 0 && html`<${Badge} tone="bad">${open} out of service<//>`
    } ${
      ill.length > open && html`<${Badge} tone="warn">${ill.length - open} being tried<//>`
    }`} note=${placesOf(provider)} actions=${mayChange() &&
      html`<${Button} busy=${trying} label=${`Test the credential of ${name}`} onClick=${attempt}>Test the credential<//>`}>
      ${trial && html`<${TrialResult} of=${trial} />`}
      <${Table} caption=${`Models at ${name}`} columns=${columnsOf(close)} rows=${rows} id=${(
        /** @type {Model} */ { model },
      ) => model}
        empty="No model was called yet" marked=${(/** @type {Model} */ { state }) => state === "open"} />
    <//>
  `;
}

/** @param {Provider} provider */
function placesOf({ in_flight, queued, max_concurrent }) {
  return `${count(in_flight)} under way${max_concurrent === null ? "" : ` of ${count(max_concurrent)}`}${
    queued > 0 ? `, ${count(queued)} in line` : ""
  }`;
}

/** @param {{ of: Trial }} props */
function TrialResult({ of: { ok, by, models, model, latency_ms, cost, error } }) {
  const what = by === "models" ? `It lists ${countOf(models, "model")}` : `${model} answered`;
  return html`
    <p class="trial" role="status">
      <${Badge} tone=${ok ? "good" : "bad"}>${ok ? "good" : "failed"}<//> ${ok
        ? `${what} in ${duration(latency_ms)}. It cost ${Number(cost) === 0 ? "nothing" : money(cost)}.`
        : error}</p>
  `;
}

const STATES = /** @type {const} */ ({
  closed: ["in service", "good"],
  "half-open": ["being tried", "warn"],
  open: ["out of service", "bad"],
});

/**
 * @param {(model: string) => void} close
 * @returns {import("../lib/table.js").Column<Model>[]}
 */
function columnsOf(close) {
  return [
    { title: "Model", show: ({ model }) => model, sort: ({ model }) => model },
    {
      title: "State",
      wide: true,
      show: ({ state, retry_in_seconds: left }) =>
        html`<${Badge} tone=${STATES[state][1]}>${STATES[state][0]}<//>${
          left !== null && html`
            <small>tried again in ${left} s</small>
          `
        }`,
      sort: ({ state }) => state,
    },
    ...(mayChange()
      ? [{
        title: "Actions",
        quiet: true,
        show: (/** @type {Model} */ { model, state }) =>
          state !== "closed" &&
          html`<${Button} label=${`Reset ${model}`} onClick=${() => close(model)}>Reset<//>`,
      }]
      : []),
    {
      title: "Recent failures",
      number: true,
      show: ({ calls, failures }) => `${count(failures)} of ${count(calls)}`,
    },
    {
      title: "Failures since the start",
      number: true,
      show: ({ attempts, attempts_failed }) =>
        `${percent(attempts > 0 ? attempts_failed / attempts : null)} of ${count(attempts)}`,
      sort: ({ attempts }) => attempts,
    },
    { title: "Retries", number: true, show: ({ retries }) => count(retries) },
    {
      title: "First output p50 / p95",
      number: true,
      show: ({ first_output_ms: ms }) => ms === null ? "–" : `${duration(ms.p50)} / ${duration(ms.p95)}`,
      sort: ({ first_output_ms: ms }) => ms?.p95 ?? null,
    },
    {
      title: "Last error",
      wide: true,
      show: ({ last_error: error }) =>
        error === null ? "–" : html`<span title=${when(error.at)}>${ago(error.at)}: ${error.message}</span>`,
    },
  ];
}
