/**
 * The billing note of Claude Code: the first text of its system prompt, in which it tells Anthropic its
 * version, as in `x-anthropic-billing-header: cc_version=2.1.114.76c; cc_entrypoint=cli; cch=ea6aa;`.
 *
 * `cch` is different in every request, and so no other vendor's prompt cache would find the text after it.
 * Claude on Bedrock rejects the request: "x-anthropic-billing-header is a reserved keyword and may not be used
 * in the system prompt".
 */
import type { Prompt, Turn } from "../exchange/prompt.ts";

const NOTE = /^(?:x-anthropic-[\w-]+:[^\n]*(?:\n+|$))+/;

/** A text without the note. */
export function withoutNote(text: string): string {
  return text.replace(NOTE, "");
}

/** A prompt without the note. Callers of other formats send none. */
export function withoutBillingNote(prompt: Prompt): Prompt {
  const [first, ...others] = prompt.turns;
  if (prompt.format !== "messages" || first?.top !== true) return prompt;
  const [note, ...content] = first.content;
  if (note?.type !== "text") return prompt;
  const text = withoutNote(note.text);
  if (text === note.text) return prompt;
  if (text !== "") content.unshift({ ...note, text });
  const turns: Turn[] = content.length > 0 ? [{ ...first, content }, ...others] : others;
  return { ...prompt, turns };
}
