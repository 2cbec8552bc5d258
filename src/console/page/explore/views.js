/** Views that a person has given a name: addresses within the console, kept by this browser. */
import { useStored } from "../lib/hooks.js";
import { html, useState } from "../lib/html.js";
import { href } from "../lib/router.js";
import { Field, Form } from "../lib/form.js";
import { Dialog } from "../lib/dialog.js";
import { Button } from "../lib/ui.js";

/** @typedef {{ name: string, query: Record<string, string> }} View */

/** @param {{ page: string, query: Record<string, string> }} props */
export function SavedViews({ page, query }) {
  const [views, setViews] = useStored(`views.${page}`, /** @type {View[]} */ ([]));
  const [naming, setNaming] = useState(false);
  const now = JSON.stringify(query);
  return html`<div class="views" role="group" aria-label="Saved views">
    ${
    views.map((view) =>
      html`
        <span key=${view.name}
          class=${`view ${JSON.stringify(view.query) === now ? "here" : ""}`}><a href=${href(page, {
            query: view.query,
          })}>${view
            .name}</a><button type="button" class="quiet" aria-label=${`Forget the view ${view.name}`} onClick=${() =>
            setViews(views.filter(({ name }) => name !== view.name))}>×</button></span>
      `
    )
  }
    <${Button} kind="quiet" disabled=${now === "{}"} onClick=${() => setNaming(true)}>Save this view<//>
    ${
    naming && html`
      <${Dialog} title="Save this view" onClose=${() => setNaming(false)}>
        <${Form} submit="Save" onSubmit=${(/** @type {Record<string, string>} */ { name }) => {
          setViews([...views.filter((view) => view.name !== name), { name, query }]);
          setNaming(false);
          return Promise.resolve();
        }}>
          <${Field} label="Name" name="name" required maxlength="60"
            hint="Stored in this browser. To share the view, copy the address of the page." />
          <//>
          <//>
    `
  }
  </div>`;
}
