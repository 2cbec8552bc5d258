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
import { tellAll } from "../pipeline/whole_parts.ts";
import type { Ticker } from "../timing/ticker.ts";

export interface Delivery {
  format: CallerFormat;
  parts: Parts;
  context: EncodeAnswer;
  /** Read when the status goes out; whoever reads them may add to them. */
  headers(): Record<string, string>;
  /** Does what is done with all of an answer in slices; null: it is short. Asked once all of it is there. */
  large(): (<T>(work: Generator<void, T>) => Promise<T>) | null;
  keepAliveMs: number;
  ticker: Ticker;
  /** The caller has left. `end` makes the run end with what it reads next, before its time. */
  left(end: () => void): void;
  /** The run is over, whoever still listens. */
  over(): void;
}

/** How long a run goes on for a caller who has left, in milliseconds. What it used by then is recorded. */
export const DRAIN_MS = 600_000;
/** A caller who takes nothing for so long, in milliseconds, has left, whatever the connection says. */
export const STALL_MS = 600_000;

/** Of each stream that goes to a caller: what ends it with a failure. */
const live = new Set<(failure: Failure) => void>();

/** Ends all streams that go to callers with the format's error event. What runs behind them is left as it is. */
export function failStreams(failure: Failure): void {
  for (const fail of [...live]) fail(failure);
}

const encoder = new TextEncoder();
const joined = new JoinedBytes();

/**
 * The whole answer in one body. Throws what the run throws.
 *
 * @param told its text, piece by piece
 */
export async function respondWhole(
  delivery: Delivery,
  told: (piece: string) => void = () => {},
): Promise<Response> {
  try {
    const collector = new Collector();
    await tellAll(delivery.parts, (batch) => collector.add(batch));
    const { answer } = collector;
    const { format, context } = delivery;
    const run = delivery.large();
    const body = run
      ? await run(written(() => format.encodeAnswer(answer, context), told))
      : format.writeAnswer?.(answer, context) ?? JSON.stringify(format.encodeAnswer(answer, context));
    const headers = delivery.headers();
    headers["content-type"] = "application/json";
    if (typeof body === "string") told(body);
    else headers["content-length"] = String(body.length);
    return new PlainResponse(body, { headers });
  } finally {
    delivery.over();
  }
}

/** Pieces that are written before others have their turn. */
const PIECES = 16;

function* written(encode: () => unknown, told: (piece: string) => void): Generator<void, HeldBody> {
  const answer = encode();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (const piece of jsonPieces(answer)) {
    told(piece);
    pieces.push(encoder.encode(piece));
    if (pieces.length % PIECES === 0) yield;
  }
  yield;
  return new HeldBody(pieces);
}

/** An event stream. Throws what the run throws before its first part, unless that comes after a keep-alive. */
export async function respondStream(delivery: Delivery): Promise<Response> {
  const { first, begun } = await firstStep(delivery);
  return new PlainResponse(stream(delivery, first, begun), { headers: streamHeaders(delivery) });
}

/** Headers of an answer that is streamed. */
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
  /** Null: nothing has come yet. */
  begun: Step | null;
}

/** Waits for what comes first, for as long as a stream may be silent. Throws the early refusal. */
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

/** @param begun what came first; null: nothing has come yet */
function stream(
  delivery: Delivery,
  first: Promise<Step>,
  begun: Step | null,
): PulledBody {
  const { format, parts, ticker, keepAliveMs } = delivery;
  const frames = format.encodeStream(delivery.context);
  let next = begun === null ? first : undefined;
  /** Not kept for as long as the stream goes on: it may be large. */
  let opening = begun;
  let pulling: Promise<void> = Promise.resolve();
  let ended = false;
  let gone = false;
  let written = false;
  let sink: BodySink;

  const write = (text: string) => {
    if (text !== "" && !gone) sink.enqueue(encoder.encode(text));
  };
  /** While the provider is waited for: silence. While the caller is: a caller who takes nothing. */
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

  /** True: there was something to write, or nothing more will come. */
  function take({ value, done }: Step): boolean {
    if (ended) return true;
    if (!done && frames.encodeText?.(value, joined) === true) {
      const bytes = joined.take();
      if (!gone) sink.enqueue(bytes);
      written = true;
      deadline.arm(STALL_MS);
      return true;
    }
    const text = done ? frames.end() : frames.encode(value);
    write(text);
    if (done) {
      end();
      if (!gone) sink.close();
      return true;
    }
    if (text === "" && !gone) return false;
    written = true;
    deadline.arm(STALL_MS);
    return true;
  }

  function fail(thrown: unknown): void {
    if (ended) return;
    end();
    if (gone) return;
    write(frames.fail(Failure.from(thrown)));
    sink.close();
  }

  /** Reads on until there is something to write. */
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

  /** The caller has taken what was written past the stages. */
  const taken = () => {
    written = false;
    deadline.arm(keepAliveMs);
  };
  parts.shorten?.((batch) => {
    const { direct } = sink;
    if (gone || direct === null || frames.encodeText?.(batch, joined) !== true) return null;
    written = true;
    deadline.arm(STALL_MS);
    return direct(joined.take(), taken);
  });

  /** The caller has left: the run is read to its end, or to the end of patience. */
  async function leave(): Promise<void> {
    gone = true;
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
