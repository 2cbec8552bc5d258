/** The worker of `counter.ts`: returns the total number of tokens of the given texts. */
import { tokenCounter } from "./tokenizer.ts";

export interface TokenJob {
  id: number;
  texts: readonly string[];
}

export interface TokenAnswer {
  id: number;
  tokens: number;
  /** Duration in milliseconds. */
  ms: number;
}

/** Declared by hand because the program's types are those of the main thread, whose `self` differs. */
declare const self: {
  onmessage: (event: { data: TokenJob }) => void;
  postMessage(answer: TokenAnswer): void;
};

const counter = tokenCounter();

self.onmessage = async ({ data: { id, texts } }) => {
  const count = await counter;
  const begun = performance.now();
  let tokens = 0;
  for (const text of texts) tokens += count(text);
  self.postMessage({ id, tokens, ms: performance.now() - begun });
};
