/**
 * Microsoft Entra credentials: a client secret, else a client certificate, else a federated token file, else
 * the machine's managed identity. The variables are those of Microsoft's libraries.
 */
import { type AccessToken, accessToken, bearerCredential, lifeOf } from "../bearer.ts";
import type { ProviderCredential } from "../credential.ts";
import { type Expiring, RenewedToken } from "../renewed_token.ts";
import { ServiceClock } from "../service_clock.ts";
import { type Surroundings, variable } from "../surroundings.ts";
import { askForJson, needed, TokenError } from "../token_service.ts";
import { managedIdentity } from "./managed_identity.ts";

export interface AzureSettings {
  /** Ends with `/.default`. */
  scope: string;
  /** Null: from the environment. */
  tenantId: string | null;
  clientId: string | null;
  clientSecret: string | null;
}

/**
 * Sends access tokens of Microsoft Entra, renewed before they expire.
 *
 * @param name name of the provider, for messages
 */
export function azureCredential(
  name: string,
  settings: AzureSettings,
  surroundings: Surroundings,
): ProviderCredential {
  const clock = new ServiceClock(surroundings);
  const token = new RenewedToken<AccessToken>(`the Entra credential of provider ${name}`, async () => {
    return accessToken(await entraToken(settings, surroundings, clock), {});
  }, surroundings);
  return bearerCredential(JSON.stringify(settings), token);
}

async function entraToken(
  settings: AzureSettings,
  surroundings: Surroundings,
  clock: ServiceClock,
): Promise<Expiring<string>> {
  const tenant = settings.tenantId ?? variable(surroundings, "AZURE_TENANT_ID");
  const client = settings.clientId ?? variable(surroundings, "AZURE_CLIENT_ID");
  const secret = settings.clientSecret ?? variable(surroundings, "AZURE_CLIENT_SECRET");
  const certificate = variable(surroundings, "AZURE_CLIENT_CERTIFICATE_PATH");
  const file = variable(surroundings, "AZURE_FEDERATED_TOKEN_FILE");
  const proof = secret ?? certificate ?? file;
  if (tenant === undefined || client === undefined || proof === undefined) {
    return await managedIdentity(settings.scope, client, { surroundings, clock });
  }
  const body = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: client,
    scope: settings.scope,
  });
  const authority = variable(surroundings, "AZURE_AUTHORITY_HOST") ?? "https://login.microsoftonline.com";
  const address = /^https?:\/\//.test(authority) ? authority : `https://${authority}`;
  const url = `${address.replace(/\/+$/, "")}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`;
  if (secret !== undefined) body.set("client_secret", secret);
  else {
    body.set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    body.set(
      "client_assertion",
      certificate === undefined
        ? await readAssertion(proof, surroundings)
        : await (await import("./certificate.ts")).certificateAssertion(
          certificate,
          { clientId: client, audience: url, now: clock.now() },
          surroundings,
        ),
    );
  }
  const service = "Microsoft Entra";
  const answer = await askForJson(url, { service, method: "POST", body, clock });
  return { value: needed(answer, "access_token", service), lifeMs: lifeOf(answer) };
}

/** Read each time: Kubernetes replaces the file. */
async function readAssertion(path: string, surroundings: Surroundings): Promise<string> {
  try {
    return (await surroundings.readText(path)).trim();
  } catch {
    throw new TokenError("the federated token file cannot be read");
  }
}
