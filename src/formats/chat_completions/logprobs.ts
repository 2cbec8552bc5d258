/** Log probabilities of tokens, decoded and encoded. */
import { array, type Loose, number, object } from "../../exchange/json.ts";
import type { TokenLogprob } from "../../exchange/part.ts";

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
