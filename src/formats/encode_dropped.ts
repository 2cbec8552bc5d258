/**
 * Names of the request's fields that hold something only another format understands, for `x-svc-dropped`: blocks and items
 * without a word in the vocabulary, provider tools, and a choice among no tools.
 */
import { isObject } from "../exchange/json.ts";
import type { Content, FormatName, Prompt } from "../exchange/prompt.ts";
import { lostInside } from "./lost_fields.ts";

/** Names of fields that the caller's format does not have. `store: false` is not lost: nothing is stored anywhere. */
export function unknownFieldNames({ unknown }: Prompt): string[] {
  const names = Object.keys(unknown);
  return unknown.store === false ? names.filter((name) => name !== "store") : names;
}

/**
 * @param format the provider's
 * @param cites whether the model cites search results, where not its format alone tells
 */
export function foreignFields(prompt: Prompt, format: FormatName, cites = true): string[] {
  const names: string[] = [...prompt.passedOver ?? []];
  if (prompt.tools.some((tool) => tool.kind === "opaque" && tool.format !== format)) names.push("tools");
  const foreign = (content: readonly Content[]): boolean =>
    content.some((c) =>
      c.type === "opaque" ? c.format !== format && !c.told : c.type === "result" && foreign(c.content)
    );
  // A spoken answer of before is an id of its provider's.
  const spoken = prompt.format !== format &&
    prompt.turns.some(({ extra }) => extra?.fields.audio !== undefined);
  if (spoken || prompt.turns.some((turn) => foreign(turn.content))) {
    names.push(prompt.format === "responses" ? "input" : "messages");
  }
  const { type } = prompt.toolChoice ?? {};
  const tools = prompt.tools.some((tool) => tool.kind !== "opaque" || tool.format === format);
  if (prompt.format !== format && !tools && type !== undefined && type !== "auto" && type !== "none") {
    names.push("tool_choice");
  }
  if (prompt.format !== format && isNewThinking(prompt.verbatim.thinking)) names.push("thinking");
  if (prompt.format !== format) names.push(...lostInside(prompt, format, cites));
  return names;
}

const THINKING: ReadonlySet<unknown> = new Set(["enabled", "disabled", "adaptive"]);

/** A kind that has no word in the vocabulary. */
function isNewThinking(thinking: unknown): boolean {
  return isObject(thinking) && typeof thinking.type === "string" && !THINKING.has(thinking.type);
}
