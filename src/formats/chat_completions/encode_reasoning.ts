/** Encodes reasoning as fields of an assistant's message: in requests to providers and in answers to callers. */
import { array, type Loose, string } from "../../exchange/json.ts";
import type { FormatName, ReasoningContent } from "../../exchange/prompt.ts";
import type { Proof, Seal } from "../../exchange/proof.ts";
import { joinBlocks, readReplay, type ReasoningField, type TextField, textKey } from "./reasoning.ts";

/**
 * The message fields that return reasoning to a provider. For reasoning of another API there is no field that
 * every provider accepts (Groq and Cerebras reject `reasoning_content`, DeepSeek rejects a tool call without
 * it), so it is sent only where it is known to be required: `foreign`.
 */
export function encodeReasoning(
  contents: readonly ReasoningContent[],
  foreign: boolean,
): { fields: Loose; parts: Loose[] } {
  let fields: Loose = {};
  const parts: Loose[] = [];
  const details: Loose[] = [];
  for (const content of contents) {
    const replay = readReplay(content.proof);
    const text = replay ? content.sections.join("") : joinSections(content.sections);
    const field = replay ? replay.field : foreign ? "reasoning_content" : undefined;
    if (field === "content") {
      const own = content.extra?.format === "chat_completions" ? content.extra.fields : undefined;
      parts.push({ ...own, type: "thinking", thinking: [{ type: "text", text }] });
    } else if (field && (text !== "" || replay)) fields[field] = `${string(fields[field]) ?? ""}${text}`;
    if (replay?.details) details.push(...joinDetails(replay.details, content.sections));
    if (replay?.blocks) {
      const blocks = joinBlocks(replay.blocks, text, "thinking");
      fields.thinking_blocks = [...array(fields.thinking_blocks), ...blocks];
    }
    if (replay?.summary) parts.push({ type: "reasoning", summary: joinBlocks(replay.summary, text, "text") });
    if (replay?.fields) fields = { ...fields, ...replay.fields };
  }
  if (details.length > 0) fields.reasoning_details = details;
  return { fields, parts };
}

/** `format` of details entries: the names of the APIs. */
const DETAIL_FORMATS: Readonly<Record<FormatName, string>> = {
  messages: "anthropic-claude-v1",
  responses: "openai-responses-v1",
  gemini: "google-gemini-v1",
  converse: "unknown",
  chat_completions: "unknown",
};

/**
 * Encodes a proof in the caller's message: entries of `reasoning_details` from index `slot` on, with their
 * texts, or fields of the message.
 */
export function encodeDetails(
  proof: Proof,
  kind: "text" | "summary",
  sections: readonly string[],
  slot: number,
  seal: Seal,
): { details: Loose[]; fields?: Loose } {
  const replay = readReplay(proof);
  // Callers have no `reasoning` parts.
  if (replay && !replay.summary) {
    let texts = 0;
    const details = joinDetails(replay.details ?? [], sections).map((entry) => ({
      ...entry,
      index: slot + (textKey(entry) ? texts++ : Math.max(texts - 1, 0)),
    }));
    const thinking_blocks = replay.blocks && joinBlocks(replay.blocks, sections.join(""), "thinking");
    const fields = thinking_blocks ? { thinking_blocks, ...replay.fields } : replay.fields;
    return { details, ...(fields && { fields }) };
  }
  const id = proof.call ?? proof.id;
  const marks = { format: DETAIL_FORMATS[proof.api], ...(id !== undefined && { id }), index: slot };
  const text = joinSections(sections);
  const token = seal(proof);
  if (text === "") return { details: [{ type: "reasoning.encrypted", data: token, ...marks }] };
  if (kind === "text") return { details: [{ type: "reasoning.text", text, signature: token, ...marks }] };
  const { id: _, ...summary } = marks as Loose;
  return {
    details: [
      { type: "reasoning.summary", summary: text, ...summary },
      { type: "reasoning.encrypted", data: token, ...marks },
    ],
  };
}

/** The inverse of {@link splitDetails}. If the number of texts has changed, they are put into the first entry. */
function joinDetails(stripped: readonly Loose[], sections: readonly string[]): readonly Loose[] {
  // The texts were not sent to the caller, so they were not removed.
  if (sections.length === 0) return stripped;
  const places = stripped.filter((entry) => textKey(entry) !== undefined).length;
  const texts = sections.length === places ? sections : [sections.join("")];
  let next = 0;
  return stripped.map((entry) => {
    const key = textKey(entry);
    return key ? { ...entry, [key]: texts[next++] ?? "" } : entry;
  });
}

/** Sections are paragraphs. */
function joinSections(sections: readonly string[]): string {
  return sections.filter((section) => section !== "").join("\n\n");
}

/**
 * The same text under both names that clients read. `reasoning_content` is read by AI SDK and DeepSeek's
 * clients, `reasoning` by OpenRouter's; those that know both use the first. The provider's own name comes
 * first, so that a client that returns the message unchanged shows which one to use.
 */
export function textFields(field: ReasoningField | undefined): readonly TextField[] {
  switch (field) {
    case "reasoning":
      return ["reasoning", "reasoning_content"];
    case "reasoning_text":
      return ["reasoning_text", "reasoning_content", "reasoning"];
    default:
      return ["reasoning_content", "reasoning"];
  }
}
