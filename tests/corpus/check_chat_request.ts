/**
 * Checks a chat-completions body as strictly as OpenAI does: no field, part or value that the official SDK's types lack,
 * and the rules of order and size that only its error messages tell. The compiler checks that whatever passes is assignable
 * to the SDK's own type.
 */
import type OpenAI from "openai";
import { z } from "zod";
import { must } from "./strict.ts";

/** OpenAI's limit for names of tools and schemas. */
export const NAME = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
export const SCHEMA = z.record(z.string(), z.unknown());
const DATA_URL = z.string().regex(/^data:[a-z]+\/[\w.+-]+;base64,[A-Za-z0-9+/]*={0,2}$/);
const ADDRESS = z.string().regex(/^https?:\/\//);

const text = z.strictObject({ type: z.literal("text"), text: z.string() });
const image = z.strictObject({
  type: z.literal("image_url"),
  image_url: z.strictObject({
    url: z.union([DATA_URL, ADDRESS]),
    detail: z.enum(["auto", "low", "high", "original"]).optional(),
  }),
});
const audio = z.strictObject({
  type: z.literal("input_audio"),
  input_audio: z.strictObject({ data: z.base64(), format: z.enum(["wav", "mp3"]) }),
});
const file = z.strictObject({
  type: z.literal("file"),
  file: z.union([
    z.strictObject({ file_data: DATA_URL, filename: z.string().min(1) }),
    // OpenAI takes no address, and says so; OpenRouter and others do, and there is no other form for one.
    z.strictObject({ file_data: ADDRESS, filename: z.string().optional() }),
    z.strictObject({ file_id: z.string().min(1), filename: z.string().optional() }),
  ]),
});
/** An empty list of parts is refused. */
const words = z.union([z.string(), z.array(text).min(1)]);
const ID = z.string().min(1).max(40);
const call = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("function"),
    id: ID,
    function: z.strictObject({ name: NAME, arguments: z.string() }),
  }),
  z.strictObject({
    type: z.literal("custom"),
    id: ID,
    custom: z.strictObject({ name: NAME, input: z.string() }),
  }),
]);

const message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("system"), content: words }),
  z.strictObject({ role: z.literal("developer"), content: words }),
  z.strictObject({
    role: z.literal("user"),
    content: z.union([z.string(), z.array(z.union([text, image, audio, file])).min(1)]),
    name: z.string().optional(),
  }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.union([
      z.string(),
      z.array(z.union([text, z.strictObject({ type: z.literal("refusal"), refusal: z.string() })])).min(1),
      z.null(),
    ]),
    refusal: z.string().optional(),
    name: z.string().optional(),
    tool_calls: z.array(call).min(1).optional(),
  }),
  z.strictObject({ role: z.literal("tool"), tool_call_id: ID, content: words }),
]);

const tool = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("function"),
    function: z.strictObject({
      name: NAME,
      description: z.string().optional(),
      parameters: SCHEMA.optional(),
      strict: z.boolean().optional(),
    }),
  }),
  z.strictObject({
    type: z.literal("custom"),
    custom: z.strictObject({
      name: NAME,
      description: z.string().optional(),
      format: z.union([
        z.strictObject({ type: z.literal("text") }),
        z.strictObject({
          type: z.literal("grammar"),
          grammar: z.strictObject({ syntax: z.enum(["lark", "regex"]), definition: z.string() }),
        }),
      ]).optional(),
    }),
  }),
]);

const BODY = z.strictObject({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  stream: z.boolean().optional(),
  stream_options: z.strictObject({ include_usage: z.boolean() }).optional(),
  max_tokens: z.int().min(1).optional(),
  max_completion_tokens: z.int().min(1).optional(),
  tools: z.array(tool).min(1).max(256).optional(),
  tool_choice: z.union([
    z.enum(["auto", "none", "required"]),
    z.strictObject({ type: z.literal("function"), function: z.strictObject({ name: NAME }) }),
    z.strictObject({ type: z.literal("custom"), custom: z.strictObject({ name: NAME }) }),
    z.strictObject({
      type: z.literal("allowed_tools"),
      allowed_tools: z.strictObject({
        mode: z.enum(["auto", "required"]),
        tools: z.array(z.record(z.string(), z.unknown())).min(1),
      }),
    }),
  ]).optional(),
  parallel_tool_calls: z.boolean().optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  stop: z.union([z.string(), z.array(z.string()).min(1).max(4)]).optional(),
  seed: z.int().optional(),
  frequency_penalty: z.number().min(-2).max(2).optional(),
  presence_penalty: z.number().min(-2).max(2).optional(),
  logit_bias: z.record(z.string(), z.number()).optional(),
  n: z.int().min(1).max(128).optional(),
  logprobs: z.boolean().optional(),
  top_logprobs: z.int().min(0).max(20).optional(),
  response_format: z.union([
    z.strictObject({ type: z.literal("text") }),
    z.strictObject({ type: z.literal("json_object") }),
    z.strictObject({
      type: z.literal("json_schema"),
      json_schema: z.strictObject({
        name: NAME,
        description: z.string().optional(),
        strict: z.boolean().optional(),
        schema: SCHEMA,
      }),
    }),
  ]).optional(),
  reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).optional(),
  verbosity: z.enum(["low", "medium", "high"]).optional(),
  user: z.string().max(64).optional(),
  metadata: z.record(z.string().max(64), z.string().max(512)).optional(),
  service_tier: z.enum(["auto", "default", "flex", "scale", "priority", "fast"]).optional(),
  prompt_cache_key: z.string().optional(),
  store: z.boolean().optional(),
  modalities: z.array(z.enum(["text", "audio"])).min(1).optional(),
});

export type ChatBody = z.infer<typeof BODY>;
/** Fails to compile when the schema takes what the SDK's type does not. */
export type IsOfficial = Official<ChatBody>;
type Official<T extends OpenAI.ChatCompletionCreateParams> = T;

/** The body, typed; throws what the API would refuse. */
export function checkChatRequest(sent: unknown): ChatBody {
  const result = BODY.safeParse(JSON.parse(JSON.stringify(sent)));
  must(result.success, result.success ? "" : z.prettifyError(result.error));
  const body = result.data;
  must(!body.stream_options || body.stream === true, "stream_options without a stream");
  must(body.tools !== undefined || body.tool_choice === undefined, "tool_choice without tools");
  must(
    body.tools !== undefined || body.parallel_tool_calls === undefined,
    "parallel_tool_calls without tools",
  );
  must(body.top_logprobs === undefined || body.logprobs === true, "top_logprobs without logprobs");
  const names = body.tools?.map((t) => t.type === "function" ? t.function.name : t.custom.name) ?? [];
  must(new Set(names).size === names.length, "two tools of one name");
  const choice = body.tool_choice;
  if (typeof choice === "object" && choice.type !== "allowed_tools") {
    const chosen = choice.type === "function" ? choice.function.name : choice.custom.name;
    must(names.includes(chosen), `the chosen tool ${chosen} is not declared`);
  }
  if (body.response_format?.type === "json_object") {
    must(/json/i.test(JSON.stringify(body.messages)), "json_object without the word JSON in the messages");
  }
  let open = new Set<string>();
  for (const m of body.messages) {
    if (m.role === "tool") {
      must(open.delete(m.tool_call_id), "a result behind no call of its own");
      continue;
    }
    must(open.size === 0, "calls without results");
    if (m.role !== "assistant") continue;
    must(
      m.tool_calls !== undefined || m.refusal !== undefined || m.content !== null,
      "an assistant who says nothing",
    );
    open = new Set(m.tool_calls?.map((c) => c.id));
    must(open.size === (m.tool_calls?.length ?? 0), "two calls of one id");
  }
  must(open.size === 0, "calls without results");
  return body;
}
