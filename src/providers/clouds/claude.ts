/** Adapts requests of Anthropic's API for clouds with the model in the URL and the version in the body. */
import { isObject, type Loose } from "../../exchange/json.ts";
import type { ProviderRequest } from "../../formats/format.ts";

/**
 * Removes `model`, and the service tier and the scope of cache breakpoints, which clouds do not support for
 * Claude. Headers are unchanged.
 */
export function cloudRequest(request: ProviderRequest, version: string): ProviderRequest {
  const { model: _, service_tier: tier, ...body } = withoutScopes(withoutDirectCallers(request.body));
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

/** Claude Code sends `{type: "ephemeral", scope: "global"}`. The cache of a cloud belongs to one account anyway. */
function withoutScopes(body: Loose): Loose {
  const { messages, system, tools } = body;
  return {
    ...withoutScope(body),
    messages: (messages as readonly Loose[]).map((message) => {
      const { content } = message;
      return Array.isArray(content) && content.some(hasScope)
        ? { ...message, content: content.map(withoutScope) }
        : message;
    }),
    ...(Array.isArray(system) && { system: system.map(withoutScope) }),
    ...(Array.isArray(tools) && { tools: tools.map(withoutScope) }),
  };
}

function hasScope(block: unknown): block is Loose {
  return isObject(block) && isObject(block.cache_control) && block.cache_control.scope !== undefined;
}

function withoutScope<T>(block: T): T | Loose {
  if (!hasScope(block)) return block;
  const { scope: _, ...mark } = block.cache_control as Loose;
  return { ...block, cache_control: mark };
}
