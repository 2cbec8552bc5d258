/** The parts of an answer that is not streamed: read one by one or, at lower cost, passed to a callback. */
import type { Part } from "../../exchange/part.ts";

export type BatchSink = (batch: readonly Part[]) => void;

export class WholeParts implements AsyncGenerator<readonly Part[]> {
  readonly #deliverAll: (took: BatchSink) => Promise<void>;
  readonly #oneByOne: () => AsyncGenerator<readonly Part[]>;
  #parts: AsyncGenerator<readonly Part[]> | null = null;

  /** Only one of the two is ever called. */
  constructor(
    deliverAll: (took: BatchSink) => Promise<void>,
    oneByOne: () => AsyncGenerator<readonly Part[]>,
  ) {
    this.#deliverAll = deliverAll;
    this.#oneByOne = oneByOne;
  }

  /** Runs the call to its end. Instead of reading them one by one. */
  deliverAll(took: BatchSink): Promise<void> {
    return this.#deliverAll(took);
  }

  next(): Promise<IteratorResult<readonly Part[]>> {
    return this.#begun().next();
  }

  return(value: unknown): Promise<IteratorResult<readonly Part[]>> {
    return this.#begun().return(value);
  }

  throw(thrown: unknown): Promise<IteratorResult<readonly Part[]>> {
    return this.#begun().throw(thrown);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return(undefined);
  }

  #begun(): AsyncGenerator<readonly Part[]> {
    return this.#parts ??= this.#oneByOne();
  }
}

/** Passes all batches to a callback, in the cheapest way available. */
export function deliverAll(parts: AsyncGenerator<readonly Part[]>, took: BatchSink): Promise<void> {
  return parts instanceof WholeParts ? parts.deliverAll(took) : deliverEach(parts, took);
}

async function deliverEach(parts: AsyncGenerator<readonly Part[]>, took: BatchSink): Promise<void> {
  for await (const batch of parts) took(batch);
}
