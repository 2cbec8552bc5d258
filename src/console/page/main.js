/** The console: who is signed in sees the frame with the page of the address, everybody else the way in. */
import { begin, currentSession, onSession } from "./lib/api.js";
import { html, render, useEffect, useState } from "./lib/html.js";
import { Toasts } from "./lib/toast.js";
import { Frame } from "./frame.js";
import { SignIn } from "./sign_in.js";

function Console() {
  const [session, setSession] = useState(currentSession);
  const [ways, setWays] = useState(/** @type {import("./lib/api.js").Ways | null} */ (null));
  useEffect(() => {
    const stop = onSession(setSession);
    begin().then(setWays, () => setWays({ oidc: false, signed_in: false, docs: false }));
    return stop;
  }, []);
  return html`${
    session !== null
      ? html`<${Frame} session=${session} manual=${ways?.docs === true} />`
      : ways !== null && html`<${SignIn} oidc=${ways.oidc} />`
  }<${Toasts} />`;
}

const root = document.getElementById("root");
if (root === null) throw new Error("The page has no root");
root.replaceChildren();
render(html`<${Console} />`, root);
