/** Readers of stored streams, and of complete answers that a repeated request joins. */
import type { Key } from "../../accounts/mod.ts";
import type { Failure } from "../../exchange/failure.ts";
import type { CallerFormatName } from "../../exchange/format_name.ts";
import { CALLER_FORMATS } from "../../formats/caller_formats.ts";
import {
  type Follower,
  type Found,
  interrupted,
  type Reader,
  type Resumption,
  WINDOW,
} from "../../resume/mod.ts";
import { PlainResponse } from "../../transport/plain_response.ts";
import type { RequestContext } from "../endpoint.ts";
import { followedBody } from "./followed_body.ts";
import { OVERLOADED } from "../gate.ts";

/** Null: the generation no longer exists, and its idempotency key is free. */
export async function join(
  { request, state }: RequestContext,
  { resumption, key, id }: { resumption: Resumption; key: Key; id: string },
): Promise<Response | null> {
  const { kit } = state;
  state.requestRates.take("read", key.id, kit.accounts.requestsPerMinute(key));
  if (!state.inFlight.leavesConnections(key.id)) throw OVERLOADED;
  const reader = resumption.readers.enter(key.id, state.maxInFlight);
  if (reader === null) throw OVERLOADED;
  let reads = false;
  try {
    kit.metrics.keptStream("joined");
    const found = await resumption.answered(id, key.id, () => request.signal.aborted);
    if (found === null || found.lost) return null;
    const { head } = found;
    if (head === null) throw interrupted();
    const headers = { ...head.headers, "x-svc-joined": "true" };
    if (head.body !== undefined) return new PlainResponse(head.body, { status: head.status, headers });
    if (found.streamed) {
      const response = followed(found, { from: 0, headers, state, reader });
      reads = true;
      return response;
    }
    const text = await reader.turn(() => wholeText(found, reader));
    if (text.length <= WINDOW) return new PlainResponse(text, { headers });
    reads = true;
    return new PlainResponse(followedBody(new TextFollower(text, reader), bodyOptions(found, 0, state)), {
      headers,
    });
  } finally {
    if (!reads) reader.leave();
  }
}

async function wholeText(found: Found, reader: Reader): Promise<string> {
  const follower = found.follow(0);
  let text = "";
  try {
    for (let next = await follower.next(); next !== null; next = await follower.next()) text += next;
  } finally {
    follower.leave();
  }
  if (!reader.hold(text.length)) throw OVERLOADED;
  return text;
}

/** Maximum readers of one stream on one node, since each event is written to each of them. */
const MOST_OF_A_STREAM = 64;

/** A stored stream from an event on. Throws {@link OVERLOADED}. */
export function followed(
  found: Found,
  { from, headers, state, reader }: {
    from: number;
    headers: Record<string, string>;
    state: RequestContext["state"];
    reader: Reader;
  },
): Response {
  if (found.followers >= MOST_OF_A_STREAM) throw OVERLOADED;
  const follower = found.follow(from);
  const leaving: Follower = {
    next: () => follower.next(),
    leave() {
      follower.leave();
      reader.leave();
    },
  };
  return new PlainResponse(followedBody(leaving, bodyOptions(found, from, state)), { headers });
}

function bodyOptions(found: Found, from: number, { keepAliveMs, kit: { ticker } }: RequestContext["state"]) {
  const format = CALLER_FORMATS[found.format as CallerFormatName];
  return {
    keepAliveMs,
    ticker,
    broken: (failure: Failure) => format.encodeBreak(failure, { id: found.id, sequence: from }),
  };
}

/** A long complete answer, delivered in pieces. */
class TextFollower implements Follower {
  #text: string;
  #at = 0;
  readonly #reader: Reader;

  constructor(text: string, reader: Reader) {
    this.#text = text;
    this.#reader = reader;
  }

  next(): Promise<string | null> {
    let end = this.#at + WINDOW;
    // Surrogate pairs are not split.
    if (/[\ud800-\udbff]/.test(this.#text[end - 1] ?? "")) end++;
    const piece = this.#text.slice(this.#at, end);
    this.#at = end;
    return Promise.resolve(piece === "" ? null : piece);
  }

  leave(): void {
    this.#text = "";
    this.#reader.leave();
  }
}
