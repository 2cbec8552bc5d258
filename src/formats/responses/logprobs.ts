/**
 * Log probabilities of tokens, decoded and encoded. Official clients drop entries without `bytes`, so missing
 * ones are computed.
 */
import { array, isObject, type Loose, number, string } from "../../exchange/json.ts";
import type { TokenLogprob } from "../../exchange/part.ts";

const UTF8 = new TextEncoder();

/** Undefined: none. */
export function decodeLogprobs(value: unknown): TokenLogprob[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const decoded: TokenLogprob[] = [];
  for (const entry of value) {
    const token = isObject(entry) ? decodeToken(entry) : undefined;
    if (token) {
      const top = array(entry.top_logprobs).filter(isObject).map(decodeToken).filter((t) => t !== undefined);
      decoded.push({ ...token, top });
    }
  }
  return decoded.length > 0 ? decoded : undefined;
}

function decodeToken(entry: Loose): Omit<TokenLogprob, "top"> | undefined {
  const token = string(entry.token);
  const logprob = number(entry.logprob);
  if (token === undefined || logprob === undefined) return undefined;
  const bytes = Array.isArray(entry.bytes) ? entry.bytes.filter((b) => Number.isInteger(b)) : undefined;
  return { token, logprob, ...(bytes && { bytes }) };
}

export function encodeLogprobs(logprobs: readonly TokenLogprob[] | undefined): Loose[] {
  return (logprobs ?? []).map((l) => ({ ...encodeToken(l), top_logprobs: l.top.map(encodeToken) }));
}

function encodeToken(l: { token: string; logprob: number; bytes?: number[] | null }): Loose {
  return { token: l.token, bytes: l.bytes ?? [...UTF8.encode(l.token)], logprob: l.logprob };
}
