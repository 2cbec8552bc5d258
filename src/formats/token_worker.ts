/** The thread of `token_counter.ts`: how many tokens the texts have that it is sent, all together. */
import { tokenCounter } from "./tokens.ts";

export interface TokenJob {
  id: number;
  texts: readonly string[];
}

export interface TokenAnswer {
  id: number;
  tokens: number;
  /** How long that took, in milliseconds. */
  ms: number;
}

/** The program's types are those of the main thread, whose `self` differs. */
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
