/** The secrets that a configuration gives the gateway, as answers are searched for them. */
import type { Provider } from "../providers/provider.ts";

export interface SecretSettings {
  providers: readonly Provider[];
  adminKey: string | null;
  keys: readonly { secret: string }[];
  search: { apiKey: string };
  store: { url: string; pepper: string | null };
}

const SECRET_HEADER = /key|token|secret|auth|cookie|signature|password/i;

export function ownSecrets({ providers, adminKey, keys, search, store }: SecretSettings): string[] {
  const found = [
    search.apiKey,
    adminKey,
    store.pepper,
    passwordOf(store.url),
    ...keys.map(({ secret }) => secret),
  ];
  for (const { credential, headers } of providers) {
    found.push(...Object.values(credential.headers));
    for (const [name, value] of Object.entries(headers)) if (SECRET_HEADER.test(name)) found.push(value);
  }
  return found.filter((secret) => secret !== null).map((secret) =>
    secret.replace(/^(?:Bearer|Basic) +/i, "")
  );
}

function passwordOf(url: string): string {
  return URL.canParse(url) ? decodeURIComponent(new URL(url).password) : "";
}
