/** What Claude's clouds do not take of a request that Anthropic's own API does. */
import { isObject, type Loose } from "../../exchange/json.ts";

/**
 * The body without `caller: {type: "direct"}` of calls, which newer versions of the API put on every call and older ones
 * refuse. It says that the model called by itself, as it does where nothing is said.
 */
export function withoutDirectCallers(body: Loose): Loose {
  const messages = body.messages as readonly Loose[];
  if (!messages.some(({ content }) => Array.isArray(content) && content.some(isDirect))) return body;
  return {
    ...body,
    messages: messages.map((message) => {
      const { content } = message;
      if (!Array.isArray(content) || !content.some(isDirect)) return message;
      return { ...message, content: content.map((block) => isDirect(block) ? withoutCaller(block) : block) };
    }),
  };
}

function isDirect(block: unknown): block is Loose {
  return isObject(block) && block.type === "tool_use" && isObject(block.caller) &&
    block.caller.type === "direct";
}

function withoutCaller({ caller: _, ...block }: Loose): Loose {
  return block;
}
