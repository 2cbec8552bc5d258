/**
 * Models of chat-completions servers that reject a history in which the assistant's reasoning is missing, although
 * many clients do not return it, and an answer of another model has none: "thinking is enabled but
 * reasoning_content is missing in assistant tool call message", "The reasoning_content in the thinking mode must
 * be passed back to the API". A placeholder is accepted.
 */
import { array, type Loose, object } from "../../exchange/json.ts";

interface Requirement {
  readonly models: RegExp;
  /** Only messages with tool calls need reasoning. */
  readonly calls: boolean;
  readonly placeholder: string;
}

const REQUIREMENTS: readonly Requirement[] = [
  // An empty text counts as missing.
  { models: /kimi.*(?:k2[.p][5-9]|k[3-9]|thinking|for-coding|latest)/i, calls: true, placeholder: " " },
  { models: /deepseek.*(?:v[4-9]|v3[.p][2-9]|reasoner)/i, calls: false, placeholder: "" },
];

/** The same list if nothing is missing. */
export function withReasoning(body: Loose, messages: Loose[], model: string): Loose[] {
  const requirement = REQUIREMENTS.find(({ models }) => models.test(model));
  if (!requirement || object(body.thinking).type === "disabled") return messages;
  // Without a call in the history, no model requires it.
  if (!messages.some(({ tool_calls }) => array(tool_calls).length > 0)) return messages;
  return messages.map((message) =>
    message.role === "assistant" && !REASONING.some((field) => says(message[field])) &&
      (!requirement.calls || array(message.tool_calls).length > 0)
      ? { ...message, reasoning_content: requirement.placeholder }
      : message
  );
}

const REASONING = ["reasoning_content", "reasoning", "reasoning_details"];

function says(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : typeof value === "string" && value !== "";
}
