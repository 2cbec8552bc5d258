/** Whether log probabilities say no more than the text that they are of. */
import type { TokenLogprob } from "../exchange/part.ts";

/** Numbers below it are probabilities; others are no logarithm of one. */
const LEAST_LOGPROB = -1e6;
/** Alternatives to a token that say nothing by themselves. */
const PLAIN_TOKEN = /^(?!(?:.*\d){4})[^@]{0,32}$/su;

/** Whether tokens are those of a text and nothing else. */
export function spells(logprobs: readonly TokenLogprob[], text: string): boolean {
  let at = 0;
  for (const { token, logprob, bytes, top } of logprobs) {
    if (!text.startsWith(token, at) || !isPlain({ token, logprob, bytes })) return false;
    if (!top.every((one) => one.token === token || isPlain(one) && PLAIN_TOKEN.test(one.token))) return false;
    at += token.length;
  }
  return at === text.length;
}

/** Bytes of a token of ASCII are its letters; of others, a part of a character among them, they are bytes and no more than it has. */
function isPlain({ token, logprob, bytes }: Omit<TokenLogprob, "top">): boolean {
  if (logprob > 0 || logprob < LEAST_LOGPROB) return false;
  if (!bytes) return true;
  if (bytes.length > 3 * token.length + 4) return false;
  const wide = /[^\0-\x7f]|\\x/.test(token);
  return bytes.every((byte, i) => wide ? byte >= 0 && byte < 256 : byte === token.charCodeAt(i));
}
