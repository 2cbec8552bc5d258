/** The playground: one question to one model or to two, in any of the three formats, with everything that came back. */
import { Check, Field } from "../lib/form.js";
import { useAct, useWhole } from "../lib/hooks.js";
import { html, useEffect, useRef, useState } from "../lib/html.js";
import { Button, Choice, Code, Copy, Page, Panel } from "../lib/ui.js";
import { seesAll } from "../manage/rights.js";
import { AnswerView } from "../playground/answer_view.js";
import { codeOf, LANGUAGES } from "../playground/code.js";
import { KeyPanel, useHeldKey } from "../playground/key.js";
import { FORMATS, requestOf, SAMPLE_TOOLS } from "../playground/requests.js";
import { runCall } from "../playground/run.js";

/** @typedef {import("../playground/requests.js").Format} Format */
/** @typedef {import("../playground/requests.js").Wish} Wish */
/** @typedef {import("../playground/run.js").Run} Run */

const MODES = [["", "as the key's policy says"], ["alert", "report"], ["mask", "mask"], ["block", "block"]];
/** The largest picture that is taken, in bytes. */
const MOST_IMAGE = 4 << 20;

/** @type {Wish} */
const FIRST = {
  model: "",
  system: "",
  prompt: "In one sentence: what is a sluice?",
  maxTokens: 512,
  stream: true,
  search: false,
  dlp: "",
  tools: "",
  image: null,
};

export default function Playground() {
  const [held, setHeld] = useHeldKey();
  const [format, setFormat] = useState(/** @type {Format} */ ("chat"));
  const [wish, setWish] = useState(FIRST);
  const [second, setSecond] = useState("");
  const [runs, setRuns] = useState(/** @type {(Run | null)[]} */ ([null, null]));
  const aborter = useRef(/** @type {AbortController | null} */ (null));
  const models = useModels(held?.secret ?? null);
  useEffect(() => () => aborter.current?.abort(), []);
  useEffect(() => {
    if (wish.model === "" && models.length > 0) setWish((now) => ({ ...now, model: models[0] }));
  }, [models]);
  const [send, busy] = useAct(async () => {
    if (held === null) throw new Error("Choose an API key first.");
    const asked = [wish.model, second].filter((model) => model !== "");
    const bodies = asked.map((model) => requestOf(format, { ...wish, model }));
    aborter.current = new AbortController();
    const { signal } = aborter.current;
    setRuns([null, null]);
    await Promise.all(bodies.map((body, at) =>
      runCall({
        format,
        body,
        secret: held.secret,
        signal,
        show: (run) => setRuns((now) => now.map((one, i) => i === at ? run : one)),
      })
    ));
  });
  /** @param {Partial<Wish>} change */
  const set = (change) => setWish((now) => ({ ...now, ...change }));
  return html`
    <${Page} title="Playground"
      about="Send a request to one model, or to two side by side, and see the complete answer.">
      <${KeyPanel} held=${held} onChange=${setHeld} />
      <${Panel} title="Request" actions=${html`<${Choice} label="Format" value=${format} options=${
        Object.entries(FORMATS).map(([name, { title }]) => [name, title])
      } onChange=${setFormat} />`}>
        <form class="stacked" onSubmit=${(/** @type {Event} */ event) => {
          event.preventDefault();
          send();
        }}>
          <${Fields} wish=${wish} set=${set} models=${models} second=${second}
            setSecond=${setSecond} />
          <div class="form-end">
            <${Button} type="submit" kind="primary" busy=${busy} disabled=${held === null ||
              wish.model === ""}>Ask<//>
            ${busy && html`<${Button} onClick=${() => aborter.current?.abort()}>Stop<//>`}
            ${held === null && html`<span class="hint">Choose a key first.</span>`}
          </div>
        </form>
      <//>
      <div class=${second === "" ? "" : "split"}>
        <${AnswerView} title=${wish.model || "Answer"} run=${runs[0]} />
        ${second !== "" && html`<${AnswerView} title=${second} run=${runs[1]} />`}
      </div>
      <${RequestCode} format=${format} wish=${wish} />
    <//>
  `;
}

/** Those of the key; before there is one, those of the catalog. @param {string | null} secret @returns {string[]} */
function useModels(secret) {
  /** @type {{ id: string }[] | undefined} */
  const all = useWhole(secret === null && seesAll() ? "/admin/models" : null);
  const [own, setOwn] = useState(/** @type {string[]} */ ([]));
  useEffect(() => {
    if (secret === null) return;
    const options = {
      headers: { authorization: `Bearer ${secret}` },
      credentials: /** @type {const} */ ("omit"),
    };
    fetch("/v1/models", options).then((response) => response.ok ? response.json() : { data: [] }).then(
      ({ data }) => setOwn(data.map((/** @type {{ id: string }} */ { id }) => id)),
      () => setOwn([]),
    );
  }, [secret]);
  return secret !== null ? own : all?.map(({ id }) => id) ?? [];
}

/** @param {Event} event */
const valueOf = ({ currentTarget }) => /** @type {HTMLInputElement} */ (currentTarget).value;
/** @param {Event} event */
const isChecked = ({ currentTarget }) => /** @type {HTMLInputElement} */ (currentTarget).checked;

/**
 * @param {{ wish: Wish, set: (change: Partial<Wish>) => void, models: string[], second: string, setSecond: (model: string) => void }} props
 */
function Fields({ wish, set, models, second, setSecond }) {
  const [problem, setProblem] = useState("");
  /** @param {Event} event */
  const takeImage = async ({ currentTarget }) => {
    const [file] = /** @type {HTMLInputElement} */ (currentTarget).files ?? [];
    setProblem(file && file.size > MOST_IMAGE ? "The picture is larger than 4 MiB." : "");
    set({ image: file && file.size <= MOST_IMAGE ? await dataAddress(file) : null });
  };
  return html`
    <div class="pair">
      <${Field} label="Model" name="model" required value=${wish.model} suggestions=${models}
        onInput=${(/** @type {Event} */ event) => set({ model: valueOf(event).trim() })} />
      <${Field} label="Second model" name="second" value=${second} suggestions=${models} placeholder="none"
        onInput=${(/** @type {Event} */ event) => setSecond(valueOf(event).trim())} />
      <${Field} label="Maximum output tokens" name="max" type="number" min="16" value=${wish.maxTokens}
        onInput=${(/** @type {Event} */ event) => set({ maxTokens: Number(valueOf(event)) })} />
      <${Field} label="Sensitive data" name="dlp" value=${wish.dlp} options=${MODES} onChange=${(
        /** @type {Event} */ event,
      ) => set({ dlp: valueOf(event) })} />
    </div>
    <${Field} label="System" name="system" rows=${2} value=${wish.system} placeholder="none"
      onInput=${(/** @type {Event} */ event) => set({ system: valueOf(event) })} />
    <${Field} label="Prompt" name="prompt" rows=${4} required value=${wish.prompt} onInput=${(
      /** @type {Event} */ event,
    ) => set({ prompt: valueOf(event) })} />
    <div class="pair">
      <${Check} label="Stream" checked=${wish.stream} onChange=${(/** @type {Event} */ event) =>
        set({ stream: isChecked(event) })} />
      <${Check} label="Search the web" checked=${wish.search} onChange=${(/** @type {Event} */ event) =>
        set({ search: isChecked(event) })} />
      <${Check} label="Tools" checked=${wish.tools !== ""} onChange=${(/** @type {Event} */ event) =>
        set({ tools: isChecked(event) ? SAMPLE_TOOLS : "" })} />
      <${Field} label="Picture" name="image" type="file" accept="image/*" onChange=${takeImage}
        hint=${problem || undefined} />
    </div>
    ${wish.tools !== "" && html`
      <${Field} label="Tools, as JSON" name="tools" rows=${8} spellcheck=${false} value=${wish.tools}
        onInput=${(/** @type {Event} */ event) => set({ tools: valueOf(event) })} />
    `}
  `;
}

/** @param {Blob} file @returns {Promise<string>} */
function dataAddress(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/** @param {{ format: Format, wish: Wish }} props */
function RequestCode({ format, wish }) {
  const [language, setLanguage] = useState(LANGUAGES[0][0]);
  let code;
  try {
    code = codeOf(language, format, requestOf(format, wish), location.origin);
  } catch (error) {
    code = error instanceof Error ? error.message : String(error);
  }
  return html`
    <${Panel} title="The request as code" note="The code reads the key from the variable SLUICE_API_KEY."
      actions=${html`
        <${Choice} label="Language" value=${language} options=${LANGUAGES} onChange=${setLanguage} />
        <${Copy} text=${code} what="the code" />
      `}>
      <${Code}>${code}<//>
    <//>
  `;
}
