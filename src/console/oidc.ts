/**
 * Sign-in with an OpenID provider: authorization code flow with PKCE, state and nonce. Loaded on first use.
 *
 * The state of a sign-in is kept in an encrypted cookie of the browser that started it, so an answer in
 * another browser is useless; each can be used once. The browser always returns to the console's own page.
 */
import * as oauth from "oauth4webapi";
import { type Principal, type Role, ROLES } from "../accounts/mod.ts";
import { excessOf, type JsonBudget } from "../exchange/json_budget.ts";
import type { OidcConfig } from "../http/oidc_config.ts";
import { ask, deliveryError } from "../outgoing/ask.ts";

/** The state of a sign-in, stored in the browser's cookie. */
export interface Flow {
  state: string;
  nonce: string;
  verifier: string;
  redirectUri: string;
  /** The console's page to open afterwards, as the fragment of its address; empty: the first one. */
  page: string;
  /** Milliseconds since the epoch. */
  began: number;
}

/** A refused sign-in, with a message for the person. */
export class SignInRefused extends Error {
  override readonly name = "SignInRefused";
  readonly status: number;
  /** For the operator's log. */
  readonly reason: string;

  constructor(status: number, message: string, reason: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

type Claims = Readonly<Record<string, unknown>>;

const PATIENCE_MS = 10_000;
const METADATA_MS = 3_600_000;
const MOST_NAME = 64;
/** Maximum size of metadata, keys and token responses, in bytes. */
const MOST_BYTES = 1 << 20;
/** Limits for JSON in these: a person with a thousand groups has a thousand values. */
const BUDGET: JsonBudget = { depth: 64, values: 50_000, names: 20_000, nameChars: 500_000, digits: 1000 };
/** Response headers that the library reads. */
const HEADERS = ["content-type", "www-authenticate"];
/** The limits of OpenID Connect for `sub`, by which keys are found. */
const SUBJECT = /^[ -~]{1,255}$/;
/** Maximum length, in logs, of text sent by a browser. */
const MOST_REASON = 100;

/** How long an unreachable provider is not contacted again, in milliseconds: anybody can trigger these requests. */
const AWAY_MS = 2000;

/** Cache of the provider's metadata, or the current request for it. A reloaded configuration has a new entry. */
const known = new WeakMap<OidcConfig, { at: number; server: Promise<oauth.AuthorizationServer> }>();
/** When the provider was found unreachable, and the resulting error. */
const unreachable = new WeakMap<OidcConfig, { at: number; refusal: SignInRefused }>();

/** The authorization URL for the browser, and the state for its cookie. */
export async function begin(
  config: OidcConfig,
  { redirectUri, page, now }: Pick<Flow, "redirectUri" | "page"> & { now: number },
): Promise<{ url: string; flow: Flow }> {
  const server = await metadata(config, now);
  const url = pageOf(server, "authorization_endpoint");
  if (url === null) throw away("the provider has no valid authorization_endpoint");
  const verifier = oauth.generateRandomCodeVerifier();
  const flow: Flow = {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier,
    redirectUri,
    page,
    began: now,
  };
  const query = {
    client_id: config.clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: [...new Set(["openid", ...config.scopes])].join(" "),
    state: flow.state,
    nonce: flow.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return { url: url.href, flow };
}

/** The person of an authorization response. Throws {@link SignInRefused}. */
export async function complete(
  config: OidcConfig,
  flow: Flow,
  { answer, now, isTeam }: { answer: URLSearchParams; now: number; isTeam(name: string): boolean },
): Promise<Omit<Principal, "by" | "credential">> {
  const server = await metadata(config, now);
  const claims = await claimsOf(server, config, flow, answer);
  const subject = String(claims.sub);
  if (!SUBJECT.test(subject)) {
    throw new SignInRefused(
      403,
      "The answer of the identity provider is not valid.",
      "the subject is no subject",
    );
  }
  const role = roleOf(claims, config.roles);
  if (role === null) {
    throw new SignInRefused(
      403,
      "Your account has no role here. Ask whoever runs this gateway to give you one.",
      "no value of the role's claim is mapped",
    );
  }
  const teams = config.teamClaim === null
    ? []
    : valuesOf(claims, config.teamClaim).map((t) => t.replace(/^\//, ""));
  return {
    role,
    name: nameOf(claims) ?? subject.slice(0, MOST_NAME),
    member: `${config.issuer}#${subject}`,
    team: teams.find(isTeam) ?? null,
  };
}

/** The provider's logout URL; null: it has none. */
export async function endAddress(
  config: OidcConfig,
  { returnTo, now }: { returnTo: string; now: number },
): Promise<string | null> {
  const server = await metadata(config, now).catch(() => null);
  const url = server === null ? null : pageOf(server, "end_session_endpoint");
  if (url === null) return null;
  url.searchParams.set("client_id", config.clientId);
  url.searchParams.set("post_logout_redirect_uri", returnTo);
  return url.href;
}

/** A page of the provider that the browser is sent to. Null: it has none, or one that no page should open. */
function pageOf(
  server: oauth.AuthorizationServer,
  name: "authorization_endpoint" | "end_session_endpoint",
): URL | null {
  const url = URL.parse(server[name] ?? "");
  const allowed = ["https:", ...(server.issuer.startsWith("http:") ? ["http:"] : [])];
  return url !== null && allowed.includes(url.protocol) ? url : null;
}

/** Throws if no key of the provider has signed the ID token. */
async function verifySignature(
  server: oauth.AuthorizationServer,
  config: OidcConfig,
  response: Response,
): Promise<void> {
  try {
    await oauth.validateApplicationLevelSignature(server, response, options(config));
  } catch {
    // The library keeps the keys of a server for minutes, in which the provider may replace them: another
    // object has no keys yet.
    await oauth.validateApplicationLevelSignature({ ...server }, response, options(config));
  }
}

async function claimsOf(
  server: oauth.AuthorizationServer,
  config: OidcConfig,
  flow: Flow,
  answer: URLSearchParams,
): Promise<Claims> {
  const client: oauth.Client = { client_id: config.clientId };
  try {
    const parameters = oauth.validateAuthResponse(server, client, answer, flow.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      authentication(config),
      parameters,
      flow.redirectUri,
      flow.verifier,
      options(config),
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: flow.nonce,
      requireIdToken: true,
    });
    await verifySignature(server, config, response);
    const claims = oauth.getValidatedIdTokenClaims(tokens)! as Claims & { sub: string };
    const wanted = [config.roles.claim, ...(config.teamClaim === null ? [] : [config.teamClaim])];
    if (
      server.userinfo_endpoint === undefined || wanted.every((claim) => valuesOf(claims, claim).length > 0)
    ) {
      return claims;
    }
    const asked = await oauth.userInfoRequest(server, client, tokens.access_token, options(config));
    const more = await oauth.processUserInfoResponse(server, client, claims.sub, asked);
    return { ...more, ...claims };
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) {
      throw new SignInRefused(
        403,
        "The identity provider did not let you in.",
        `the provider says ${error.error.slice(0, MOST_REASON)}`,
      );
    }
    const network = error instanceof TypeError ||
      (error instanceof DOMException && error.name === "TimeoutError");
    if (network) throw away(deliveryError(error));
    // The library's error codes say which check failed; its messages may contain parts of tokens.
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw new SignInRefused(
      403,
      "The answer of the identity provider is not valid. Sign in once more.",
      code,
    );
  }
}

function authentication({ clientSecret, clientAuth }: OidcConfig): oauth.ClientAuth {
  if (clientSecret === null) return oauth.None();
  return clientAuth === "post" ? oauth.ClientSecretPost(clientSecret) : oauth.ClientSecretBasic(clientSecret);
}

/** Concurrent callers share one request. */
function metadata(config: OidcConfig, now: number): Promise<oauth.AuthorizationServer> {
  const found = known.get(config);
  if (found !== undefined && Math.abs(now - found.at) < METADATA_MS) return found.server;
  const failed = unreachable.get(config);
  if (failed !== undefined && Math.abs(performance.now() - failed.at) < AWAY_MS) {
    return Promise.reject(failed.refusal);
  }
  const server = discover(config);
  known.set(config, { at: now, server });
  server.catch((refusal) => {
    known.delete(config);
    unreachable.set(config, { at: performance.now(), refusal });
  });
  return server;
}

async function discover(config: OidcConfig): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(config.issuer);
  try {
    const response = await oauth.discoveryRequest(issuer, { algorithm: "oidc", ...options(config) });
    return await oauth.processDiscoveryResponse(issuer, response);
  } catch (error) {
    // The library's error codes say what is wrong with a response.
    throw away(
      error instanceof Error && "code" in error ? `${error.name} ${error.code}` : deliveryError(error),
    );
  }
}

function options({ issuer }: OidcConfig) {
  return {
    signal: () => AbortSignal.timeout(PATIENCE_MS),
    [oauth.customFetch]: bounded,
    [oauth.allowInsecureRequests]: issuer.startsWith("http:"),
  };
}

/** `fetch` for the library, with a size limit for responses. */
async function bounded(
  url: string,
  { method, headers, body, signal }: oauth.CustomFetchOptions<string, unknown>,
): Promise<Response> {
  try {
    const answer = await ask(url, {
      method,
      headers: { ...headers },
      body: body === undefined || body === null ? undefined : String(body),
      most: MOST_BYTES,
      signal: signal ?? AbortSignal.timeout(PATIENCE_MS),
    });
    const { status, bytes } = answer;
    const excess = excessOf(answer.text(), BUDGET);
    if (excess !== null) throw new TypeError(`the answer has more than ${excess.limit} ${excess.what}`);
    return new Response(bytes.length === 0 ? null : bytes, {
      status,
      headers: HEADERS.flatMap((name) => {
        const value = answer.header(name);
        return value === null ? [] : [[name, value]];
      }),
    });
  } catch (error) {
    throw error instanceof RangeError ? new TypeError(error.message) : error;
  }
}

function away(reason: string): SignInRefused {
  return new SignInRefused(
    502,
    "The identity provider cannot be reached. The admin key and tokens still work.",
    reason,
  );
}

/** The highest of the roles that the claim's values are mapped to. */
function roleOf(claims: Claims, { claim, map }: OidcConfig["roles"]): Role | null {
  // A user who can choose an unverified e-mail address could choose that of somebody else.
  if (claim === "email" && claims.email_verified !== true) return null;
  const roles = valuesOf(claims, claim).flatMap((value) => Object.hasOwn(map, value) ? [map[value]] : []);
  return ROLES.find((role) => roles.includes(role)) ?? null;
}

/** The strings of a claim, given by name or path. */
function valuesOf(claims: Claims, claim: string): string[] {
  const own = (of: unknown, name: string) =>
    typeof of === "object" && of !== null && Object.hasOwn(of, name) ? (of as Claims)[name] : undefined;
  const value = own(claims, claim) ?? claim.split(".").reduce<unknown>(own, claims);
  return (Array.isArray(value) ? value : [value]).filter((one) => typeof one === "string");
}

/** A display name, used in logs, names of keys and pages. */
function nameOf(claims: Claims): string | null {
  for (const claim of ["preferred_username", "email", "name"]) {
    const value = claims[claim];
    if (typeof value !== "string") continue;
    const name = value.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "").trim();
    // Cut by code points, not by UTF-16 units.
    if (name !== "") return [...name].slice(0, MOST_NAME).join("").trim();
  }
  return null;
}
