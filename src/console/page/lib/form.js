/** Forms: labelled fields, one submit, what was refused shown at its field. */
import { html, useId, useState } from "./html.js";
import { Refused } from "./api.js";
import { Button } from "./ui.js";

/** @typedef {Record<string, string>} Given what stands in the fields, without blanks around it */

/**
 * @param {object} props
 * @param {string} props.submit the button's text
 * @param {(given: Given, form: HTMLFormElement) => Promise<unknown>} props.onSubmit
 * @param {boolean} [props.inline] fields beside each other: a row of filters
 * @param {"primary" | "danger" | ""} [props.kind]
 * @param {import("./html.js").Children} [props.more] beside the button
 * @param {import("./html.js").Children} [props.children]
 */
export function Form({ submit, onSubmit, inline, kind = "primary", more, children }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  /** @param {SubmitEvent} event */
  const submitted = async (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    setBusy(true);
    setError(null);
    try {
      await onSubmit(valuesOf(form), form);
    } catch (error) {
      setError(error instanceof Error ? error : new Error(String(error)));
      const name = error instanceof Refused ? error.param?.split(/[.[]/)[0] : undefined;
      const field = name === undefined ? null : form.elements.namedItem(name);
      if (field instanceof HTMLElement) field.focus();
    } finally {
      setBusy(false);
    }
  };
  return html`<form class=${inline ? "inline" : "stacked"} onSubmit=${submitted}>
    ${children}
    <div class="form-end"><${Button} type="submit" kind=${kind} busy=${busy}>${submit}<//>${more}</div>
    ${error && html`<p class="form-error" role="alert">${error.message}</p>`}
  </form>`;
}

/**
 * @param {HTMLFormElement} form
 * @returns {Given}
 */
function valuesOf(form) {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]));
}

/**
 * A labelled field. All that is not named here goes to the `input`.
 * @param {{ label: string, hint?: string, options?: readonly (string | readonly [value: string, label: string])[], suggestions?: readonly string[], rows?: number, initial?: string | number, children?: unknown } & Record<string, unknown>} props
 * `options`: a `select`; `suggestions`: what the browser offers while typing; `rows`: a `textarea` so high; `initial`: what stands there first, until somebody types
 */
export function Field({ label, hint, options, suggestions, rows, initial, ...rest }) {
  const id = useId();
  // Not `value`: with that, drawing the field anew would undo what was typed.
  const first = initial === undefined || options ? {} : { defaultValue: String(initial) };
  const about = { id, "aria-describedby": hint ? `${id}-hint` : undefined, ...first, ...rest };
  const control = options
    ? html`<select ...${about}>${
      options.map((option) => {
        const [value, text] = typeof option === "string" ? [option, option] : option;
        return html`<option key=${value} value=${value} selected=${
          initial === undefined ? undefined : value === initial
        }>${text}</option>`;
      })
    }</select>`
    : rows
    ? html`<textarea rows=${rows} ...${about}></textarea>`
    : html`<input autocomplete="off" list=${suggestions && `${id}-list`} ...${about} />`;
  return html`<div class="field"><label for=${id}>${label}</label>${control}${
    suggestions && html`<datalist id=${`${id}-list`}>${
      suggestions.map((value) => html`<option key=${value} value=${value}></option>`)
    }</datalist>`
  }${hint && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}</div>`;
}

/** @param {{ label: string, hint?: string } & Record<string, unknown>} props */
export function Check({ label, hint, ...rest }) {
  const id = useId();
  return html`
    <div
      class="check"><input type="checkbox" id=${id} aria-describedby=${hint
        ? `${id}-hint`
        : undefined} ...${rest} /><label for=${id}>${label}</label>${hint &&
        html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}</div>
  `;
}
