/**
 * The event stream of one answer, as the source of a response body.
 *
 * Each pull reads the run until there is something to write. While the run is awaited, a keep-alive is written at each interval; while
 * the caller is awaited, a caller who takes nothing for {@link STALL_MS} is treated as disconnected. The run of a disconnected caller
 * continues, because the provider bills it, but only for {@link DRAIN_MS}.
 */
import { type BodySink, type BodySource, PulledBody } from "../transport/pulled_body.ts";
import { JoinedBytes } from "../transport/text_bytes.ts";
import { Failure } from "../exchange/failure.ts";
import type { Part } from "../exchange/part.ts";
import type { CallerFormat, EncodeAnswer, StreamEncoder } from "../formats/format.ts";
import type { Parts } from "../pipeline/call.ts";
import type { Deadline, Ticker } from "../timing/ticker.ts";

/** What a streamed answer needs. */
export interface StreamDelivery {
  format: CallerFormat;
  parts: Parts;
  context: EncodeAnswer;
  keepAliveMs: number;
  ticker: Ticker;
  /** Called when the caller disconnects. `end` makes the run end early, at its next read. */
  left(end: () => void): void;
  /** Called when the run is over, whether or not the caller is still connected. */
  over(): void;
}

export type Step = IteratorResult<readonly Part[]>;

/** How long a run continues after its caller disconnected, in milliseconds. Usage up to then is recorded. */
export const DRAIN_MS = 600_000;
/** A caller who reads nothing for this long, in milliseconds, is treated as disconnected. */
export const STALL_MS = 600_000;

const encoder = new TextEncoder();
const joined = new JoinedBytes();

/** The streams to callers that have not ended. */
const live = new Set<AnswerStream>();

/** Ends all streams to callers with the format's error event. The runs themselves continue. */
export function failStreams(failure: Failure): void {
  for (const stream of [...live]) stream.fail(failure);
}

/**
 * The body of a streamed answer.
 *
 * @param first the first step of the run
 * @param begun the same step, if it has arrived; null: it has not, so a keep-alive is written at once
 */
export function answerBody(delivery: StreamDelivery, first: Promise<Step>, begun: Step | null): PulledBody {
  return new PulledBody(new AnswerStream(delivery, first, begun));
}

class AnswerStream implements BodySource {
  readonly #delivery: StreamDelivery;
  readonly #frames: StreamEncoder;
  readonly #deadline: Deadline;
  #sink!: BodySink;
  /** A step that was requested before the first pull. */
  #next: Promise<Step> | undefined;
  /** Written at the start, and then released: the stream may last long and this may be large. */
  #opening: Step | null;
  #pulling: Promise<void> = Promise.resolve();
  #ended = false;
  #disconnected = false;
  /** Whether bytes wait for the caller; otherwise the run is awaited. */
  #written = false;
  /** A direct write that has not ended; null: none. */
  #passing: Promise<void> | null = null;

  constructor(delivery: StreamDelivery, first: Promise<Step>, begun: Step | null) {
    this.#delivery = delivery;
    this.#frames = delivery.format.encodeStream(delivery.context);
    this.#deadline = delivery.ticker.deadline(this.#late);
    this.#next = begun === null ? first : undefined;
    this.#opening = begun;
    delivery.parts.sendDeltasTo?.(this.#sendDirectly);
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    live.add(this);
    const opening = this.#opening;
    if (opening === null) return this.#write(this.#delivery.format.keepAlive);
    this.#opening = null;
    try {
      this.#take(opening);
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  pull(): Promise<void> {
    return this.#pulling = this.#advance();
  }

  /** The caller disconnected: reads the run to its end, or until the drain time is over. */
  async cancel(): Promise<void> {
    const { ticker, parts } = this.#delivery;
    this.#disconnected = true;
    live.delete(this);
    let patient = true;
    this.#delivery.left(() => patient = false);
    this.#deadline.close();
    const bound = ticker.deadline(() => patient = false);
    bound.arm(DRAIN_MS);
    await this.#pulling;
    while (!this.#ended && patient) await this.#advance();
    bound.close();
    if (this.#ended) return;
    await parts.return(undefined).catch(() => {});
    this.#end();
  }

  /** Ends the stream with the format's error event. */
  fail(thrown: unknown): void {
    if (this.#ended) return;
    this.#end();
    const report = () => {
      if (this.#disconnected) return;
      this.#write(this.#frames.fail(Failure.from(thrown)));
      this.#sink.close();
    };
    // Otherwise the event could be written into the middle of a chunk.
    if (this.#passing === null) report();
    else void this.#passing.then(report);
  }

  #write(text: string): void {
    if (text !== "" && !this.#disconnected) this.#sink.enqueue(encoder.encode(text));
  }

  #end(): void {
    this.#ended = true;
    live.delete(this);
    this.#deadline.close();
    this.#delivery.over();
  }

  readonly #late = (): void => {
    if (this.#written) {
      this.#sink.error(new Error("The caller takes nothing."));
      void this.cancel();
      return;
    }
    this.#write(this.#delivery.format.keepAlive);
    this.#deadline.arm(this.#delivery.keepAliveMs);
  };

  #awaitCaller(): void {
    this.#written = true;
    this.#deadline.arm(STALL_MS);
  }

  #awaitRun(): void {
    this.#written = false;
    this.#deadline.arm(this.#delivery.keepAliveMs);
  }

  /** True: something was written, or the run has ended. */
  #take({ value, done }: Step): boolean {
    if (this.#ended) return true;
    const frames = this.#frames;
    if (!done && frames.encodeText?.(value, joined) === true) {
      const bytes = joined.take();
      if (!this.#disconnected) this.#sink.enqueue(bytes);
      this.#awaitCaller();
      return true;
    }
    const text = done ? frames.end() : frames.encode(value);
    this.#write(text);
    if (done) {
      this.#end();
      if (!this.#disconnected) this.#sink.close();
      return true;
    }
    if (text === "" && !this.#disconnected) return false;
    this.#awaitCaller();
    return true;
  }

  /** Reads until there is something to write. */
  async #advance(): Promise<void> {
    this.#awaitRun();
    try {
      while (!this.#take(await (this.#next ?? this.#delivery.parts.next()))) this.#next = undefined;
      this.#next = undefined;
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  /** Writes deltas to the connection without a step of the run; null: not possible at present. */
  readonly #sendDirectly = (batch: readonly Part[]): Promise<void> | null => {
    if (this.#disconnected) return null;
    const { direct } = this.#sink;
    if (direct === null || this.#frames.encodeText?.(batch, joined) !== true) return null;
    this.#awaitCaller();
    return this.#passing = direct(joined.take(), this.#taken);
  };

  /** The caller has taken the bytes of a direct write. */
  readonly #taken = (): void => {
    this.#passing = null;
    if (this.#ended) this.#written = false;
    else this.#awaitRun();
  };
}
