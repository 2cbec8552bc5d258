/** `GET /v1/generations/{id}/stream`: resumes a stored stream after an event. */
import { countOf } from "../../exchange/printable.ts";
import type { Key } from "../../accounts/mod.ts";
import { Failure } from "../../exchange/failure.ts";
import { eventNumber } from "../../resume/event_ids.ts";
import { StoreUnavailable } from "../../store/mod.ts";
import type { RequestContext } from "../endpoint.ts";
import { OVERLOADED } from "../gate.ts";
import { followed } from "./joined.ts";
import { badHeader } from "../header_flags.ts";

/**
 * Continues a stream after the last event that the caller received. Throws `not_found` if this key has no
 * such stream.
 */
export async function resumeStream(context: RequestContext, key: Key): Promise<Response> {
  const { request, parameters: { id }, state } = context;
  const resumption = await state.resumption();
  const found = await resumption.find(id, key.id).catch((thrown) => {
    if (!(thrown instanceof StoreUnavailable)) throw thrown;
    throw new Failure("service_unavailable", "The database is unavailable; try again soon.", {
      cause: thrown,
    });
  });
  // Not found: a refused generation never became a stream, and the client of one that was lost before its
  // head was stored was not told that it could be resumed.
  if (
    found === null || !found.streamed || found.head?.body !== undefined || (found.lost && found.head === null)
  ) {
    throw new Failure(
      "not_found",
      "There is no such stream: it belongs to another key, cannot be resumed, or has expired.",
    );
  }
  const { from, named } = firstWanted(request, id);
  if (from > found.events) {
    throw badPlace(
      named,
      `the stream has had ${countOf(found.events, "event")}, the first of which has number 0`,
    );
  }
  state.kit.metrics.keptStream("resumed");
  const headers = {
    ...found.head?.headers,
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-request-id": id,
    "request-id": id,
  };
  if (!found.goesOn && from === found.events) {
    const { "content-type": _, ...rest } = headers;
    return new Response(null, { status: 204, headers: rest });
  }
  if (request.method === "HEAD") return new Response(null, { headers });
  if (!state.inFlight.leavesConnections(key.id)) throw OVERLOADED;
  const reader = resumption.readers.enter(key.id, state.maxInFlight);
  if (reader === null) throw OVERLOADED;
  try {
    return followed(found, { from, headers, state, reader });
  } catch (thrown) {
    reader.leave();
    throw thrown;
  }
}

type Named = "Last-Event-ID" | "starting_after";

/** Number of the first event that the caller has not received, and what names the event before it. */
function firstWanted(
  { headers, url }: RequestContext["request"],
  id: string,
): { from: number; named: Named } {
  // A reconnecting browser (EventSource) sends this header, with the original URL.
  const header = headers.get("last-event-id");
  const named = header ? "Last-Event-ID" : "starting_after";
  const value = header || (url.includes("?") ? new URL(url).searchParams.get("starting_after") : null);
  if (!value) return { from: 0, named };
  const number = eventNumber(value, id);
  if (number === null) throw badPlace(named, `expected the id of an event of ${id}, as its \`id:\` gave it`);
  return { from: number + 1, named };
}

function badPlace(named: Named, what: string): Failure {
  if (named === "Last-Event-ID") return badHeader(named, what);
  return new Failure("validation_error", `Cannot read ${named}: ${what}.`, {
    param: named,
    errors: [{ type: "value_error", loc: ["query", named], msg: what }],
  });
}
