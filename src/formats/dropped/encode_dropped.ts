/**
 * Names of request fields whose content only another format understands, for `x-svc-dropped`: opaque blocks
 * and items, provider tools, and a tool choice without tools.
 */
import { isObject } from "../../exchange/json.ts";
import type { Content, FormatName, Prompt } from "../../exchange/prompt.ts";
import { lostInside } from "./lost_fields.ts";

/** Names of fields that other formats do not have. Nothing is stored or truncated anyway. */
export function unknownFieldNames({ unknown }: Prompt): string[] {
  const { store, truncation } = unknown;
  return Object.keys(unknown).filter((name) =>
    !(name === "store" && store === false) && !(name === "truncation" && truncation === "disabled")
  );
}

/**
 * @param format the provider's
 * @param cites whether the model supports citations of search results, if that depends on the model
 */
export function foreignFields(prompt: Prompt, format: FormatName, cites = true): string[] {
  const names: string[] = [...prompt.passedOver ?? []];
  if (prompt.tools.some((tool) => tool.kind === "opaque" && tool.format !== format)) names.push("tools");
  const foreign = (content: readonly Content[]): boolean =>
    content.some((c) =>
      c.type === "opaque" ? c.format !== format && !c.represented : c.type === "result" && foreign(c.content)
    );
  // An earlier audio answer is an id of its provider.
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

/** A kind without an equivalent in the vocabulary. */
function isNewThinking(thinking: unknown): boolean {
  return isObject(thinking) && typeof thinking.type === "string" && !THINKING.has(thinking.type);
}
