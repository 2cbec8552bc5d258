/** The response body for a follower of a stored stream. */
import { Failure } from "../../exchange/failure.ts";
import type { Follower } from "../../resume/follower.ts";
import type { Ticker } from "../../timing/ticker.ts";
import { STALL_MS } from "../answer_stream.ts";

export interface FollowedOptions {
  keepAliveMs: number;
  ticker: Ticker;
  /** The text that ends a stream which cannot be continued, in its format. */
  broken(failure: Failure): string;
  /** Text that was already read; null: none. */
  ahead?: string | null;
}

const encoder = new TextEncoder();
/** An SSE comment: not an event, so it needs no id. */
const SILENCE = ": keep-alive\n\n";

/**
 * A body that contains the stored part of a stream, then new events until its end or until the reader
 * disconnects.
 */
export function followedBody(
  follower: Follower,
  { keepAliveMs, ticker, broken, ahead = null }: FollowedOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let sink: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  let waits = false;
  let over = false;
  const write = (text: string) => void (over || sink.enqueue(encoder.encode(text)));
  const leave = () => {
    over = true;
    deadline.close();
    follower.leave();
  };
  const deadline = ticker.deadline(() => {
    if (waits) {
      write(SILENCE);
      return deadline.arm(keepAliveMs);
    }
    leave();
    sink.error(new Error("The caller takes nothing."));
  });

  async function next(): Promise<void> {
    waits = true;
    deadline.arm(keepAliveMs);
    let text: string | null;
    let ends = false;
    try {
      text = ahead ?? await follower.next();
      ahead = null;
    } catch (thrown) {
      if (!(thrown instanceof Failure)) {
        // The store is unavailable, or this process is shutting down. The connection is cut without an end
        // event, so that the client reconnects, possibly to another node.
        leave();
        return sink.error(thrown);
      }
      text = broken(thrown);
      ends = true;
    }
    waits = false;
    if (over) return;
    if (text !== null) write(text);
    if (text !== null && !ends) return deadline.arm(STALL_MS);
    leave();
    sink.close();
  }

  return new ReadableStream({
    start: (controller) => void (sink = controller),
    pull: next,
    cancel: leave,
  }, { highWaterMark: 0 });
}
