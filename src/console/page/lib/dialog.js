/** Dialogs over the page (`dialog` of HTML: it keeps the focus and closes on Escape), and the question before what cannot be undone. */
import { html, render, useId, useLayoutEffect, useRef } from "./html.js";
import { Button } from "./ui.js";

/**
 * @param {{ title: string, onClose: () => void, side?: boolean, stays?: boolean, children?: import("./html.js").Children }} props `side`: at the edge, for details; `stays`: a click beside it does not close it
 */
export function Dialog({ title, onClose, side, stays, children }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const closed = useRef(onClose);
  closed.current = onClose;
  const id = useId();
  // A text that is selected in the dialog with the mouse let go beside it is a click of the dialog, too.
  const pressed = useRef(/** @type {EventTarget | null} */ (null));
  // At once: until it is open, Escape is for the dialog below it.
  useLayoutEffect(() => {
    const dialog = /** @type {HTMLDialogElement} */ (element.current);
    const before = document.activeElement;
    dialog.showModal();
    // Not its event: that comes with the next frame that is drawn, which a page that is not to be seen does not have.
    const watcher = new MutationObserver(() => dialog.open || closed.current());
    watcher.observe(dialog, { attributeFilter: ["open"] });
    return () => {
      watcher.disconnect();
      dialog.close();
      // One that is taken away before it was closed gives the focus back to nobody.
      const lost = document.activeElement === null || document.activeElement === document.body;
      if (lost && before instanceof HTMLElement) before.focus();
    };
  }, []);
  return html`
    <dialog ref=${element} class=${side ? "side" : ""} aria-labelledby=${id} onPointerDown=${(
      /** @type {PointerEvent} */ event,
    ) => pressed.current = event.target}
      onClick=${(/** @type {MouseEvent} */ event) =>
        !stays && event.target === element.current && pressed.current === element.current &&
        element.current?.close()}>
      <div class="dialog-body">
        <header>
          <h2 id=${id} tabindex="-1">${title}</h2>
          <${Button} kind="quiet" label="Close" onClick=${() => element.current?.close()}>×<//></header>
          ${children}
        </div>
      </dialog>
  `;
}

/**
 * Asks before something is done. A name in the text stands in `bdi`: it may be written from right to left.
 * Resolves with true when it shall be; whoever leaves the page has said no.
 * @param {{ title: string, text: import("./html.js").Children, yes: string, danger?: boolean }} question
 * @returns {Promise<boolean>}
 */
export function confirmed({ title, text, yes, danger }) {
  return new Promise((resolve) => {
    const place = document.body.appendChild(document.createElement("div"));
    /** @param {boolean} answer */
    const end = (answer) => {
      removeEventListener("hashchange", left);
      render(null, place);
      place.remove();
      resolve(answer);
    };
    const left = () => end(false);
    addEventListener("hashchange", left);
    render(
      html`
        <${Dialog} title=${title} onClose=${() => end(false)}>
          <p>${text}</p>
          <div class="form-end">
            <${Button} kind=${danger ? "danger" : "primary"} onClick=${() => end(true)}>${yes}<//>
                  <${Button} onClick=${() => end(false)}>Cancel<//>
                </div>
              <//>
      `,
      place,
    );
  });
}
