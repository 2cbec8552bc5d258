/**
 * `/console/session`: signing in and out of the console. The admin key or a token is exchanged for a cookie,
 * so that pages need not store a secret.
 */
import { STATUS_CODE } from "@std/http/status.js";
import { formatAmount } from "../accounts/budgets/money.ts";
import { Failure } from "../exchange/failure.ts";
import {
  administrator,
  beginSession,
  hasAdministrators,
  isSecure,
  refuseOtherPages,
  renewalOf,
  sessionOf,
  signedIn,
} from "../http/administrators.ts";
import type { Endpoint, RequestContext, ServerState } from "../http/endpoint.ts";
import { publicUrlOf } from "../http/proxies.ts";
import type { Session } from "../http/session.ts";
import { OPERATION } from "../http/surfaces.ts";
import { refusedField } from "./administration_input.ts";
import { body } from "./operations.ts";

const PATH = "/console/session";

export const SIGN_IN: readonly Endpoint[] = [
  {
    method: "POST",
    path: PATH,
    surface: OPERATION,
    credential: "none",
    summary: "Signs in to the console with the admin key or a token, and sets the session's cookie.",
    request: "SignIn",
    answer: { schema: "Session" },
    exists: hasAdministrators,
    handle: signIn,
  },
  {
    method: "GET",
    path: PATH,
    surface: OPERATION,
    credential: "session",
    summary: "Shows who is signed in to the console.",
    answer: { schema: "Session" },
    exists: hasAdministrators,
    handle(context) {
      const session = sessionOf(context);
      if (session === null) throw signedOut(context.state);
      refuseOtherPages(context);
      return shown(session, context.state, renewalOf(session, context));
    },
  },
  {
    method: "DELETE",
    path: PATH,
    surface: OPERATION,
    credential: "none",
    summary: "Signs out of the console: the session ends on every node.",
    answer: { schema: "SignedOut" },
    exists: hasAdministrators,
    handle: signOut,
  },
];

async function signIn(context: RequestContext): Promise<Response> {
  const { request, state } = context;
  refuseOtherPages(context);
  // Other content types can be sent by a form of another site without a CORS preflight.
  if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? "")) {
    throw new Failure(
      "validation_error",
      "Cannot read the request body: expected content-type application/json.",
    );
  }
  const given = await body<{ admin_key?: unknown; token?: unknown }>(request, {
    fields: ["admin_key", "token"],
  });
  const [field, secret] = given.token === undefined ? ["admin_key", given.admin_key] : ["token", given.token];
  if (typeof secret !== "string" || secret === "") {
    throw refusedField(
      String(field),
      "the admin key or a token, as text",
      secret === "" || secret === undefined ? secret : typeof secret,
      "string_type",
    );
  }
  const { principal } = await signedIn(context, secret);
  const session = await beginSession(state, {
    principal,
    ...(principal.credential === null
      ? { way: "admin_key", source: state.sessions.fingerprint(secret) }
      : { way: "token", source: principal.credential }),
  });
  await state.administration.trail({ principal: session.principal, route: `POST ${PATH}` })
    .note({ action: "session.started", target: session.id, fields: { with: principal.credential ?? field } });
  return shown(session, state, state.sessions.cookie(session, { secure: isSecure(context) }));
}

async function signOut(context: RequestContext): Promise<Response> {
  const { state } = context;
  const headers = {
    "set-cookie": state.sessions.noCookie({ secure: isSecure(context) }),
    "cache-control": "no-store",
  };
  if (sessionOf(context) === null) {
    return Response.json({ signed_out: true, end_session_url: null }, { headers });
  }
  const { session, principal } = await administrator(context);
  if (session === null) {
    throw new Failure(
      "validation_error",
      "Cannot sign out: the request has a credential of its own, and no session.",
    );
  }
  await state.sessions.end(session);
  const endSessionUrl = session.way === "oidc" ? await endAddressOf(context) : null;
  await state.administration.trail({ principal, route: `DELETE ${PATH}` })
    .note({ action: "session.ended", target: session.id });
  // The next request with this cookie may come to another worker.
  await state.administration.changed();
  return Response.json({ signed_out: true, end_session_url: endSessionUrl }, { headers });
}

function shown(session: Session, { sessions, oidc }: ServerState, setCookie: string | null): Response {
  const { role, name, team, member } = session.principal;
  const headers = { "cache-control": "no-store", ...(setCookie !== null && { "set-cookie": setCookie }) };
  return Response.json({
    role,
    name,
    team,
    member,
    csrf: sessions.csrf(session),
    signed_in_with: session.way,
    expires_at: new Date(sessions.expiresAt(session)).toISOString(),
    ...(role === "member" && oidc !== null && {
      member_rule: {
        keys: oidc.memberKeys,
        spend_limit: oidc.memberSpendLimit &&
          { ...oidc.memberSpendLimit, amount: formatAmount(oidc.memberSpendLimit.amount) },
      },
    }),
  }, { status: STATUS_CODE.OK, headers });
}

/** The identity provider's logout URL, to which the page redirects. */
async function endAddressOf({ request, connection, state }: RequestContext): Promise<string | null> {
  if (state.oidc === null) return null;
  const { endAddress } = await import("./oidc.ts");
  const returnTo = `${publicUrlOf(request, connection, state)}/console`;
  return await endAddress(state.oidc, { returnTo, now: state.kit.now() });
}

function signedOut({ adminKey, oidc }: ServerState): Failure {
  const ways = [...(adminKey === null ? [] : ["admin_key"]), "token", ...(oidc === null ? [] : ["oidc"])];
  return new Failure("authentication_required", "Nobody is signed in: sign in with POST /console/session.", {
    details: { ways },
  });
}
