/**
 * A prompt without the proofs of its reasoning.
 *
 * A proof can be read only by the vendor, and sometimes the account or region, that issued it. After a call
 * has gone to another route, or the caller has changed the model, a provider of the same API gets proofs that
 * it cannot read, and rejects the request. Without them the model loses its earlier reasoning, but continues.
 */
import type { Content, Prompt } from "./prompt.ts";

/** Null: there is none. */
export function withoutProofs(prompt: Prompt): Prompt | null {
  if (!prompt.turns.some(({ content }) => content.some(hasProof))) return null;
  const turns = prompt.turns.map((turn) => ({ ...turn, content: turn.content.map(withoutProof) }));
  return { ...prompt, turns };
}

function hasProof(c: Content): boolean {
  return (c.type === "reasoning" || c.type === "call") && c.proof !== undefined;
}

function withoutProof(c: Content): Content {
  if (c.type === "call") {
    const { proof: _, ...call } = c;
    return call;
  }
  if (c.type !== "reasoning" || c.proof === undefined) return c;
  // Its text would be rejected too, as thinking without a signature. What stays tells that there was reasoning.
  const { proof: _, extra: __, ...reasoning } = c;
  return { ...reasoning, sections: [] };
}
