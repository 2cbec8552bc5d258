/**
 * Sources of Google's access tokens: the file in GOOGLE_APPLICATION_CREDENTIALS, the file of `gcloud auth
 * application-default login`, the metadata server.
 */
import { array, isObject, type Loose, object, parse, string } from "../../../exchange/json.ts";
import { type AccessToken, accessToken, lifeOf } from "../bearer.ts";
import type { Expiring } from "../renewed_token.ts";
import type { ServiceClock } from "../service_clock.ts";
import { inHome, type Surroundings, variable } from "../surroundings.ts";
import { askForJson, forHeader, needed, TokenError } from "../token_service.ts";
import { type GoogleContext, SCOPE } from "./context.ts";
import { externalAccountToken, externalUserToken } from "./external_account.ts";
import { impersonate } from "./impersonation.ts";

export interface GoogleSettings {
  /** Null: from the environment. */
  credentialsFile: string | null;
}

export type GoogleSource = () => Promise<Expiring<AccessToken>>;

const SERVICE = "the token service of Google";

/** Timeout: outside of Google Cloud the address does not respond. */
const METADATA_MS = 3000;

/**
 * The source of tokens, in the order of Google's libraries: a configured file, the default file, the metadata
 * server.
 */
export function googleSource({ credentialsFile }: GoogleSettings, context: GoogleContext): GoogleSource {
  const { surroundings } = context;
  const named = credentialsFile ?? variable(surroundings, "GOOGLE_APPLICATION_CREDENTIALS");
  const folder = variable(surroundings, "CLOUDSDK_CONFIG") ?? inHome(surroundings, ".config/gcloud");
  return async () => {
    if (named !== undefined) return await ofFile(await readFile(named, surroundings), context);
    const usual = folder === null
      ? null
      : await readFile(`${folder}/application_default_credentials.json`, surroundings).catch(() => null);
    return usual === null ? await ofMetadata(context) : await ofFile(usual, context);
  };
}

/** Read for each token: the file may have been replaced. */
async function readFile(path: string, surroundings: Surroundings): Promise<Loose> {
  const text = await surroundings.readText(path).catch(() => {
    throw new TokenError("the credentials file of Google cannot be read");
  });
  const file = parse(text);
  if (isObject(file)) return file;
  throw new TokenError("the credentials file of Google is no JSON object");
}

async function ofFile(file: Loose, context: GoogleContext): Promise<Expiring<AccessToken>> {
  const token = await tokenOf(file, context);
  return accessToken(token, chargedTo(string(file.quota_project_id), context.surroundings));
}

/**
 * The header for the quota project.
 * @param project from the file
 */
function chargedTo(project: string | undefined, surroundings: Surroundings): Record<string, string> {
  const charged = variable(surroundings, "GOOGLE_CLOUD_QUOTA_PROJECT") ?? project;
  return charged ? { "x-goog-user-project": forHeader(charged, "the quota project") } : {};
}

function tokenOf(file: Loose, context: GoogleContext): Promise<Expiring<string>> {
  switch (file.type) {
    case "service_account":
      return serviceAccountToken(file, context);
    case "authorized_user":
      return userToken(file, context);
    case "external_account":
      return externalAccountToken(file, context);
    case "external_account_authorized_user":
      return externalUserToken(file, context);
    case "impersonated_service_account":
      return impersonatedToken(file, context);
  }
  throw new TokenError(
    "the credentials file of Google has another type than service_account, external_account, authorized_user, external_account_authorized_user and impersonated_service_account",
  );
}

/** RFC 7523: exchanges a JWT signed with the account's key for a token. The token endpoint is also the audience. */
async function serviceAccountToken(file: Loose, { clock }: GoogleContext): Promise<Expiring<string>> {
  const url = string(file.token_uri) ?? "https://oauth2.googleapis.com/token";
  const issued = Math.floor(clock.now() / 1000);
  // Loaded with the first token, since most gateways need none.
  const { importPKCS8, SignJWT } = await import("jose");
  let assertion: string;
  try {
    const key = await importPKCS8(needed(file, "private_key", "the credentials file"), "RS256");
    assertion = await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: "RS256", typ: "JWT", kid: string(file.private_key_id) })
      .setIssuer(needed(file, "client_email", "the credentials file"))
      .setAudience(url)
      .setIssuedAt(issued)
      .setExpirationTime(issued + 3600)
      .sign(key);
  } catch (thrown) {
    if (thrown instanceof TokenError) throw thrown;
    throw new TokenError("the private key of the credentials file cannot be used");
  }
  const body = new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion });
  return await oauthToken(url, body, clock);
}

async function userToken(file: Loose, { clock }: GoogleContext): Promise<Expiring<string>> {
  const what = "the credentials file";
  const body = new URLSearchParams({
    grant_type: "refresh_token",
    client_id: needed(file, "client_id", what),
    client_secret: needed(file, "client_secret", what),
    refresh_token: needed(file, "refresh_token", what),
  });
  return await oauthToken(string(file.token_uri) ?? "https://oauth2.googleapis.com/token", body, clock);
}

async function impersonatedToken(file: Loose, context: GoogleContext): Promise<Expiring<string>> {
  const { value } = await tokenOf(object(file.source_credentials), context);
  return await impersonate(
    needed(file, "service_account_impersonation_url", "the credentials file"),
    value,
    context,
    { delegates: array(file.delegates) },
  );
}

async function oauthToken(
  url: string,
  body: URLSearchParams,
  clock: ServiceClock,
): Promise<Expiring<string>> {
  const answer = await askForJson(url, { service: SERVICE, method: "POST", body, clock });
  return { value: needed(answer, "access_token", SERVICE), lifeMs: lifeOf(answer) };
}

async function ofMetadata({ surroundings, clock }: GoogleContext): Promise<Expiring<AccessToken>> {
  const host = variable(surroundings, "GCE_METADATA_HOST", "GCE_METADATA_ROOT") ?? "metadata.google.internal";
  const service = "the metadata server of Google";
  const answer = await askForJson(
    `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`,
    { service, headers: { "metadata-flavor": "Google" }, within: METADATA_MS, clock },
  );
  const token = { value: needed(answer, "access_token", service), lifeMs: lifeOf(answer) };
  return accessToken(token, chargedTo(undefined, surroundings));
}
