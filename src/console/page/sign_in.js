/** The way in: the admin key or a token, or the organisation's own sign-in where one is configured. */
import { currentProviderEnd, hasEnded, query, signIn } from "./lib/api.js";
import { Field, Form } from "./lib/form.js";
import { html, useEffect } from "./lib/html.js";
import { useRoute } from "./lib/router.js";
import { ThemeSwitch } from "./theme.js";

/** @param {{ oidc: boolean }} props */
export function SignIn({ oidc }) {
  useEffect(() => {
    document.title = "Sign in · Sluice";
    document.querySelector("input")?.focus();
  }, []);
  // The address may be of a page: whoever signs in sees that one.
  useRoute();
  const page = location.hash.slice(1);
  const end = currentProviderEnd();
  return html`
    <main class="sign-in">
      <div>
        <div class="brand"><span class="mark" aria-hidden="true"><svg viewBox="0 0 32 32"><path d="M7 11c3 0 3 3 6 3s3-3 6-3 3 3 6 3M7 18c3 0 3 3 6 3s3-3 6-3 3 3 6 3" /></svg></span><h1>Sluice</h1></div>
        ${hasEnded() &&
          html`<p class="note" role="status">Your session has ended. Sign in again to continue.</p>`}
        ${oidc && html`
          <p><a class="button primary" href=${`/console/oidc/start${
            query({ page })
          }`}>Sign in with your organisation</a></p>
          <p class="or">or</p>
        `}
        <${Form} submit="Sign in" onSubmit=${(/** @type {import("./lib/form.js").Given} */ { secret }) =>
          signIn(secret)}>
          <${Field} label="Admin key or token" name="secret" type="password" required autocomplete="current-password"
            hint="The admin_key of the configuration, or a token sk_admin_…" />
        <//>
        ${end !== null && html`
          <p class="note"
            role="status">You are signed out here. <a href=${end}>Sign out of your organisation, too</a></p>
        `}
      </div><${ThemeSwitch} /></main>
  `;
}
