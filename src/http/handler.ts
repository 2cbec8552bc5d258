/**
 * The request handler: assigns an id to each request, calls its endpoint, and encodes each failure in the error envelope of its surface.
 */
import { Failure } from "../exchange/failure.ts";
import { withCors } from "./cors.ts";
import { dispatch } from "./dispatch.ts";
import type { ConnectionInfo, IncomingRequest, RequestContext, ServerState } from "./endpoint.ts";
import type { EndpointTable } from "./endpoint_table.ts";
import { failureResponse } from "./envelope.ts";
import { isCodex, toldToCodex } from "./told_failure.ts";
import { generationId } from "../exchange/request_ids.ts";
import { loggable, pathOf } from "./path.ts";
import { surfaceOfUnknown } from "./surfaces.ts";

export type Handler = (request: IncomingRequest, connection?: ConnectionInfo) => Promise<Response>;

const NO_PARAMETERS = {};

/** Handles requests. Never rejects: errors become responses in the error format of the endpoint. */
export function handler(table: EndpointTable, current: () => ServerState): Handler {
  const handle: Handler = async (request, connection) => {
    const state = current();
    const { kit } = state;
    const id = generationId(kit.now());
    const path = pathOf(request.url);
    let entry = table.at(path);
    const joining = entry === undefined ? table.restJoined() : null;
    let trouble: unknown;
    if (joining !== null) {
      await joining.catch((error) => trouble = error);
      entry = table.at(path);
    }
    const meant = entry === undefined ? table.meant(request.method, path) : undefined;
    const surface = entry?.surface ?? surfaceOfUnknown(meant ?? path);
    const context: RequestContext = {
      request,
      id,
      path,
      surface,
      parameters: NO_PARAMETERS,
      state,
      connection,
      again: handle,
    };
    let response: Response;
    try {
      if (trouble !== undefined) throw trouble;
      response = await dispatch(context, entry, meant);
    } catch (thrown) {
      const failure = Failure.from(thrown);
      if (failure.code === "internal_service_error") {
        kit.log(`${id} ${loggable(path)}: ${describe(failure.cause)}`, "warn");
      }
      const told = surface.format.name === "responses" && isCodex((name) => request.headers.get(name))
        ? toldToCodex(failure)
        : { failure, status: failure.row.status };
      response = failureResponse(told.failure, surface, id, kit.now(), told.status);
    }
    kit.metrics.responded(surface.name, response.status);
    // Generations add the header themselves: checking the headers of each response costs as much as
    // dispatching it.
    if (!(request.method === "POST" && entry?.generates) && !response.headers.has("x-request-id")) {
      response.headers.set("x-request-id", id);
      response.headers.set("request-id", id);
    }
    if (request.method === "HEAD") response = new Response(null, response);
    return state.corsOrigins.length > 0 ? withCors(response, request, state.corsOrigins) : response;
  };
  return handle;
}

/** The error without its message, which may contain anything. */
function describe(cause: unknown): string {
  return cause instanceof Error
    ? `${cause.name}: ${cause.stack?.match(/^ +at .*$/gm)?.slice(0, 2).join(" ").trim()}`
    : typeof cause;
}
