/** The secrets that a configuration gives the gateway, as answers are searched for them. */
import type { ProviderCredential } from "../providers/credentials/credential.ts";

export interface SecretSettings {
  providers: readonly { headers: Readonly<Record<string, string>>; auth: object }[];
  adminKey: string | null;
  keys: readonly { secret: string }[];
  webhooks: readonly { secret: string }[];
  search: { apiKey: string };
  store: { url: string; pepper: string | null };
}

const NAMES_SECRET = /key|token|secret|auth|cookie|signature|password/i;

/** @param credentials of the providers, as they were opened */
export function ownSecrets(
  { providers, adminKey, keys, webhooks, search, store }: SecretSettings,
  credentials: readonly ProviderCredential[],
): string[] {
  const found = [
    search.apiKey,
    adminKey,
    store.pepper,
    passwordOf(store.url),
    ...keys.map(({ secret }) => secret),
    ...webhooks.map(({ secret }) => secret),
    ...credentials.flatMap(({ headers }) => Object.values(headers)),
  ];
  for (const { headers, auth } of providers) {
    for (const [name, value] of [...Object.entries(headers), ...Object.entries(auth)]) {
      if (typeof value === "string" && NAMES_SECRET.test(name)) found.push(value);
    }
  }
  return found.filter((secret) => secret !== null)
    .map((secret) => secret.replace(/^(?:Bearer|Basic) +/i, ""));
}

function passwordOf(url: string): string {
  return URL.canParse(url) ? decodeURIComponent(new URL(url).password) : "";
}
