/** Short messages at the edge, read out by screen readers; a mistake stays until it is closed. */
import { html, useEffect, useState } from "./html.js";

/** @typedef {{ id: number, text: string, kind: "good" | "bad" }} Toast */

const SHOWN_MS = 5000;
/** @type {Toast[]} */
let toasts = [];
let next = 1;
/** @type {(toasts: Toast[]) => void} */
let show = () => {};

/**
 * @param {string} text
 * @param {"good" | "bad"} [kind]
 */
export function toast(text, kind = "good") {
  const id = next++;
  toasts = [...toasts.slice(-3), { id, text, kind }];
  show(toasts);
  if (kind === "good") setTimeout(() => close(id), SHOWN_MS);
}

/** @param {number} id */
function close(id) {
  toasts = toasts.filter((one) => one.id !== id);
  show(toasts);
}

export function Toasts() {
  const [shown, setShown] = useState(toasts);
  useEffect(() => {
    show = setShown;
  }, []);
  return html`<div class="toasts" role="status" aria-live="polite">${
    shown.map(({ id, text, kind }) =>
      html`
        <div key=${id}
          class="toast ${kind}"><span>${text}</span><button type="button" class="quiet" aria-label="Close the message" onClick=${() =>
            close(id)}>×</button></div>
      `
    )
  }</div>`;
}
