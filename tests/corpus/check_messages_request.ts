/**
 * Checks a messages body as strictly as Anthropic does: no field, block or value that the official SDK's types lack, and
 * the rules of order that only its error messages tell. The compiler checks that whatever passes is assignable to the SDK's
 * own type.
 */
import type Anthropic from "@anthropic-ai/sdk";
import { z } from "zod";
import { must } from "./strict.ts";

const cache_control = z.strictObject({ type: z.literal("ephemeral"), ttl: z.enum(["5m", "1h"]).optional() })
  .optional();
const citations = z.strictObject({ enabled: z.boolean() }).optional();
const BASE64 = z.base64().min(1);
const ADDRESS = z.string().regex(/^https?:\/\//);
const ID = z.string().regex(/^[a-zA-Z0-9_-]+$/);
const file = z.strictObject({ type: z.literal("file"), file_id: z.string().min(1) });
const url = z.strictObject({ type: z.literal("url"), url: ADDRESS });

/** "text content blocks must be non-empty", and must hold more than white space. */
const text = z.strictObject({ type: z.literal("text"), text: z.string().regex(/\S/), cache_control });
const image = z.strictObject({
  type: z.literal("image"),
  source: z.union([
    z.strictObject({
      type: z.literal("base64"),
      media_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
      data: BASE64,
    }),
    url,
    file,
  ]),
  cache_control,
});
const plainSource = z.strictObject({
  type: z.literal("text"),
  media_type: z.literal("text/plain"),
  data: z.string(),
});
const pdfSource = z.strictObject({
  type: z.literal("base64"),
  media_type: z.literal("application/pdf"),
  data: BASE64,
});
const document = z.strictObject({
  type: z.literal("document"),
  source: z.union([
    pdfSource,
    plainSource,
    z.strictObject({
      type: z.literal("content"),
      content: z.union([z.string(), z.array(z.union([text, image]))]),
    }),
    url,
    file,
  ]),
  title: z.string().optional(),
  context: z.string().optional(),
  citations,
  cache_control,
});
const searchResult = z.strictObject({
  type: z.literal("search_result"),
  source: z.string(),
  title: z.string(),
  content: z.array(text).min(1),
  citations,
  cache_control,
});
const thinking = z.strictObject({
  type: z.literal("thinking"),
  thinking: z.string(),
  signature: z.string().min(1),
});
const redacted = z.strictObject({ type: z.literal("redacted_thinking"), data: z.string().min(1) });
const use = z.strictObject({
  type: z.literal("tool_use"),
  id: ID,
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
  input: z.record(z.string(), z.unknown()),
  cache_control,
});
const result = z.strictObject({
  type: z.literal("tool_result"),
  tool_use_id: ID,
  content: z.union([z.string(), z.array(z.union([text, image, document, searchResult]))]).optional(),
  is_error: z.boolean().optional(),
  cache_control,
});

const message = z.discriminatedUnion("role", [
  z.strictObject({
    role: z.literal("user"),
    content: z.union([
      z.string().min(1),
      z.array(z.union([text, image, document, searchResult, result])).min(1),
    ]),
  }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.union([z.string().min(1), z.array(z.union([text, thinking, redacted, use])).min(1)]),
  }),
  z.strictObject({ role: z.literal("system"), content: z.union([z.string().min(1), z.array(text).min(1)]) }),
]);

const disable_parallel_tool_use = z.boolean().optional();
const BODY = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.int().min(1),
  messages: z.array(message).min(1),
  system: z.union([z.string().min(1), z.array(text).min(1)]).optional(),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().min(0).optional(),
  stop_sequences: z.array(z.string().regex(/\S/)).min(1).optional(),
  tools: z.array(z.strictObject({
    type: z.literal("custom").optional(),
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
    description: z.string().optional(),
    input_schema: z.looseObject({ type: z.literal("object") }),
    strict: z.boolean().optional(),
    cache_control,
  })).min(1).optional(),
  tool_choice: z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("auto"), disable_parallel_tool_use }),
    z.strictObject({ type: z.literal("any"), disable_parallel_tool_use }),
    z.strictObject({ type: z.literal("tool"), name: z.string(), disable_parallel_tool_use }),
    z.strictObject({ type: z.literal("none") }),
  ]).optional(),
  thinking: z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("enabled"), budget_tokens: z.int().min(1024) }),
    z.strictObject({ type: z.literal("adaptive"), display: z.enum(["summarized", "omitted"]).optional() }),
    z.strictObject({ type: z.literal("disabled") }),
  ]).optional(),
  output_config: z.strictObject({
    effort: z.enum(["low", "medium", "high", "xhigh", "max"]).optional(),
    format: z.strictObject({ type: z.literal("json_schema"), schema: z.record(z.string(), z.unknown()) })
      .optional(),
  }).optional(),
  metadata: z.strictObject({ user_id: z.string().optional() }).optional(),
  service_tier: z.enum(["auto", "standard_only"]).optional(),
  cache_control,
});

export type MessagesBody = z.infer<typeof BODY>;
/** Fails to compile when the schema takes what the SDK's type does not. */
export type IsOfficial = Official<MessagesBody>;
type Official<T extends Anthropic.MessageCreateParams> = T;

/** The body, typed; throws what the API would refuse. */
export function checkMessagesRequest(sent: unknown): MessagesBody {
  const parsed = BODY.safeParse(JSON.parse(JSON.stringify(sent)));
  must(parsed.success, parsed.success ? "" : z.prettifyError(parsed.error));
  const body = parsed.data;
  checkOrder(body);
  const thinks = body.thinking !== undefined && body.thinking.type !== "disabled";
  if (body.thinking?.type === "enabled") {
    must(body.thinking.budget_tokens < body.max_tokens, "a budget that the cap does not cover");
  }
  if (thinks) {
    must(body.temperature === undefined || body.temperature === 1, "thinking with a temperature");
    must(body.top_k === undefined, "thinking with top_k");
    must(body.top_p === undefined || body.top_p >= 0.95, "thinking with a low top_p");
    must(!["any", "tool"].includes(body.tool_choice?.type ?? ""), "thinking with a forced tool");
  }
  must(body.temperature === undefined || body.top_p === undefined, "temperature and top_p together");
  const names = body.tools?.map((t) => t.name) ?? [];
  must(new Set(names).size === names.length, "two tools of one name");
  must(names.length > 0 || body.tool_choice === undefined, "tool_choice without tools");
  if (body.tool_choice?.type === "tool") {
    must(names.includes(body.tool_choice.name), "an undeclared tool is chosen");
  }
  must(JSON.stringify(body).split('"cache_control":{"type":"ephemeral"').length <= 5, "over 4 cache marks");
  for (const t of body.tools ?? []) {
    must(
      !("anyOf" in t.input_schema || "oneOf" in t.input_schema),
      "alternatives at the top of a tool's schema",
    );
  }
  return body;
}

function takesSystemMessages(model: string): boolean {
  return /claude-(?:opus-4-8|(?:opus|fable|mythos)-5|(?:sonnet|haiku)-5-5)/.test(model);
}

function checkOrder({ model, messages, tools }: MessagesBody): void {
  must(messages[0].role !== "assistant", "the assistant speaks first");
  let open = new Set<string>();
  const used = new Set<string>();
  messages.forEach((m, i) => {
    const before = messages[i - 1]?.role;
    must(before !== m.role, `two messages of the ${m.role} in a row`);
    if (m.role === "system") {
      const after = messages[i + 1]?.role ?? "assistant";
      must(before === "user" && after === "assistant", `a system message between ${before} and ${after}`);
      must(takesSystemMessages(model), "role 'system' is not supported on this model");
    }
    const blocks = typeof m.content === "string" ? [] : m.content;
    const results = blocks.filter((b) => b.type === "tool_result");
    if (m.role !== "user") must(open.size === 0, "calls without results");
    results.forEach((b, k) => {
      must(blocks[k].type === "tool_result", "results behind other blocks");
      must(open.delete(b.tool_use_id), "a result of no call right before");
    });
    must(open.size === 0, "calls without results");
    open = new Set();
    for (const b of blocks) {
      if (b.type !== "tool_use") continue;
      must(!used.has(b.id), "tool_use ids must be unique");
      used.add(b.id);
      open.add(b.id);
    }
    if (m.role === "assistant" && i === messages.length - 1) {
      const last = blocks.at(-1);
      const end = typeof m.content === "string" ? m.content : last?.type === "text" ? last.text : "";
      must(end === end.trimEnd(), "trailing white space of the last words");
    }
  });
  must(used.size === 0 || (tools?.length ?? 0) > 0, "calls without declared tools");
}
