/**
 * Names of the request's fields that hold something only another format understands, for `x-svc-dropped`: blocks and items
 * without a word in the vocabulary, provider tools, and a choice among no tools.
 */
import type { Content, FormatName, Prompt } from "../exchange/prompt.ts";

/** @param format the provider's */
export function foreignFields(prompt: Prompt, format: FormatName): string[] {
  const names: string[] = [...prompt.passedOver ?? []];
  if (prompt.tools.some((tool) => tool.kind === "opaque" && tool.format !== format)) names.push("tools");
  const foreign = (content: readonly Content[]): boolean =>
    content.some((c) =>
      c.type === "opaque" ? c.format !== format && !c.told : c.type === "result" && foreign(c.content)
    );
  if (prompt.turns.some((turn) => foreign(turn.content))) {
    names.push(prompt.format === "responses" ? "input" : "messages");
  }
  const { type } = prompt.toolChoice ?? {};
  const tools = prompt.tools.some((tool) => tool.kind !== "opaque" || tool.format === format);
  if (prompt.format !== format && !tools && type !== undefined && type !== "auto" && type !== "none") {
    names.push("tool_choice");
  }
  return names;
}
