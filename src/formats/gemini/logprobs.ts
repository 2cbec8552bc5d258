/** Decodes log probabilities (`logprobsResult`). */
import { array, isObject, type Loose, string } from "../../exchange/json.ts";
import type { TokenLogprob } from "../../exchange/part.ts";

/** Undefined: there are no tokens. */
export function decodeLogprobs(result: Loose): TokenLogprob[] | undefined {
  const chosen = array(result.chosenCandidates);
  if (chosen.length === 0) return undefined;
  const tops = array(result.topCandidates);
  return chosen.map((token, i) => {
    const top = isObject(tops[i]) ? array(tops[i].candidates) : [];
    return { ...decodeToken(token), top: top.map(decodeToken) };
  });
}

function decodeToken(candidate: unknown): { token: string; logprob: number } {
  const c = isObject(candidate) ? candidate : {};
  return {
    token: string(c.token) ?? "",
    logprob: typeof c.logProbability === "number" ? c.logProbability : 0,
  };
}
