/** What a follower of a stream reads, as the body of a response. */
import { Failure } from "../exchange/failure.ts";
import type { Follower } from "../resume/follower.ts";
import type { Ticker } from "../timing/ticker.ts";
import { STALL_MS } from "./respond.ts";

export interface FollowedOptions {
  keepAliveMs: number;
  ticker: Ticker;
  /** The end of a stream that cannot be gone on with, as its format has it. */
  broken(failure: Failure): string;
  /** What has been read ahead; null: nothing. */
  ahead?: string | null;
}

const encoder = new TextEncoder();
/** No event, and so without an id, in every format. */
const SILENCE = ": keep-alive\n\n";

/** A body that gives out what is kept of a stream, and then what comes, until its end or until its reader leaves. */
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
        // The store is away, or this process ends: the caller may come back to another, and so must not see an end.
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
