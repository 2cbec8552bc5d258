/**
 * Checks a responses body as strictly as OpenAI does: no field, item or value that the official SDK's types lack, and the
 * rules about items' order that only its error messages tell. The compiler checks that whatever passes is assignable to the
 * SDK's own type, but for two things: an assistant's words may come as parts of type `output_text` without an id, which
 * the API takes (many recordings) and the types do not have, and sound.
 */
import type OpenAI from "openai";
import { z } from "zod";
import { NAME, SCHEMA } from "./check_chat_request.ts";
import { must } from "./strict.ts";

const DATA_URL = z.string().regex(/^data:[a-z]+\/[\w.+-]+;base64,[A-Za-z0-9+/]*={0,2}$/);
const ADDRESS = z.string().regex(/^https?:\/\//);
const detail = z.enum(["auto", "low", "high", "original"]);

const marked = {
  prompt_cache_breakpoint: z.strictObject({
    mode: z.literal("explicit"),
    ttl: z.enum(["30m", "12h"]).optional(),
  }).optional(),
};
const part = <T extends z.ZodRawShape>(shape: T) => z.strictObject({ ...shape, ...marked });
const text = part({ type: z.literal("input_text"), text: z.string() });
const image = z.union([
  part({ type: z.literal("input_image"), image_url: z.union([DATA_URL, ADDRESS]), detail }),
  part({ type: z.literal("input_image"), file_id: z.string().min(1), detail }),
]);
const file = z.union([
  part({ type: z.literal("input_file"), file_data: DATA_URL, filename: z.string().min(1) }),
  part({ type: z.literal("input_file"), file_url: ADDRESS }),
  part({ type: z.literal("input_file"), file_id: z.string().min(1) }),
]);
/** A type of the SDK's that its list of contents does not hold: OpenAI takes it on some models only. */
const audio = z.strictObject({
  type: z.literal("input_audio"),
  input_audio: z.strictObject({ data: z.base64(), format: z.enum(["wav", "mp3"]) }),
});
const parts = z.array(z.union([text, image, file])).min(1);
const CALL_ID = z.string().min(1).max(64);
const output = z.union([z.string(), parts]);

const spoken = <C extends z.ZodType>(content: C) =>
  z.strictObject({
    type: z.literal("message").optional(),
    role: z.enum(["user", "system", "developer"]),
    content: z.union([z.string(), content]),
  });
const message = spoken(parts);
const heard = spoken(z.array(z.union([text, image, file, audio])).min(1));
const said = z.strictObject({
  type: z.literal("message").optional(),
  role: z.literal("assistant"),
  content: z.union([
    z.string(),
    z.array(z.union([
      z.strictObject({ type: z.literal("output_text"), text: z.string() }),
      z.strictObject({ type: z.literal("refusal"), refusal: z.string() }),
    ])).min(1),
  ]),
});
/** The SDK's type demands an id; recorded requests without one were taken. */
const reasoning = z.strictObject({
  type: z.literal("reasoning"),
  id: z.undefined().optional(),
  summary: z.array(z.strictObject({ type: z.literal("summary_text"), text: z.string() })),
  encrypted_content: z.string().min(1),
});
const item = z.union([
  z.strictObject({
    type: z.literal("function_call"),
    call_id: CALL_ID,
    name: NAME,
    arguments: z.string(),
    namespace: z.string().optional(),
  }),
  z.strictObject({
    type: z.literal("custom_tool_call"),
    call_id: CALL_ID,
    name: NAME,
    input: z.string(),
    namespace: z.string().optional(),
  }),
  z.strictObject({ type: z.literal("function_call_output"), call_id: CALL_ID, output }),
  z.strictObject({ type: z.literal("custom_tool_call_output"), call_id: CALL_ID, output }),
  reasoning.extend({ id: z.string().startsWith("rs_") }),
]);

const functionTool = z.strictObject({
  type: z.literal("function"),
  name: NAME,
  description: z.string().optional(),
  parameters: SCHEMA,
  strict: z.boolean(),
});
const customTool = z.strictObject({
  type: z.literal("custom"),
  name: NAME,
  description: z.string().optional(),
  format: z.union([
    z.strictObject({ type: z.literal("text") }),
    z.strictObject({ type: z.literal("grammar"), syntax: z.enum(["lark", "regex"]), definition: z.string() }),
  ]).optional(),
});

const FIELDS = {
  model: z.string().min(1),
  instructions: z.string().optional(),
  stream: z.boolean(),
  store: z.literal(false),
  include: z.array(z.enum(["reasoning.encrypted_content", "message.output_text.logprobs"])).optional(),
  tools: z.array(z.union([
    functionTool,
    customTool,
    z.strictObject({
      type: z.literal("namespace"),
      name: NAME,
      description: z.string(),
      tools: z.array(z.union([functionTool, customTool])).min(1),
    }),
  ])).min(1).optional(),
  tool_choice: z.union([
    z.enum(["auto", "none", "required"]),
    z.strictObject({ type: z.literal("function"), name: NAME }),
    z.strictObject({ type: z.literal("custom"), name: NAME }),
    z.strictObject({
      type: z.literal("allowed_tools"),
      mode: z.enum(["auto", "required"]),
      tools: z.array(z.record(z.string(), z.unknown())).min(1),
    }),
  ]).optional(),
  parallel_tool_calls: z.boolean().optional(),
  max_output_tokens: z.int().min(16).optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_logprobs: z.int().min(0).max(20).optional(),
  reasoning: z.strictObject({
    effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).optional(),
    summary: z.enum(["auto", "concise", "detailed"]).optional(),
  }).optional(),
  text: z.strictObject({
    format: z.union([
      z.strictObject({ type: z.literal("json_object") }),
      z.strictObject({
        type: z.literal("json_schema"),
        name: NAME,
        description: z.string().optional(),
        schema: SCHEMA,
        strict: z.boolean(),
      }),
    ]).optional(),
    verbosity: z.enum(["low", "medium", "high"]).optional(),
  }).optional(),
  metadata: z.record(z.string().max(64), z.string().max(512)).optional(),
  user: z.string().max(64).optional(),
  prompt_cache_key: z.string().optional(),
  prompt_cache_options: z.strictObject({
    mode: z.enum(["implicit", "explicit"]).optional(),
    ttl: z.literal("30m").optional(),
  }).optional(),
  prompt_cache_retention: z.enum(["in_memory", "24h"]).optional(),
  safety_identifier: z.string().optional(),
  service_tier: z.enum(["auto", "default", "flex", "scale", "priority", "fast"]).optional(),
};
const BODY = z.strictObject({ ...FIELDS, input: z.array(z.union([item, reasoning, heard, said])).min(1) });

export type ResponsesBody = z.infer<typeof BODY>;
/** Fails to compile when the schema takes what the SDK's type does not. */
export type IsOfficial = Official<
  Omit<ResponsesBody, "input"> & { input: (z.infer<typeof item> | z.infer<typeof message>)[] }
>;
type Official<T extends OpenAI.Responses.ResponseCreateParams> = T;

/** The body, typed; throws what the API would refuse. */
export function checkResponsesRequest(sent: unknown): ResponsesBody {
  const parsed = BODY.safeParse(JSON.parse(JSON.stringify(sent)));
  must(parsed.success, parsed.success ? "" : z.prettifyError(parsed.error));
  const body = parsed.data;
  const calls = new Set<string>();
  const answered = new Set<string>();
  body.input.forEach((one, i) => {
    if (one.type === "function_call" || one.type === "custom_tool_call") {
      must(!calls.has(one.call_id) || answered.has(one.call_id), "two open calls of one id");
      calls.add(one.call_id);
    } else if (one.type === "function_call_output" || one.type === "custom_tool_call_output") {
      must(calls.has(one.call_id), "No tool call found for a result");
      answered.add(one.call_id);
    } else if (one.type === "reasoning") {
      const next = body.input[i + 1];
      // By its id it asks for the item that it was given with; recorded requests without ids were taken.
      const follows = next !== undefined &&
        (next.type?.endsWith("_call") === true || (one.id === undefined && next.type === "reasoning") ||
          ("role" in next && next.role === "assistant" && (one.id === undefined || "id" in next)));
      must(follows, "reasoning without its required following item");
    }
  });
  for (const id of calls) must(answered.has(id), "No tool output found for a call");
  const names = body.tools?.map((t) => t.name) ?? [];
  must(new Set(names).size === names.length, "two tools of one name");
  must(names.length > 0 || body.tool_choice === undefined, "tool_choice without tools");
  must(names.length > 0 || body.parallel_tool_calls === undefined, "parallel_tool_calls without tools");
  if (typeof body.tool_choice === "object" && body.tool_choice.type !== "allowed_tools") {
    must(names.includes(body.tool_choice.name), "an undeclared tool is chosen");
  }
  if (body.text?.format?.type === "json_object") {
    must(/json/i.test(JSON.stringify(body.input)), "json_object without the word json in the input");
  }
  return body;
}
