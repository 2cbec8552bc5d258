/** Attaches proofs of reasoning (signatures, encrypted content) to the tool calls that they belong to. */
import type { Turn } from "./prompt.ts";
import type { Proof } from "./proof.ts";

/**
 * Moves proofs that refer to a call to that call. They are transferred as separate reasoning blocks, because
 * clients drop unknown fields of a tool call but keep reasoning. Reasoning with neither text nor proof is
 * removed.
 */
export function attachProofs(turns: Turn[]): Turn[] {
  const byCall = new Map<string, Proof>();
  for (const turn of turns) {
    for (const c of turn.content) {
      if (c.type === "reasoning" && c.proof?.call) byCall.set(c.proof.call, c.proof);
    }
  }
  if (byCall.size === 0) return turns;
  const attached: Turn[] = [];
  for (const turn of turns) {
    const content: Turn["content"] = [];
    for (const c of turn.content) {
      if (c.type === "reasoning" && c.proof?.call) {
        if (c.sections.length > 0) content.push({ ...c, proof: undefined });
      } else if (c.type === "call" && byCall.has(c.id)) content.push({ ...c, proof: byCall.get(c.id) });
      else if (c.type === "opaque" && c.as?.type === "call" && byCall.has(c.as.id)) {
        content.push({ ...c, as: { ...c.as, proof: byCall.get(c.as.id) } });
      } else content.push(c);
    }
    if (content.length > 0 || turn.content.length === 0) attached.push({ ...turn, content });
  }
  return attached;
}
