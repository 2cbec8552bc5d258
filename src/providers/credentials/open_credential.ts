/** Creates the credential of a provider from its configuration. */
import type { AwsSettings } from "./aws/mod.ts";
import type { AzureSettings } from "./azure/mod.ts";
import type { ProviderCredential } from "./credential.ts";
import type { GoogleSettings } from "./google/mod.ts";
import { keyCredential } from "./key.ts";
import type { Surroundings } from "./surroundings.ts";

/** `key` with an empty key, and `none`: the provider requires no credential. */
export type AuthSettings =
  | { type: "key"; key: string }
  | { type: "none" }
  | { type: "aws" } & AwsSettings
  | { type: "google" } & GoogleSettings
  | { type: "azure" } & AzureSettings;

/**
 * Credentials by provider. A credential with unchanged settings, and its tokens, are kept when the
 * configuration is reloaded.
 */
export class Credentials {
  readonly #surroundings: Surroundings;
  #kept = new Map<string, Promise<ProviderCredential>>();

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** The credentials of a configuration, in its order; others are removed. */
  async open(providers: readonly { name: string; auth: AuthSettings }[]): Promise<ProviderCredential[]> {
    const next = new Map<string, Promise<ProviderCredential>>();
    const opened = providers.map(({ name, auth }) => {
      const settings = JSON.stringify([name, auth]);
      const credential = auth.type === "key" ? undefined : this.#kept.get(settings);
      const current = credential ?? openCredential(name, auth, this.#surroundings);
      next.set(settings, current);
      return current;
    });
    this.#kept = next;
    return await Promise.all(opened);
  }
}

/**
 * Cloud modules are loaded only if needed.
 * @param name name of the provider, for the log
 */
async function openCredential(
  name: string,
  auth: AuthSettings,
  surroundings: Surroundings,
): Promise<ProviderCredential> {
  switch (auth.type) {
    case "key":
      return keyCredential(auth.key);
    case "none":
      return keyCredential("");
    case "aws":
      return (await import("./aws/mod.ts")).awsCredential(name, auth, surroundings);
    case "google":
      return (await import("./google/mod.ts")).googleCredential(name, auth, surroundings);
    case "azure":
      return (await import("./azure/mod.ts")).azureCredential(name, auth, surroundings);
  }
}
