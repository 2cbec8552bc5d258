/** Collects the secrets of the gateway's configuration, for which answers are scanned. */
import { CREDENTIAL_NEEDS } from "../providers/credentials/needs.ts";
import type { AuthSettings } from "../providers/credentials/open_credential.ts";
import type { ProviderCredential } from "../providers/credentials/credential.ts";

export interface SecretSettings {
  providers: readonly { headers: Readonly<Record<string, string>>; auth: { type: AuthSettings["type"] } }[];
  adminKey: string | null;
  oidc?: { clientSecret: string | null } | null;
  keys: readonly { secret: string }[];
  webhooks: readonly { secret: string }[];
  search: { apiKey: string };
  store: { url: string; pepper: string | null };
}

/** Environment variables that contain the location or the name of a secret, not the secret itself. */
const NAMES_NONE = /FILE|HOST|URI|URL|_ID$/;
const NAMES_SECRET = /key|token|secret|auth|cookie|signature|password/i;

/**
 * @param credentials the resolved credentials of the providers
 * @param env environment variables with cloud credentials
 */
export function ownSecrets(
  { providers, adminKey, oidc, keys, webhooks, search, store }: SecretSettings,
  credentials: readonly ProviderCredential[],
  env: (name: string) => string | undefined,
): string[] {
  const found = [
    search.apiKey,
    adminKey,
    oidc?.clientSecret ?? null,
    store.pepper,
    passwordOf(store.url),
    ...keys.map(({ secret }) => secret),
    ...webhooks.map(({ secret }) => secret),
    ...credentials.flatMap(({ headers }) => Object.values(headers)),
  ];
  for (const { headers, auth } of providers) {
    for (const [name, value] of [...Object.entries(headers), ...fieldsOf(auth)]) {
      if (typeof value === "string" && NAMES_SECRET.test(name)) found.push(value);
    }
    for (const name of CREDENTIAL_NEEDS[auth.type].variables) {
      if (NAMES_SECRET.test(name) && !NAMES_NONE.test(name)) found.push(env(name) ?? null);
    }
  }
  return found.filter((secret) => secret !== null)
    .map((secret) => secret.replace(/^(?:Bearer|Basic) +/i, ""));
}

/** All fields, including those of nested objects such as cloud keys. */
function fieldsOf(value: object): [string, unknown][] {
  return Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === "object" && inner !== null ? fieldsOf(inner) : [[name, inner] as [string, unknown]]
  );
}

function passwordOf(url: string): string {
  return URL.canParse(url) ? decodeURIComponent(new URL(url).password) : "";
}
