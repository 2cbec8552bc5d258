/** Log probabilities of tokens (`logprobsResult`). */
import { array, isObject, type Loose, string } from "../../exchange/json.ts";
import type { TokenLogprob } from "../../exchange/part.ts";

export function decodeLogprobs(result: Loose): TokenLogprob[] {
  const tops = array(result.topCandidates);
  return array(result.chosenCandidates).map((chosen, i) => {
    const top = isObject(tops[i]) ? array(tops[i].candidates) : [];
    return { ...decodeToken(chosen), top: top.map(decodeToken) };
  });
}

function decodeToken(candidate: unknown): { token: string; logprob: number } {
  const c = isObject(candidate) ? candidate : {};
  return {
    token: string(c.token) ?? "",
    logprob: typeof c.logProbability === "number" ? c.logProbability : 0,
  };
}
