/** The parts of an answer while they pass the meter. */
import type { Part } from "../exchange/part.ts";
import type { DeltaSink, Parts } from "./call.ts";

interface Counter {
  /** The parts to pass on. */
  take(batch: readonly Part[]): readonly Part[];
  /** Parts to add at the end because the provider did not send them; null: none. */
  rest(): readonly Part[] | null;
  /** All parts have been passed on. */
  finish(): void;
  /** The answer failed with this error. */
  failed(thrown: unknown): Error;
  /** Resolves when the record is durable. */
  settle(): Promise<void>;
}

type Step = IteratorResult<readonly Part[]>;

/** Not an async generator, which would need three more promises for each batch. Batches must be requested one after the other. */
export class MeteredParts implements Parts {
  readonly #parts: AsyncGenerator<readonly Part[]>;
  readonly #meter: Counter;
  readonly #pass: ((deltaSink: DeltaSink) => void) | null;
  #begun = false;
  /** The provider's parts have ended, and missing parts were added. */
  #restGiven = false;
  #over = false;

  /** @param pass sets the callback of the fast path for text deltas; null: not available */
  constructor(
    parts: AsyncGenerator<readonly Part[]>,
    meter: Counter,
    pass: ((deltaSink: DeltaSink) => void) | null = null,
  ) {
    this.#parts = parts;
    this.#meter = meter;
    this.#pass = pass;
  }

  sendDeltasTo(deltaSink: DeltaSink): void {
    this.#pass?.((batch) => {
      const passed = deltaSink(batch);
      if (passed !== null) this.#meter.take(batch);
      return passed;
    });
  }

  next(): Promise<Step> {
    if (this.#over) return Promise.resolve({ done: true, value: undefined });
    this.#begun = true;
    return this.#restGiven ? this.#finish() : this.#parts.next().then(this.#came, this.#threw);
  }

  readonly #came = (step: Step): Step | Promise<Step> => {
    if (step.done) return this.#ended();
    try {
      return { done: false, value: this.#meter.take(step.value) };
    } catch (thrown) {
      return this.#broke(thrown);
    }
  };

  readonly #threw = async (thrown: unknown): Promise<never> => {
    this.#over = true;
    try {
      throw this.#meter.failed(thrown);
    } finally {
      await this.#meter.settle();
    }
  };

  async #broke(thrown: unknown): Promise<never> {
    await this.#parts.return(undefined).catch(() => {});
    return await this.#threw(thrown);
  }

  #ended(): Step | Promise<Step> {
    let rest: readonly Part[] | null;
    try {
      rest = this.#meter.rest();
    } catch (thrown) {
      return this.#threw(thrown);
    }
    this.#restGiven = true;
    return rest === null ? this.#finish() : { done: false, value: rest };
  }

  async #finish(): Promise<Step> {
    this.#over = true;
    this.#meter.finish();
    await this.#meter.settle();
    return { done: true, value: undefined };
  }

  /** Ends the call early. */
  async return(value: unknown): Promise<Step> {
    const over = this.#over;
    this.#over = true;
    if (this.#begun && !over) {
      try {
        await this.#parts.return(undefined);
      } catch (thrown) {
        throw this.#meter.failed(thrown);
      } finally {
        await this.#meter.settle();
      }
    }
    return { done: true, value };
  }

  async throw(thrown: unknown): Promise<Step> {
    await this.return(undefined);
    throw thrown;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return(undefined);
  }
}
