/** A secret that was just made: shown this once, with a button that copies it and a first call to try it with. */
import { Dialog } from "../lib/dialog.js";
import { html } from "../lib/html.js";
import { Code, Copy } from "../lib/ui.js";

/**
 * @param {{ name: string, secret: string, path?: string, overlap?: number, onClose: () => void }} props `path`: what the first call asks for; `overlap`: seconds that the secret before stays good
 */
export function NewSecret({ name, secret, path = "/v1/models", overlap, onClose }) {
  const curl = `curl ${location.origin}${path} -H 'Authorization: Bearer ${secret}'`;
  return html`
    <${Dialog} title=${`The secret of ${name}`} stays onClose=${onClose}>
      <p>Copy it now: it is kept only as a hash and cannot be shown again.${overlap !== undefined &&
        (overlap > 0
          ? ` The one before stays good for ${spanOf(overlap)}.`
          : " The one before is refused from now on.")}</p>
      <p class="secret"><code>${secret}</code><${Copy} text=${secret} what="the secret" /></p>
      <div class="code-head">
        <h3>Try it</h3>
        <${Copy} text=${curl} what="the command" />
      </div>
      <${Code}>${curl}<//>
    <//>
  `;
}

/** @param {number} seconds */
function spanOf(seconds) {
  const [n, unit] = seconds % 86_400 === 0
    ? [seconds / 86_400, "day"]
    : seconds % 3600 === 0
    ? [seconds / 3600, "hour"]
    : [Math.round(seconds / 60), "minute"];
  return `${n} ${unit}${n === 1 ? "" : "s"}`;
}
