/**
 * Tokens of the managed identity of the machine. Virtual machines have a fixed endpoint; other hosts set theirs in the environment.
 */
import { string } from "../../../exchange/json.ts";
import { lifeOf } from "../bearer.ts";
import type { Expiring } from "../renewed_token.ts";
import { variable } from "../surroundings.ts";
import { askForJson, needed } from "../token_service.ts";
import type { AzureContext, IdentityRequest } from "./context.ts";

/** Timeout: outside of Azure the address does not respond. */
const WITHIN_MS = 3000;

const SERVICE = "the managed identity of Azure";

/** @param client the client id of an identity that a user has assigned; undefined: the machine's own */
export async function managedIdentity(
  scope: string,
  client: string | undefined,
  context: AzureContext,
): Promise<Expiring<string>> {
  const { clock } = context;
  const resource = scope.replace(/\/\.default$/, "");
  const { url, headers } = await requestOf(resource, client, context);
  const answer = await askForJson(url, { service: SERVICE, headers, within: WITHIN_MS, clock });
  const value = needed(answer, "access_token", SERVICE);
  // App Service returns the expiry as seconds since the epoch, not a lifetime.
  const ends = Number(string(answer.expires_on) ?? answer.expires_on ?? NaN);
  return { value, lifeMs: lifeOf(answer) ?? (Number.isFinite(ends) ? ends * 1000 - clock.now() : null) };
}

/** How the host is asked. */
async function requestOf(
  resource: string,
  client: string | undefined,
  context: AzureContext,
): Promise<IdentityRequest> {
  const { surroundings } = context;
  const endpoint = variable(surroundings, "IDENTITY_ENDPOINT");
  const secret = variable(surroundings, "IDENTITY_HEADER");
  if (endpoint !== undefined && secret !== undefined) {
    const query = queryOf(resource, { client_id: client, "api-version": "2019-08-01" });
    return { url: `${endpoint}?${query}`, headers: { "x-identity-header": secret } };
  }
  if (endpoint !== undefined && variable(surroundings, "IMDS_ENDPOINT") !== undefined) {
    const { arcRequest } = await import("./arc.ts");
    const query = queryOf(resource, { "api-version": "2020-06-01" });
    return await arcRequest(`${endpoint}?${query}`, context);
  }
  const older = variable(surroundings, "MSI_ENDPOINT");
  const olderSecret = variable(surroundings, "MSI_SECRET");
  if (older !== undefined && olderSecret !== undefined) {
    const clientid = client ?? variable(surroundings, "DEFAULT_IDENTITY_CLIENT_ID");
    const query = queryOf(resource, { clientid, "api-version": "2017-09-01" });
    return { url: `${older}?${query}`, headers: { secret: olderSecret } };
  }
  const host = variable(surroundings, "AZURE_POD_IDENTITY_AUTHORITY_HOST") ?? "http://169.254.169.254";
  const query = queryOf(resource, { client_id: client, "api-version": "2018-02-01" });
  const url = `${host.replace(/\/+$/, "")}/metadata/identity/oauth2/token?${query}`;
  return { url, headers: { metadata: "true" } };
}

function queryOf(resource: string, more: Record<string, string | undefined>): URLSearchParams {
  const query = new URLSearchParams({ resource });
  for (const [name, value] of Object.entries(more)) if (value !== undefined) query.set(name, value);
  return query;
}
