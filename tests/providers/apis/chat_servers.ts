/**
 * Servers of chat-completions as strict as the vendors' own: fields are those of the types of their official libraries
 * (`@mistralai/mistralai` 2.7.0, `groq-sdk`, `@cerebras/cerebras_cloud_sdk`), and any other is refused, as these servers do.
 */
import { z } from "zod";

const words = z.union([z.string(), z.array(z.strictObject({ type: z.literal("text"), text: z.string() }))]);
const said = z.union([words, z.null()]);
const call = (id: z.ZodType<string>) =>
  z.strictObject({
    id,
    type: z.literal("function"),
    function: z.strictObject({ name: z.string(), arguments: z.string() }),
  });
const tool = z.strictObject({
  type: z.literal("function"),
  function: z.strictObject({
    name: z.string(),
    description: z.string().optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
    strict: z.boolean().nullish(),
  }),
});
const image = z.strictObject({
  type: z.literal("image_url"),
  image_url: z.strictObject({ url: z.string(), detail: z.string().optional() }),
});
const text = z.strictObject({ type: z.literal("text"), text: z.string() });
/** Whoever has no form for documents says so: nothing else could be done with one. */
const document = z.strictObject({ type: z.literal("file"), file: z.unknown() });
const user = (...more: z.ZodObject[]) => z.union([z.string(), z.array(z.union([text, image, ...more]))]);
const choice = z.union([
  z.enum(["auto", "none", "any", "required"]),
  z.strictObject({ type: z.literal("function"), function: z.strictObject({ name: z.string() }) }),
]);
const format = z.union([
  z.strictObject({ type: z.enum(["text", "json_object"]) }),
  z.strictObject({
    type: z.literal("json_schema"),
    json_schema: z.strictObject({
      name: z.string(),
      description: z.string().nullish(),
      strict: z.boolean().optional(),
      schema: z.record(z.string(), z.unknown()),
    }),
  }),
]);

/** Of all three. */
const COMMON = {
  model: z.string(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  max_tokens: z.number().nullish(),
  stream: z.boolean().optional(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: choice.optional(),
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  n: z.number().nullish(),
  parallel_tool_calls: z.boolean().optional(),
  reasoning_effort: z.string().nullish(),
  response_format: format.optional(),
};
const INCLUDE_USAGE = z.strictObject({ include_usage: z.literal(true) });

/** Fields of the request, by vendor; throws for any other. */
export const REQUESTS_OF: Readonly<Record<string, z.ZodType>> = {
  mistral: z.strictObject({
    ...COMMON,
    random_seed: z.number().nullish(),
    metadata: z.record(z.string(), z.unknown()).nullish(),
    prompt_cache_key: z.string().nullish(),
    service_tier: z.enum(["auto", "standard_only"]).nullish(),
    messages: z.array(z.discriminatedUnion("role", [
      z.strictObject({ role: z.literal("system"), content: words }),
      z.strictObject({
        role: z.literal("user"),
        content: user(z.strictObject({
          type: z.literal("document_url"),
          document_url: z.string(),
          document_name: z.string().optional(),
        })),
      }),
      z.strictObject({
        role: z.literal("assistant"),
        content: said.optional(),
        tool_calls: z.array(call(z.string().regex(/^[a-zA-Z0-9]{9}$/))).nullish(),
        prefix: z.boolean().optional(),
      }),
      z.strictObject({
        role: z.literal("tool"),
        content: said,
        tool_call_id: z.string().regex(/^[a-zA-Z0-9]{9}$/),
        name: z.string().optional(),
      }),
    ])),
  }),
  groq: z.strictObject({
    ...COMMON,
    n: z.literal(1).nullish(),
    max_completion_tokens: z.number().nullish(),
    metadata: z.record(z.string(), z.unknown()).nullish(),
    seed: z.number().nullish(),
    service_tier: z.string().nullish(),
    store: z.boolean().nullish(),
    stream_options: INCLUDE_USAGE.optional(),
    user: z.string().nullish(),
    messages: z.array(z.discriminatedUnion("role", [
      z.strictObject({ role: z.enum(["system", "developer"]), content: words }),
      z.strictObject({ role: z.literal("user"), content: user(document) }),
      z.strictObject({
        role: z.literal("assistant"),
        content: said.optional(),
        reasoning: z.string().nullish(),
        tool_calls: z.array(call(z.string())).optional(),
      }),
      z.strictObject({ role: z.literal("tool"), content: words, tool_call_id: z.string() }),
    ])),
  }),
  cerebras: z.strictObject({
    ...COMMON,
    max_completion_tokens: z.number().nullish(),
    logit_bias: z.unknown().optional(),
    logprobs: z.boolean().nullish(),
    top_logprobs: z.number().nullish(),
    prompt_cache_key: z.string().nullish(),
    seed: z.number().nullish(),
    service_tier: z.string().nullish(),
    stream_options: INCLUDE_USAGE.optional(),
    user: z.string().nullish(),
    messages: z.array(z.discriminatedUnion("role", [
      z.strictObject({
        role: z.enum(["system", "developer"]),
        content: words,
        name: z.string().optional(),
      }),
      z.strictObject({ role: z.literal("user"), content: user(document), name: z.string().optional() }),
      z.strictObject({
        role: z.literal("assistant"),
        content: said.optional(),
        name: z.string().optional(),
        reasoning: z.string().nullish(),
        tool_calls: z.array(call(z.string())).optional(),
      }),
      z.strictObject({
        role: z.literal("tool"),
        content: words,
        tool_call_id: z.string(),
        name: z.string().optional(),
      }),
    ])),
  }),
};
