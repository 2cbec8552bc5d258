/** Log probabilities of tokens, decoded and encoded. */
import { array, type Loose, number, object } from "../../exchange/json.ts";
import type { TokenLogprob } from "../../exchange/part.ts";

/**
 * Those of the text in a choice's `logprobs`; undefined: none. Together and Fireworks have the lists of the older completions
 * API: `tokens`, `token_logprobs`, and `top_logprobs`, whose entries have the tokens as keys.
 */
export function decodeTextLogprobs(logprobs: Loose): TokenLogprob[] | undefined {
  const { content, tokens, token_logprobs, top_logprobs } = logprobs;
  if (Array.isArray(content) || !Array.isArray(tokens)) return decodeLogprobs(content);
  return decodeLogprobs(tokens.map((token, i) => ({
    token,
    logprob: array(token_logprobs)[i],
    top_logprobs: Object.entries(object(array(top_logprobs)[i])).map(([token, logprob]) => ({
      token,
      logprob,
    })),
  })));
}

/** Undefined: none. */
export function decodeLogprobs(list: unknown): TokenLogprob[] | undefined {
  const found: TokenLogprob[] = [];
  for (const value of array(list)) {
    const entry = object(value);
    if (typeof entry.token !== "string") continue;
    const top = array(entry.top_logprobs).map(object).filter((other) => typeof other.token === "string");
    found.push({ ...tokenOf(entry), top: top.map(tokenOf) });
  }
  return found.length > 0 ? found : undefined;
}

function tokenOf(entry: Loose) {
  const { bytes } = entry;
  return {
    token: entry.token as string,
    logprob: number(entry.logprob) ?? 0,
    ...(bytes !== undefined &&
      { bytes: Array.isArray(bytes) && bytes.every(Number.isInteger) ? bytes : null }),
  };
}

/** Encodes one token. */
export function encodeLogprob(entry: TokenLogprob): Loose {
  return {
    token: entry.token,
    logprob: entry.logprob,
    bytes: entry.bytes ?? null,
    top_logprobs: entry.top.map((top) => ({
      token: top.token,
      logprob: top.logprob,
      bytes: top.bytes ?? null,
    })),
  };
}
