/**
 * Turns a run into a Response, and lets the run finish after its caller has disconnected.
 *
 * The status is sent after the first batch of parts, so that an early failure has its own status. If the provider sends nothing within the
 * keep-alive interval, the status 200 is sent, and a later failure becomes the format's error event. When the caller disconnects, the run
 * continues, because the provider bills it, but only for a limited time.
 */
import { HeldBody } from "../transport/held_body.ts";
import { PlainResponse } from "../transport/plain_response.ts";
import { type BodySink, PulledBody } from "../transport/pulled_body.ts";
import { JoinedBytes } from "../transport/text_bytes.ts";
import { Collector } from "../exchange/answer.ts";
import { Failure } from "../exchange/failure.ts";
import { jsonPieces } from "../exchange/json_pieces.ts";
import type { Part } from "../exchange/part.ts";
import type { CallerFormat, EncodeAnswer } from "../formats/format.ts";
import type { Parts } from "../pipeline/call.ts";
import { deliverAll } from "../pipeline/whole_parts.ts";
import type { Ticker } from "../timing/ticker.ts";

export interface Delivery {
  format: CallerFormat;
  parts: Parts;
  context: EncodeAnswer;
  /** Read when the status is sent; the caller may add headers to the object. */
  headers(): Record<string, string>;
  /**
   * The scheduler for work on the whole answer in slices; null: the answer is short. Called once the answer
   * is complete.
   */
  large(): (<T>(work: Generator<void, T>) => Promise<T>) | null;
  keepAliveMs: number;
  ticker: Ticker;
  /** Called when the caller disconnects. `end` makes the run end early, at its next read. */
  left(end: () => void): void;
  /** Called when the run is over, whether or not the caller is still connected. */
  over(): void;
}

/** How long a run continues after its caller disconnected, in milliseconds. Usage up to then is recorded. */
export const DRAIN_MS = 600_000;
/** A caller who reads nothing for this long, in milliseconds, is treated as disconnected. */
export const STALL_MS = 600_000;

/** For each stream to a caller, a function that ends it with a failure. */
const live = new Set<(failure: Failure) => void>();

/** Ends all streams to callers with the format's error event. The runs themselves continue. */
export function failStreams(failure: Failure): void {
  for (const fail of [...live]) fail(failure);
}

const encoder = new TextEncoder();
const joined = new JoinedBytes();

/**
 * Sends the answer as one body. Rejects if the run fails.
 *
 * @param onText receives the text piece by piece
 */
export async function respondWhole(
  delivery: Delivery,
  onText: (piece: string) => void = () => {},
): Promise<Response> {
  try {
    const collector = new Collector();
    await deliverAll(delivery.parts, (batch) => collector.add(batch));
    const { answer } = collector;
    const { format, context } = delivery;
    const run = delivery.large();
    const body = run
      ? await run(written(() => format.encodeAnswer(answer, context), onText))
      : format.writeAnswer?.(answer, context) ?? JSON.stringify(format.encodeAnswer(answer, context));
    const headers = delivery.headers();
    headers["content-type"] = "application/json";
    if (typeof body === "string") onText(body);
    else headers["content-length"] = String(body.length);
    return new PlainResponse(body, { headers });
  } finally {
    delivery.over();
  }
}

/** Pieces written before other tasks may run. */
const PIECES = 16;

function* written(encode: () => unknown, onText: (piece: string) => void): Generator<void, HeldBody> {
  const answer = encode();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (const piece of jsonPieces(answer)) {
    onText(piece);
    pieces.push(encoder.encode(piece));
    if (pieces.length % PIECES === 0) yield;
  }
  yield;
  return new HeldBody(pieces);
}

/** Sends an event stream. Rejects if the run fails before its first part, unless a keep-alive was sent before. */
export async function respondStream(delivery: Delivery): Promise<Response> {
  const { first, begun } = await firstStep(delivery);
  return new PlainResponse(stream(delivery, first, begun), { headers: streamHeaders(delivery) });
}

/** The headers of a streamed answer. */
export function streamHeaders(delivery: Delivery): Record<string, string> {
  return {
    ...delivery.headers(),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
  };
}

export interface FirstStep {
  first: Promise<Step>;
  /** The first step; null: nothing has arrived yet. */
  begun: Step | null;
}

/** Waits for the first batch, at most as long as a stream may be silent. Rejects with an early failure. */
export async function firstStep(
  { parts, keepAliveMs, ticker, over }: Pick<Delivery, "parts" | "keepAliveMs" | "ticker" | "over">,
): Promise<FirstStep> {
  const first = parts.next();
  let silent = false;
  await new Promise<void>((resolve) => {
    const deadline = ticker.deadline(() => {
      silent = true;
      resolve();
    });
    deadline.arm(keepAliveMs);
    const done = () => {
      deadline.close();
      resolve();
    };
    first.then(done, done);
  });
  const begun = silent ? null : await first.catch((thrown) => {
    over();
    throw thrown;
  });
  return { first, begun };
}

type Step = IteratorResult<readonly Part[]>;

/** @param begun the first step; null: nothing has arrived yet */
function stream(
  delivery: Delivery,
  first: Promise<Step>,
  begun: Step | null,
): PulledBody {
  const { format, parts, ticker, keepAliveMs } = delivery;
  const frames = format.encodeStream(delivery.context);
  let next = begun === null ? first : undefined;
  /** Released after use, since the stream may last long and this may be large. */
  let opening = begun;
  let pulling: Promise<void> = Promise.resolve();
  let ended = false;
  let disconnected = false;
  let written = false;
  /** A direct write that has not ended; null: none. */
  let passing: Promise<void> | null = null;
  let sink: BodySink;

  const write = (text: string) => {
    if (text !== "" && !disconnected) sink.enqueue(encoder.encode(text));
  };
  /**
   * While the run is awaited, this triggers a keep-alive; while the caller is awaited, it detects a stalled
   * caller.
   */
  const deadline = ticker.deadline(() => {
    if (written) {
      sink.error(new Error("The caller takes nothing."));
      void leave();
      return;
    }
    write(format.keepAlive);
    deadline.arm(keepAliveMs);
  });
  const end = () => {
    ended = true;
    live.delete(fail);
    deadline.close();
    delivery.over();
  };

  /** True: something was written, or the run has ended. */
  function take({ value, done }: Step): boolean {
    if (ended) return true;
    if (!done && frames.encodeText?.(value, joined) === true) {
      const bytes = joined.take();
      if (!disconnected) sink.enqueue(bytes);
      written = true;
      deadline.arm(STALL_MS);
      return true;
    }
    const text = done ? frames.end() : frames.encode(value);
    write(text);
    if (done) {
      end();
      if (!disconnected) sink.close();
      return true;
    }
    if (text === "" && !disconnected) return false;
    written = true;
    deadline.arm(STALL_MS);
    return true;
  }

  function fail(thrown: unknown): void {
    if (ended) return;
    end();
    const report = () => {
      if (disconnected) return;
      write(frames.fail(Failure.from(thrown)));
      sink.close();
    };
    // Otherwise the event could be written into the middle of a chunk.
    if (passing === null) report();
    else void passing.then(report);
  }

  /** Reads until there is something to write. */
  async function advance(): Promise<void> {
    written = false;
    deadline.arm(keepAliveMs);
    try {
      while (!take(await (next ?? parts.next()))) next = undefined;
      next = undefined;
    } catch (thrown) {
      fail(thrown);
    }
  }

  /** The caller has taken bytes that were written directly to the connection. */
  const taken = () => {
    passing = null;
    written = false;
    if (!ended) deadline.arm(keepAliveMs);
  };
  parts.sendDeltasTo?.((batch) => {
    const { direct } = sink;
    if (disconnected || direct === null || frames.encodeText?.(batch, joined) !== true) return null;
    written = true;
    deadline.arm(STALL_MS);
    return passing = direct(joined.take(), taken);
  });

  /** The caller disconnected: reads the run to its end, or until the drain time is over. */
  async function leave(): Promise<void> {
    disconnected = true;
    live.delete(fail);
    let patient = true;
    delivery.left(() => patient = false);
    deadline.close();
    const bound = ticker.deadline(() => patient = false);
    bound.arm(DRAIN_MS);
    await pulling;
    while (!ended && patient) await advance();
    bound.close();
    if (ended) return;
    await parts.return(undefined).catch(() => {});
    end();
  }

  return new PulledBody({
    start(body) {
      sink = body;
      live.add(fail);
      if (opening === null) return write(format.keepAlive);
      const step = opening;
      opening = null;
      try {
        take(step);
      } catch (thrown) {
        fail(thrown);
      }
    },
    pull() {
      pulling = advance();
      return pulling;
    },
    cancel: leave,
  });
}
