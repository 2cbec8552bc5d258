/** Adapts requests of Anthropic's API for clouds with the model in the URL and the version in the body. */
import { isObject, type Loose } from "../../exchange/json.ts";
import type { ProviderRequest } from "../../formats/format.ts";

/** Removes `model`, and the service tier, which clouds do not support for Claude. Headers are unchanged. */
export function cloudRequest(request: ProviderRequest, version: string): ProviderRequest {
  const { model: _, service_tier: tier, ...body } = withoutDirectCallers(request.body);
  return {
    ...request,
    body: { ...body, anthropic_version: version },
    dropped: tier === undefined ? request.dropped : [...new Set([...request.dropped, "service_tier"])],
  };
}

/**
 * Removes `caller: {type: "direct"}` from tool calls: newer versions of the API add it to every call, older
 * ones reject it, and it is the default.
 */
function withoutDirectCallers(body: Loose): Loose {
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
