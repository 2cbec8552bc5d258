/** `/console/oidc/start` and `/console/oidc/callback`: redirects to the identity provider and back. */
import { nodeCrypto } from "../exchange/hashes.ts";
import { Failure } from "../exchange/failure.ts";
import { beginSession, hasProvider, isSecure, providerSource } from "../http/administrators.ts";
import type { Endpoint, RequestContext } from "../http/endpoint.ts";
import { holderOf } from "../exchange/networks.ts";
import { clientOf, publicUrlOf } from "../http/proxies.ts";
import { cookies, setCookie } from "../http/session.ts";
import { OPERATION } from "../http/surfaces.ts";
import type { Flow, SignInRefused } from "./oidc.ts";

const COOKIE = "sluice_oidc";
const PLACE = "/console/oidc";
const FLOW_MS = 600_000;

export const OIDC_ENDPOINTS: readonly Endpoint[] = [
  {
    method: "GET",
    path: `${PLACE}/start`,
    surface: OPERATION,
    credential: "none",
    summary: "Redirects the browser to the identity provider for the sign-in to the console.",
    parameters: [
      {
        name: "page",
        in: "query",
        description: "The console's page to open afterwards, as the fragment of its address: `/explore`.",
      },
    ],
    answer: { status: 302, types: ["text/html"] },
    exists: hasProvider,
    handle: (context) => refusing(context, start),
  },
  {
    method: "GET",
    path: `${PLACE}/callback`,
    surface: OPERATION,
    credential: "none",
    summary: "Receives the browser's redirect from the identity provider and sets the session cookie.",
    parameters: [
      { name: "code", in: "query", description: "The provider's code." },
      { name: "state", in: "query", description: "The state that the sign-in began with." },
    ],
    answer: { status: 303, types: ["text/html"] },
    exists: hasProvider,
    handle: (context) => refusing(context, callback),
  },
];

/** A large package, needed only by these endpoints. */
const loadOidc = () => import("./oidc.ts");

async function start(context: RequestContext): Promise<Response> {
  const { request, connection, state } = context;
  const { begin } = await loadOidc();
  const redirectUri = `${publicUrlOf(request, connection, state)}${PLACE}/callback`;
  const page = pageOf(new URL(request.url).searchParams.get("page"));
  const { url, flow } = await begin(state.oidc!, { redirectUri, page, now: state.kit.now() });
  const cookie = flowCookie(state.sessions.seal("oidc", flow), context, FLOW_MS / 1000);
  return new Response(null, { status: 302, headers: { ...HEADERS, "location": url, "set-cookie": cookie } });
}

async function callback(context: RequestContext): Promise<Response> {
  const { request, state } = context;
  const { complete, SignInRefused } = await loadOidc();
  const now = state.kit.now();
  const flow = flowOf(context, now);
  if (flow === null) {
    throw new SignInRefused(
      400,
      "This sign-in was not begun in this browser, or too long ago. Sign in once more.",
      "no flow",
    );
  }
  // Each can be used once, on all nodes.
  const id = `oidc_${nodeCrypto().createHash("sha256").update(flow.state).digest("base64url")}`;
  if (state.sessions.isEnded(id)) {
    throw new SignInRefused(400, "This sign-in has been used already.", "repeated");
  }
  const person = await bounded(
    holderOf(clientOf(request, context.connection, state)),
    () =>
      complete(state.oidc!, flow, {
        answer: new URL(request.url).searchParams,
        now,
        isTeam: (name) => state.administration.isTeam(name),
      }),
  );
  await state.sessions.endId(id, flow.began + FLOW_MS);
  const session = await beginSession(state, {
    principal: { ...person, by: "session", credential: null },
    way: "oidc",
    source: providerSource(state.oidc!, state.sessions),
  });
  await state.administration.trail({ principal: session.principal, route: `GET ${PLACE}/callback` })
    .note({ action: "session.started", target: session.id, fields: { with: "oidc", member: person.member } });
  const location = flow.page ? `/console#${flow.page}` : "/console";
  const headers = new Headers({ ...HEADERS, location });
  headers.append("set-cookie", state.sessions.cookie(session, { secure: isSecure(context) }));
  headers.append("set-cookie", flowCookie("", context, 0));
  return new Response(null, { status: 303, headers });
}

/** Longer ones, and what no page of the console is, lead to the first page. */
function pageOf(asked: string | null): string {
  return asked !== null && /^\/[!-~]{1,1000}$/.test(asked) ? asked : "";
}

/** Maximum number of concurrent sign-ins: anybody can make the gateway contact the provider. */
const MOST_AT_ONCE = 32;
/** Maximum per client address, so that others can still sign in. */
const MOST_OF_ADDRESS = 8;
let running = 0;
const byAddress = new Map<string, number>();

async function bounded<T>(address: string, work: () => Promise<T>): Promise<T> {
  const ofAddress = byAddress.get(address) ?? 0;
  if (running >= MOST_AT_ONCE || ofAddress >= MOST_OF_ADDRESS) {
    throw new Failure("service_unavailable", "Too many sign-ins are in progress; try again soon.");
  }
  running++;
  byAddress.set(address, ofAddress + 1);
  try {
    return await work();
  } finally {
    running--;
    const left = byAddress.get(address)! - 1;
    if (left > 0) byAddress.set(address, left);
    else byAddress.delete(address);
  }
}

function flowOf(context: RequestContext, now: number): Flow | null {
  const { request, state } = context;
  const values = cookies(request.headers.get("cookie") ?? "", COOKIE, { secure: isSecure(context) });
  const flow = values.length === 1 ? state.sessions.unseal<Flow>("oidc", values[0]) : null;
  return flow !== null && now < flow.began + FLOW_MS ? flow : null;
}

/** `SameSite=Lax`: the redirect comes from the provider's site, which does not send a strict cookie. */
function flowCookie(value: string, context: RequestContext, seconds: number): string {
  return setCookie(COOKIE, value, { secure: isSecure(context), seconds, path: PLACE, sameSite: "Lax" });
}

const HEADERS = { "cache-control": "no-store", "referrer-policy": "no-referrer" };
const STYLE =
  ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui;max-width:34rem;margin:4rem auto;padding:0 1rem;background:Canvas;color:CanvasText}";

async function refusing(
  context: RequestContext,
  work: (context: RequestContext) => Promise<Response>,
): Promise<Response> {
  try {
    return await work(context);
  } catch (error) {
    if (!(error instanceof Error && error.name === "SignInRefused")) throw error;
    const { message, status, reason } = error as SignInRefused;
    const { state, id } = context;
    const address = clientOf(context.request, context.connection, state);
    // Rate limited: anybody can cause refusals.
    if (state.wrongKeys.note(address, `oidc: ${reason}`)) {
      state.kit.log(`${id} sign-in with ${state.oidc!.issuer}: ${reason}`);
    }
    return new Response(refusal(message), {
      status,
      headers: {
        ...HEADERS,
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": `default-src 'none'; style-src 'sha256-${
          nodeCrypto().createHash("sha256").update(STYLE).digest("base64")
        }'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
        "x-content-type-options": "nosniff",
        "set-cookie": flowCookie("", context, 0),
      },
    });
  }
}

/** @param message one of this program's own texts */
function refusal(message: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>Sign-in refused</title><style>${STYLE}</style></head><body><main><h1>Not signed in</h1><p>${message}</p>` +
    `<p><a href="/console">To the console</a></p></main></body></html>`;
}
