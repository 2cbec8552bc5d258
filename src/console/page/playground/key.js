/**
 * The API key that the playground asks with: one that a person enters, or a short-lived one that is made for it. Either stays in
 * this page's memory; a reload forgets it, and the one that was made ends by itself.
 */
import { ask, onSession } from "../lib/api.js";
import { Field, Form } from "../lib/form.js";
import { clock } from "../lib/format.js";
import { useAct } from "../lib/hooks.js";
import { html, useState } from "../lib/html.js";
import { Badge, Button, Panel } from "../lib/ui.js";
import { mayChange, mayMakeKeys } from "../manage/rights.js";

/** @typedef {{ secret: string, id: string | null, name: string, ends: number | null, limit: string | null }} Held */

const LIFE_MS = 3_600_000;
const LIMIT = "1.00";

/** @type {Held | null} */
let held = null;
onSession((session) => {
  if (session === null) held = null;
});

/** @returns {[Held | null, (key: Held | null) => void]} */
export function useHeldKey() {
  const [key, set] = useState(held !== null && (held.ends ?? Infinity) > Date.now() ? held : null);
  return [key, (next) => {
    held = next;
    set(next);
  }];
}

/** @returns {Promise<Held>} */
async function makeKey() {
  const ends = Date.now() + LIFE_MS;
  const name = `playground ${new Date().toISOString().slice(0, 19)} ${crypto.randomUUID().slice(0, 4)}`;
  // What a member's key may spend is a rule of its own.
  const limit = mayChange() ? { spend_limit: { amount: LIMIT, period: "total" } } : {};
  /** @type {{ id: string, name: string, secret: string, spend_limit: { amount: string } | null }} */
  const made = await ask("/admin/keys", {
    method: "POST",
    body: { name, expires_at: new Date(ends).toISOString(), ...limit },
  });
  return { secret: made.secret, id: made.id, name: made.name, ends, limit: made.spend_limit?.amount ?? null };
}

/** @param {{ held: Held | null, onChange: (key: Held | null) => void }} props */
export function KeyPanel({ held: key, onChange }) {
  const [make, making] = useAct(async () => onChange(await makeKey()));
  const [drop, dropping] = useAct(async () => {
    if (key?.id) await ask(`/admin/keys/${encodeURIComponent(key.id)}`, { method: "DELETE" });
    onChange(null);
  });
  if (key !== null) {
    return html`
      <${Panel} class="slim">
        <p
          class="held">Sent with <strong>${key.name}</strong>${key.ends !== null && html`
            <${Badge}>${key.limit !== null && `at most $${key.limit}, `}until ${clock(key.ends).slice(
              0,
              5,
            )}<//>
          `} <${Button} kind="quiet" busy=${dropping} onClick=${drop}>${key.id === null
            ? "Forget"
            : "Revoke"}<//></p>
      <//>
    `;
  }
  return html`
    <${Panel} title="API key for the playground"
      note="It stays in this page's memory. The admin key is never sent to models.">
      <${Form} inline submit="Use this key" kind="" onSubmit=${(
        /** @type {Record<string, string>} */ { secret },
      ) =>
        onChange({
          secret,
          id: null,
          name: "the key that you entered",
          ends: null,
          limit: null,
        })} more=${mayMakeKeys() &&
        html`<${Button} kind="primary" busy=${making} onClick=${make}>Make one for an hour${
          mayChange() && `, $${LIMIT}`
        }<//>`}>
        <${Field} label="API key" name="secret" type="password" required pattern="sk_live_.+"
          placeholder="sk_live_…" />
        <//>
        <//>
  `;
}
