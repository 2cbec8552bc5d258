/** DLP and access policies as they run, and a text screened by one of them. */
import { ask } from "../lib/api.js";
import { Field, Form } from "../lib/form.js";
import { percent } from "../lib/format.js";
import { useAsk } from "../lib/hooks.js";
import { html, useState } from "../lib/html.js";
import { Table } from "../lib/table.js";
import { Answer, Badge, Code, Empty, Facts, Panel } from "../lib/ui.js";

/**
 * @typedef {{ name: string, mode: string, answers: string, entity_types: string[] | null, regexes: { name: string, pattern: string }[], stop_words: number, allowed_values: number }} DlpPolicy
 * @typedef {{ name: string, allow: string[], deny: string[] }} AccessPolicy
 * @typedef {{ dlp: DlpPolicy[], access: AccessPolicy[], screening: { enabled: boolean, on_unscannable: string, restore: boolean, model: boolean } }} All
 * @typedef {{ entity_type: string, category: string, start: number, end: number, confidence: number }} Finding
 * @typedef {{ mode: string, action: string, findings: Finding[], findings_count: number, unscanned: number }} Scan
 */

const MODES = /** @type {Record<string, "warn" | "accent" | "bad" | "plain">} */ ({
  alert: "warn",
  mask: "accent",
  block: "bad",
  off: "plain",
});

export function Policies() {
  return html`<${Answer} of=${useAsk("/admin/policies")}>${(/** @type {All} */ all) =>
    html`
      <${TryText} policies=${all.dlp} />
      <${Panel} title="Data-loss prevention" note=${all.screening.enabled
        ? "Policies are defined in the configuration file; keys and teams refer to one by name."
        : "DLP is turned off: requests that need it are refused."}>
        ${all.dlp.length === 0
          ? html`<${Empty} title="No DLP policies">Add some under <code>dlp_policies</code> in the configuration.<//>`
          : html`<${Table} caption="DLP policies" columns=${DLP_COLUMNS} rows=${all.dlp} id=${(
            /** @type {DlpPolicy} */ { name },
          ) => name} />`}
      <//>
      <${Panel} title="Access" note="Clients still see a model that their policy denies, but calls to it are refused.">
        ${all.access.length === 0
          ? html`<${Empty} title="No access policies">Add some under <code>access_policies</code> in the configuration.<//>`
          : html`<${Table} caption="Access policies" columns=${ACCESS_COLUMNS} rows=${all.access} id=${(
            /** @type {AccessPolicy} */ { name },
          ) => name} />`}
      <//>
    `}<//>`;
}

/** @param {readonly string[]} patterns */
const patterns = (patterns) =>
  patterns.length === 0 ? "none" : patterns.map((one) =>
    html`
      <code key=${one}>${one}</code>
    `
  );

/** @type {import("../lib/table.js").Column<DlpPolicy>[]} */
const DLP_COLUMNS = [
  { title: "Policy", show: ({ name }) => name },
  { title: "Requests", show: ({ mode }) => html`<${Badge} tone=${MODES[mode]}>${mode}<//>` },
  { title: "Answers", show: ({ answers }) => html`<${Badge} tone=${MODES[answers]}>${answers}<//>` },
  {
    title: "Looks for",
    wide: true,
    show: ({ entity_types: types }) =>
      types === null ? "the default types" : types.length === 0 ? "no types" : types.join(", "),
  },
  {
    title: "Patterns",
    wide: true,
    show: ({ regexes }) =>
      regexes.length === 0
        ? "none"
        : regexes.map(({ name, pattern }) => html`<div key=${name}>${name} <code>${pattern}</code></div>`),
  },
  { title: "Stop words", number: true, show: ({ stop_words }) => stop_words },
  { title: "Allowed values", number: true, show: ({ allowed_values }) => allowed_values },
];

/** @type {import("../lib/table.js").Column<AccessPolicy>[]} */
const ACCESS_COLUMNS = [
  { title: "Policy", show: ({ name }) => name },
  { title: "Allows", wide: true, show: ({ allow }) => patterns(allow) },
  { title: "Denies", wide: true, show: ({ deny }) => patterns(deny) },
];

/** @param {{ policies: readonly DlpPolicy[] }} props */
function TryText({ policies }) {
  const [tried, setTried] = useState(/** @type {{ scan: Scan, text: string } | null} */ (null));
  return html`
    <${Panel} title="Try a text"
      note="The text is screened with a policy; nothing is sent to a provider or stored.">
      <${Form} submit="Screen" onSubmit=${async (
        /** @type {Record<string, string>} */ { policy, text },
        /** @type {HTMLFormElement} */ form,
      ) => {
        // As it was typed: positions count from its beginning.
        const whole = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem("text")).value;
        const scan = await ask("/admin/dlp/scan", {
          method: "POST",
          body: { text: whole, ...(policy !== "" && { policy }) },
        });
        setTried({ scan: /** @type {Scan} */ (scan), text: text === "" ? "" : whole });
      }}>
        <${Field} label="Policy" name="policy" options=${[
          ["", "the default types, in mode block"],
          ...policies.map(({ name }) => [name, name]),
        ]} />
        <${Field} label="Text" name="text" rows=${4} required placeholder="Ada's card is 4111 1111 1111 1111" />
      <//>
      ${tried && html`<${Result} ...${tried} />`}
    <//>
  `;
}

const ACTIONS = /** @type {Record<string, [string, "good" | "warn" | "bad" | "accent"]>} */ ({
  pass: ["passes", "good"],
  alert: ["passes, reported", "warn"],
  mask: ["passes masked", "accent"],
  block: ["blocked", "bad"],
});

/** @param {{ scan: Scan, text: string }} props */
function Result({ scan: { action, findings, findings_count, unscanned }, text }) {
  const [said, tone] = ACTIONS[action] ?? [action, "warn"];
  return html`
    <div class="result" role="status">
      <${Facts} items=${[
        ["The request", html`<${Badge} tone=${tone}>${said}<//>`],
        ["Findings", findings_count],
        ["Not scanned", unscanned],
      ]} />
      ${findings.length > 0 && html`<${Code}>${marked(text, findings)}<//>
      <ul class="findings">${
        findings.map(({ entity_type, start, end, confidence }, i) =>
          html`
            <li key=${i}>
              <${Badge} tone="warn">${entity_type}<//> <small>${start} to ${end}, ${percent(
                confidence,
              )} sure</small></li>
          `
        )
      }</ul>`}
    </div>
  `;
}

/**
 * The text with what was found in it marked; findings that overlap are one mark.
 * @param {string} text
 * @param {readonly Finding[]} findings
 */
function marked(text, findings) {
  const parts = [];
  let at = 0;
  for (const { start, end, entity_type } of [...findings].sort((a, b) => a.start - b.start)) {
    if (end <= at) continue;
    parts.push(text.slice(at, Math.max(at, start)));
    parts.push(html`<mark key=${start} title=${entity_type}>${text.slice(Math.max(at, start), end)}</mark>`);
    at = end;
  }
  return [...parts, text.slice(at)];
}
