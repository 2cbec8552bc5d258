/**
 * Authentication of administrators: the admin key or an administration token as `Authorization: Bearer`, or
 * the console's session cookie.
 *
 * Browsers send cookies with requests made by any page (CSRF). So a session is accepted only for requests
 * made by the console's own pages, and for changes only together with the CSRF header that those pages know.
 */
import { nodeCrypto } from "../exchange/hashes.ts";
import { ACCESS, type Access, ADMIN_KEY_HOLDER, may, type Principal } from "../accounts/mod.ts";
import { Failure } from "../exchange/failure.ts";
import { bearerToken } from "./credentials.ts";
import type { RequestContext, ServerState } from "./endpoint.ts";
import { clientOf, isHttps, publicUrlOf } from "./proxies.ts";
import type { OidcConfig } from "./oidc_config.ts";
import type { Session, Sessions } from "./session.ts";

const CSRF_HEADER = "x-svc-csrf";

export interface Administrator {
  principal: Principal;
  /** Null: the request carried a bearer token instead. */
  session: Session | null;
  /** Whether the credential is still valid. */
  stillMay(): boolean;
}

/** Whether anybody can be an administrator under this configuration. */
export function hasAdministrators({ adminKey, oidc }: Pick<ServerState, "adminKey" | "oidc">): boolean {
  return adminKey !== null || oidc !== null;
}

/** Whether an identity provider is configured for sign-in. */
export function hasProvider({ oidc }: Pick<ServerState, "oidc">): boolean {
  return oidc !== null;
}

/**
 * Authenticates a request, or rejects. The more wrong credentials came from its address, the longer the
 * rejection takes.
 */
export async function administrator(context: RequestContext): Promise<Administrator> {
  const { request, state } = context;
  const { headers } = request;
  if (headers.has("authorization")) {
    const given = bearerToken(headers.get("authorization"));
    return await signedIn(context, given ?? "");
  }
  const session = sessionOf(context);
  if (session === null) {
    throw new Failure(
      "authentication_required",
      "The admin key is required: send it, or a token sk_admin_…, as Authorization: Bearer <admin_key>.",
    );
  }
  refuseOtherPages(context);
  const safe = request.method === "GET" || request.method === "HEAD";
  if (!safe && !state.sessions.isCsrf(session, headers.get(CSRF_HEADER))) {
    throw new Failure(
      "permission_denied",
      `Cannot ${request.method} with the session alone: the header ${CSRF_HEADER} must have the value csrf of GET /console/session.`,
    );
  }
  return {
    principal: session.principal,
    session,
    stillMay: () => state.sessions.lasts(session) && isCurrent(session, state.current()),
  };
}

/** The principal of a secret. Rejects as {@link administrator} does. */
export async function signedIn(
  { request, connection, state }: RequestContext,
  secret: string,
): Promise<Administrator> {
  if (secret !== "" && state.adminKey !== null && isSame(secret, state.adminKey)) {
    const stillMay = () => state.current().adminKey === state.adminKey;
    return { principal: ADMIN_KEY_HOLDER, session: null, stillMay };
  }
  const principal = await state.administration.tokens.authenticate(secret);
  if (principal !== null) {
    const { credential } = principal;
    const stillMay = () => credential !== null && state.administration.tokens.isGood(credential);
    return { principal, session: null, stillMay };
  }
  const from = clientOf(request, connection, state);
  if (from !== "") await state.wrongKeys.wait(from);
  throw new Failure("invalid_api_key", "The admin key or token is not valid.");
}

/** The session of a request; null: none, or it is no longer valid. */
export function sessionOf(context: RequestContext): Session | null {
  const { request, state } = context;
  const header = request.headers.get("cookie");
  if (header === null) return null;
  const session = state.sessions.read(header, { secure: isSecure(context) });
  return session !== null && isCurrent(session, state) ? session : null;
}

/** Whether the credential used to sign in is still valid. */
function isCurrent({ way, source }: Session, state: ServerState): boolean {
  switch (way) {
    case "admin_key":
      return state.adminKey !== null && source === state.sessions.fingerprint(state.adminKey);
    case "token":
      return state.administration.tokens.isGood(source);
    case "oidc":
      return state.oidc !== null && source === providerSource(state.oidc, state.sessions);
  }
}

/** A fingerprint of the identity provider's configuration: the session ends when, for example, its roles change. */
export function providerSource(
  { issuer, clientId, roles, teamClaim }: OidcConfig,
  sessions: Sessions,
): string {
  return sessions.fingerprint(JSON.stringify([issuer, clientId, roles, teamClaim]));
}

/** The `set-cookie` header that extends a session; null: not due yet. */
export function renewalOf(session: Session, context: RequestContext): string | null {
  const { sessions, administration } = context.state;
  const header = sessions.renewal(session, { secure: isSecure(context) });
  if (header !== null) administration.consoleSessions.renewed(session.id, sessions.renewedUntil(session));
  return header;
}

/** Starts a session, which is listed for administrators and can be ended by them. */
export async function beginSession(
  state: ServerState,
  of: Omit<Session, "id" | "began" | "renewed">,
): Promise<Session> {
  const session = state.sessions.begin(of);
  const { id, began, way, principal: { name, role, team, member } } = session;
  await state.administration.consoleSessions.began({
    id,
    name,
    role,
    team,
    member,
    way,
    credential: way === "token" ? session.source : null,
    began: Math.round(began),
    ends: Math.round(state.sessions.expiresAt(session)),
  });
  return session;
}

/**
 * Rejects requests that a page of another origin made the browser send. Over plain HTTP, except on loopback,
 * browsers send `Origin` but not `Sec-Fetch-Site`. A client that sends neither is not a browser, or a very
 * old one.
 */
export function refuseOtherPages({ request, connection, state }: RequestContext): void {
  const { headers } = request;
  const from = headers.get("sec-fetch-site");
  if (from === "same-origin" || from === "none") return;
  const said = "Pages of other origins cannot use the console's session";
  if (from !== null) throw new Failure("permission_denied", `${said}.`);
  const origin = headers.get("origin");
  if (origin === null) return;
  const own = publicUrlOf(request, connection, state);
  if (hostOf(origin) === hostOf(own)) return;
  throw new Failure(
    "permission_denied",
    `${said}: this one is ${
      JSON.stringify(origin.slice(0, 200))
    }, the console is at ${own}. Behind a proxy, server.public_url says where browsers find it.`,
  );
}

/** Null: not a URL, such as the `null` of opaque origins. */
const hostOf = (url: string) => URL.parse(url)?.host ?? null;

/** Throws unless the principal's role includes the access. */
export function demand({ role }: Principal, access: Access, route: string): void {
  if (may(role, access)) return;
  const roles = ACCESS[access].join(" or ");
  throw new Failure("permission_denied", `The role ${role} cannot ${route}: it needs the role ${roles}.`);
}

/** Whether the browser uses HTTPS. */
export function isSecure({ request, connection, state }: RequestContext): boolean {
  return isHttps(request, connection, state);
}

/** Compares hashes, so that the duration reveals neither length nor content (timing attack). */
function isSame(given: string, expected: string): boolean {
  const { createHash, timingSafeEqual } = nodeCrypto();
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(given), hash(expected));
}
