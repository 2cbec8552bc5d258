/** Checks that log probabilities contain nothing but the text that they belong to. */
import type { TokenLogprob } from "../exchange/part.ts";

/** Lower bound of plausible log probabilities. */
const LEAST_LOGPROB = -1e6;
/** Alternative tokens that cannot contain a value. */
const PLAIN_TOKEN = /^(?!(?:.*\d){4})[^@]{0,32}$/su;

/** Whether the tokens form exactly the text. */
export function spells(logprobs: readonly TokenLogprob[], text: string): boolean {
  let at = 0;
  for (const { token, logprob, bytes, top } of logprobs) {
    if (!text.startsWith(token, at) || !isPlain({ token, logprob, bytes })) return false;
    if (!top.every((one) => one.token === token || isPlain(one) && PLAIN_TOKEN.test(one.token))) return false;
    at += token.length;
  }
  return at === text.length;
}

/**
 * The bytes of an ASCII token must be its characters; those of other tokens, which may be part of a
 * character, must be valid bytes of at most its length.
 */
function isPlain({ token, logprob, bytes }: Omit<TokenLogprob, "top">): boolean {
  if (logprob > 0 || logprob < LEAST_LOGPROB) return false;
  if (!bytes) return true;
  if (bytes.length > 3 * token.length + 4) return false;
  const wide = /[^\0-\x7f]|\\x/.test(token);
  return bytes.every((byte, i) => wide ? byte >= 0 && byte < 256 : byte === token.charCodeAt(i));
}
