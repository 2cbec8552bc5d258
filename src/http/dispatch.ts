/** Dispatches a request to its endpoint: method, credential, parameters, handler. */
import { Failure } from "../exchange/failure.ts";
import { changes } from "../accounts/mod.ts";
import { administrator, demand, renewalOf } from "./administrators.ts";
import { authenticate, isThisMachine } from "./credentials.ts";
import type { AdministrationEndpoint, Endpoint, RequestContext } from "./endpoint.ts";
import { OVERLOADED } from "./gate.ts";
import { notFound, nothingAtRoot, otherMethod, type PathEntry } from "./endpoint_table.ts";
import { refuseUnknownQuery } from "./known_query.ts";

/** Changes per minute by a person signed in through an identity provider. */
const PERSON_CHANGES = 60;
/** Reads per minute by such a person: a page polls every few seconds, and each answer has a cost. */
const PERSON_READS = 300;
/** Informs the console whether answers come from the store. */
const STORE_HEADER = "x-svc-store";
/** A host name or IP address, with an optional port. */
const HOST = /^[\w.:[\]-]*$/;

/**
 * @param entry the endpoints of the path; undefined: unknown path
 * @param meant for an unknown path: the path that was probably intended
 */
export function dispatch(
  context: RequestContext,
  entry: PathEntry | undefined,
  meant: string | undefined,
): Response | Promise<Response> {
  const { request, path, state } = context;
  // The server builds the URL from the Host header, which could contain a path.
  if (!HOST.test(request.headers.get("host") ?? "")) {
    const message = "Cannot read the host header: expected a host name and a port.";
    throw new Failure("validation_error", message, {
      errors: [{ type: "value_error", loc: ["header", "host"], msg: message }],
    });
  }
  if (entry === undefined) {
    throw path === "/" ? nothingAtRoot(request.method, state) : notFound(request.method, path, meant);
  }
  const endpoint = entry.endpoint(request.method, state);
  if (endpoint === undefined) return otherMethod(request.method, path, entry.allowed(state));
  if (endpoint.generates) return endpoint.handle(context);
  return serve(endpoint, context, entry);
}

async function serve(
  endpoint: Exclude<Endpoint, { generates: true }>,
  context: RequestContext,
  entry: PathEntry,
): Promise<Response> {
  const { request, state, path, connection } = context;
  switch (endpoint.credential) {
    case "api_key": {
      const key = await authenticate(context);
      if (!await state.shedder.enter(key.id)) throw OVERLOADED;
      const kind = endpoint.method === "GET" ? "read" : "count";
      state.requestRates.take(kind, key.id, state.kit.accounts.requestsPerMinute(key));
      return await endpoint.handle({ ...context, parameters: entry.parametersOf(path) }, key);
    }
    case "admin_key":
      return await administrate(endpoint, { ...context, parameters: entry.parametersOf(path) });
    case "admin_or_loopback":
      if (state.metrics === "open" || (state.adminKey === null && isThisMachine(request, connection))) break;
      demand((await administrator(context)).principal, "read", `${endpoint.method} ${endpoint.path}`);
      break;
  }
  return await endpoint.handle({ ...context, parameters: entry.parametersOf(path) });
}

async function administrate(endpoint: AdministrationEndpoint, context: RequestContext): Promise<Response> {
  const { state, parameters } = context;
  const { principal, session, stillMay } = await administrator(context);
  const route = `${endpoint.method} ${endpoint.path}`;
  const trail = state.administration.trail({ principal, route, parameters });
  const noted = changes(endpoint.access);
  // Each change uses the store, also if it is refused.
  if (principal.member !== null) {
    const [kind, most] = noted ? ["count", PERSON_CHANGES] as const : ["read", PERSON_READS] as const;
    state.requestRates.take(kind, principal.member, most);
  }
  let response: Response;
  try {
    demand(principal, endpoint.access, route);
    refuseUnknownQuery(endpoint, context.request.url);
    const administration = state.administration.administration(trail);
    response = await endpoint.handle({ ...context, principal, administration, trail, stillMay });
  } catch (thrown) {
    if (noted) await trail.failed(thrown);
    throw thrown;
  }
  if (noted) {
    await trail.done();
    // The next request may come to another worker.
    await state.administration.changed();
  }
  response.headers.set(STORE_HEADER, state.administration.storeUp() ? "up" : "away");
  const renewal = session && renewalOf(session, context);
  if (renewal !== null) response.headers.append("set-cookie", renewal);
  return response;
}
