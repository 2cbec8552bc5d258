/** One answer: what was said, what it took, its raw events. */
import { count, duration, money } from "../lib/format.js";
import { html, useState } from "../lib/html.js";
import { href } from "../lib/router.js";
import { Badge, Choice, Code, Empty, Facts, Panel } from "../lib/ui.js";

/** @typedef {import("./run.js").Run} Run */

const VIEWS = /** @type {const} */ ([["answer", "Answer"], ["raw", "Raw"], ["headers", "Headers"]]);

/** @param {{ title: string, run: Run | null }} props */
export function AnswerView({ title, run }) {
  const [view, setView] = useState("answer");
  return html`
    <${Panel} title=${html`${title} ${run && html`<${State} run=${run} />`}`} actions=${run &&
      html`<${Choice} label=${`Shown of ${title}`} value=${view} options=${VIEWS} onChange=${setView} />`}>
      ${run === null
        ? html`<${Empty} title="No request yet" />`
        : view === "raw"
        ? html`<${Code}>${run.raw.join("\n\n") || "No output yet."}<//>`
        : view === "headers"
        ? html`<${Code}>${
          run.headers.map(([name, value]) => `${name}: ${value}`).join("\n") || "None yet."
        }<//>`
        : html`<${Said} run=${run} />`}
    <//>
  `;
}

/** @param {{ run: Run }} props */
function State({ run: { running, status, said } }) {
  if (running) return html`<${Badge} tone="accent">running<//>`;
  return html`<${Badge} tone=${said.error ? "bad" : "good"}>${
    said.error ? `failed${status ? `, ${status}` : ""}` : said.stop ?? "ended"
  }<//>`;
}

/** @param {{ run: Run }} props */
function Said({ run: { said, firstMs, totalMs, id, running, record, findings } }) {
  const { text, reasoning, calls, sources, error, usage, model } = said;
  return html`
    <div class="said">
      ${error && html`<p class="form-error" role="alert">${error}</p>`}
      ${findings.length > 0 && html`
        <ul class="findings">${findings.map(({ entity_type, location }, i) =>
          html`
            <li key=${i}>
              <${Badge} tone="warn">${entity_type}<//> in ${location}</li>
          `
        )}</ul>
      `}
      ${reasoning && html`
        <details>
          <summary>Reasoning</summary>
          <p class="text">${reasoning}</p>
        </details>
      `}
      <p class="text" aria-live="polite" aria-busy=${running}>${text ||
        (running ? "…" : error || calls.length > 0 ? "" : "(no text)")}</p>
      ${calls.filter(Boolean).map(({ name, arguments: given }, i) =>
        html`
          <div key=${i}>
            <p>
              <${Badge} tone="accent">calls ${name}<//></p><${Code}>${pretty(given)}<//></div>
        `
      )}
      ${sources.length > 0 && html`
        <p>Sources</p>
        <ul class="findings">${sources.map((url) =>
          html`<li key=${url}>${
            /^https?:/.test(url)
              ? html`<a href=${url} target="_blank" rel="noopener noreferrer">${url}</a>`
              : url
          }</li>`
        )}</ul>
      `}
      ${!running && html`<${Facts} items=${[
        ["Model", model ?? "–"],
        ["First output", duration(firstMs)],
        ["Whole", duration(totalMs)],
        ...(record === null ? [] : [
          ["Cost", money(record.cost)],
          ...(record.searches > 0 ? [["Searches", count(record.searches)]] : []),
        ]),
        ...Object.entries(usage ?? {}).filter(([, n]) => typeof n === "number").map((
          [name, n],
        ) => [sentence(name.replaceAll("_", " ")), count(Number(n))]),
        [
          "Trace",
          id === null
            ? "–"
            : !error
            ? html`<a href=${href("explore", { rest: [id] })}><code>${id.slice(0, 14)}…</code></a>`
            : html`<code>${id}</code>`,
        ],
      ]} />`}
    </div>
  `;
}

/** @param {string} text */
const sentence = (text) => text[0].toUpperCase() + text.slice(1);

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
