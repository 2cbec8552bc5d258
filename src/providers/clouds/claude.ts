/** A request of Anthropic's API as the clouds take it whose addresses name the model and the version of the body. */
import { isObject, type Loose } from "../../exchange/json.ts";
import type { ProviderRequest } from "../../formats/format.ts";

/** Without `model`, and without a service tier, which clouds have no Claude of. Headers are left as they are. */
export function cloudRequest(request: ProviderRequest, version: string): ProviderRequest {
  const { model: _, service_tier: tier, ...body } = withoutDirectCallers(request.body);
  return {
    ...request,
    body: { ...body, anthropic_version: version },
    dropped: tier === undefined ? request.dropped : [...new Set([...request.dropped, "service_tier"])],
  };
}

/**
 * The body without `caller: {type: "direct"}` of calls, which newer versions of the API put on every call and older ones
 * refuse. It says that the model called by itself, as it does where nothing is said.
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
