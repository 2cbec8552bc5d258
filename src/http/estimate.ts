/** `POST /v1/estimate`: what a request in any of the formats would cost, and whether it would be admitted. */
import type { Key } from "../accounts/mod.ts";
import { Failure } from "../exchange/failure.ts";
import { type CallerFormatName, callerFormatOf } from "../exchange/format_name.ts";
import { isObject, type Loose, string } from "../exchange/json.ts";
import { LAZY_CALLERS } from "../formats/callers.ts";
import type { Arrival } from "../pipeline/call.ts";
import { quote } from "../pipeline/quote.ts";
import { Steps } from "../pipeline/steps.ts";
import { countTokens } from "./count_tokens.ts";
import { headersWith } from "./credentials.ts";
import type { RequestContext } from "./endpoint.ts";
import { withBody } from "./gate.ts";

/** Answers with the cost for each candidate model, and whether the request would be admitted. */
export async function estimate(context: RequestContext, key: Key): Promise<Response> {
  const { request, id, state: { kit } } = context;
  return await withBody(context, key, async (sent, step) => {
    const formatName = formatOf(new URL(request.url).searchParams.get("format"), sent);
    const format = await LAZY_CALLERS[formatName].open();
    const body = format.unsealBody?.(sent, kit.sealer.of(key.account).unseal) ?? sent;
    const tokens = await countTokens(formatName, body, request, { key, kit, step });
    const arrival: Arrival = {
      id,
      format,
      formatName,
      key,
      body: isObject(body) ? { ...UNNEEDED[formatName], ...body } : body,
      large: false,
      headers: (prefix) => headersWith(request, prefix),
      header: (name) => request.headers.get(name),
      disconnected: () => false,
      steps: new Steps(kit.ticker),
    };
    return Response.json(await quote(arrival, tokens, { kit, step }));
  });
}

/** Default values for fields that a generation requires but an estimate does not. */
const UNNEEDED: Partial<Record<CallerFormatName, Loose>> = { messages: { max_tokens: 4096 } };

/** Fields that only occur in the messages format. */
const OF_MESSAGES = [
  "system",
  "stop_sequences",
  "thinking",
  "top_k",
  "mcp_servers",
  "container",
  "output_config",
];
/** Content blocks that only occur in the messages format. */
const BLOCKS_OF_MESSAGES = new Set([
  "tool_use",
  "tool_result",
  "thinking",
  "redacted_thinking",
  "document",
  "image",
]);

/** The named format, or else the one that matches the body. */
function formatOf(named: string | null, body: unknown): CallerFormatName {
  if (named !== null) {
    const format = callerFormatOf(named);
    if (format !== undefined) return format;
    throw new Failure(
      "validation_error",
      `Cannot read format: expected one of ${Object.keys(LAZY_CALLERS).join(", ")}, got ${
        JSON.stringify(named.slice(0, 40))
      }.`,
      { param: "format" },
    );
  }
  if (!isObject(body)) return "chat_completions";
  const { messages, tools } = body;
  if (messages === undefined) return "responses";
  if (OF_MESSAGES.some((field) => field in body)) return "messages";
  if (Array.isArray(tools) && tools.some((tool) => isObject(tool) && "input_schema" in tool)) {
    return "messages";
  }
  const blocks = Array.isArray(messages)
    ? messages.flatMap((message) =>
      isObject(message) && Array.isArray(message.content) ? message.content : []
    )
    : [];
  return blocks.some((block) => isObject(block) && BLOCKS_OF_MESSAGES.has(string(block.type) ?? ""))
    ? "messages"
    : "chat_completions";
}
