/**
 * Chat-completions servers with models that reject a conversation with tool calls in which an assistant message has
 * no `reasoning_content`, see `formats/restrictions/needed_reasoning.ts`. A placeholder is accepted.
 */
import { array, type Loose, object } from "../../exchange/json.ts";
import { needsReasoning } from "../../formats/restrictions/needed_reasoning.ts";

/** An empty text counts as missing, a blank one does not. */
const PLACEHOLDER = " ";

/**
 * Adds `reasoning_content` to the assistant's messages where the model needs it and the caller has none: its client
 * does not keep reasoning, another model wrote the message, or the model did not reason. The same list if nothing is
 * missing.
 */
export function withReasoning(body: Loose, messages: Loose[], model: string): Loose[] {
  if (!needsReasoning(model) || isOff(body)) return messages;
  const isNeeded = object(body.thinking).keep === "all" ||
    messages.some(({ tool_calls }) => array(tool_calls).length > 0);
  return isNeeded ? messages.map((message) => isComplete(message) ? message : completed(message)) : messages;
}

function isComplete({ role, reasoning_content, reasoning_details }: Loose): boolean {
  return role !== "assistant" || isText(reasoning_content) || array(reasoning_details).length > 0;
}

function completed(message: Loose): Loose {
  const { reasoning } = message;
  return { ...message, reasoning_content: isText(reasoning) ? reasoning : PLACEHOLDER };
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

/** Whether the request switches reasoning off. */
function isOff({ thinking, enable_thinking, reasoning_effort, reasoning }: Loose): boolean {
  return object(thinking).type === "disabled" || enable_thinking === false || reasoning_effort === "none" ||
    object(reasoning).effort === "none" || object(reasoning).enabled === false;
}
