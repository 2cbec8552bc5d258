/**
 * Checks a Converse body as strictly as Amazon Bedrock does: the fields, members of unions, patterns and lengths of AWS's
 * service model (client-bedrock-runtime 3.1163), and the rules of order and of single models that only its error messages tell.
 */
import { z } from "zod";
import { must } from "./strict.ts";

const BASE64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/).min(1);
const TEXT = z.string().regex(/\S/);
const s3Location = z.strictObject({ uri: z.string().regex(/^s3:\/\//) });
const source = z.union([z.strictObject({ bytes: BASE64 }), z.strictObject({ s3Location })]);
const text = z.strictObject({ text: TEXT });
const cachePoint = z.strictObject({
  cachePoint: z.strictObject({ type: z.literal("default"), ttl: z.enum(["5m", "1h"]).optional() }),
});
const image = z.strictObject({
  image: z.strictObject({ format: z.enum(["png", "jpeg", "gif", "webp"]), source }),
});
const document = z.strictObject({
  document: z.strictObject({
    format: z.enum(["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"]),
    name: z.string().regex(/^[a-zA-Z0-9()[\]-]+(?: [a-zA-Z0-9()[\]-]+)*$/).max(200),
    source,
    context: z.string().min(1).optional(),
    citations: z.strictObject({ enabled: z.boolean() }).optional(),
  }),
});
const audio = z.strictObject({
  audio: z.strictObject({
    format: z.enum(["mp3", "opus", "wav", "aac", "flac", "mp4", "ogg", "m4a", "webm", "pcm"]),
    source,
  }),
});
const video = z.strictObject({
  video: z.strictObject({
    format: z.enum(["mkv", "mov", "mp4", "webm", "flv", "mpeg", "mpg", "wmv", "three_gp"]),
    source,
  }),
});
const searchResult = z.strictObject({
  searchResult: z.strictObject({
    source: z.string(),
    title: z.string(),
    content: z.array(text).min(1),
    citations: z.strictObject({ enabled: z.boolean() }).optional(),
  }),
});
const ID = z.string().regex(/^[a-zA-Z0-9_-]+$/).min(1).max(64);
const NAME = z.string().regex(/^[a-zA-Z0-9_-]+$/).min(1).max(64);
const toolUse = z.strictObject({
  toolUse: z.strictObject({ toolUseId: ID, name: NAME, input: z.record(z.string(), z.unknown()) }),
});
const toolResult = z.strictObject({
  toolResult: z.strictObject({
    toolUseId: ID,
    content: z.array(z.union([z.strictObject({ text: z.string() }), image, document, video, searchResult]))
      .min(1),
    status: z.enum(["success", "error"]).optional(),
  }),
});
const reasoningContent = z.strictObject({
  reasoningContent: z.union([
    z.strictObject({
      reasoningText: z.strictObject({ text: z.string(), signature: z.string().min(1) }),
    }),
    z.strictObject({ redactedContent: BASE64 }),
  ]),
});

const place = z.strictObject({ documentIndex: z.int().min(0), start: z.int().min(0), end: z.int().min(0) });
const citationsContent = z.strictObject({
  citationsContent: z.strictObject({
    content: z.array(text).min(1),
    citations: z.array(z.strictObject({
      title: z.string().optional(),
      source: z.string().optional(),
      sourceContent: z.array(text).optional(),
      location: z.union([
        z.strictObject({ documentChar: place }),
        z.strictObject({ documentPage: place }),
        z.strictObject({ documentChunk: place }),
        z.strictObject({
          searchResultLocation: z.strictObject({
            searchResultIndex: z.int().min(0),
            start: z.int().min(0),
            end: z.int().min(0),
          }),
        }),
      ]),
    })).min(1),
  }),
});

const message = z.discriminatedUnion("role", [
  z.strictObject({
    role: z.literal("user"),
    content: z.array(z.union([text, image, document, audio, video, searchResult, toolResult, cachePoint]))
      .min(1),
  }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.array(z.union([text, citationsContent, reasoningContent, toolUse, cachePoint])).min(1),
  }),
]);

const EMPTY = z.strictObject({});
const BODY = z.strictObject({
  messages: z.array(message).min(1),
  system: z.array(z.union([text, cachePoint])).min(1).optional(),
  inferenceConfig: z.strictObject({
    maxTokens: z.int().min(1).optional(),
    temperature: z.number().min(0).max(1).optional(),
    topP: z.number().min(0).max(1).optional(),
    stopSequences: z.array(z.string().regex(/\S/)).min(1).max(2500).optional(),
  }).optional(),
  toolConfig: z.strictObject({
    tools: z.array(z.union([
      z.strictObject({
        toolSpec: z.strictObject({
          name: NAME,
          description: z.string().min(1).optional(),
          inputSchema: z.strictObject({ json: z.looseObject({ type: z.literal("object") }) }),
        }),
      }),
      cachePoint,
    ])).min(1),
    toolChoice: z.union([
      z.strictObject({ auto: EMPTY }),
      z.strictObject({ any: EMPTY }),
      z.strictObject({ tool: z.strictObject({ name: NAME }) }),
    ]).optional(),
  }).optional(),
  additionalModelRequestFields: z.strictObject({
    thinking: z.discriminatedUnion("type", [
      z.strictObject({ type: z.literal("enabled"), budget_tokens: z.int().min(1024) }),
      z.strictObject({ type: z.literal("adaptive"), display: z.enum(["summarized", "omitted"]).optional() }),
      z.strictObject({ type: z.literal("disabled") }),
    ]).optional(),
    top_k: z.int().min(0).optional(),
    reasoning_effort: z.enum(["low", "medium", "high"]).optional(),
    reasoningConfig: z.strictObject({
      type: z.literal("enabled"),
      maxReasoningEffort: z.enum(["low", "medium", "high"]),
    }).optional(),
    inferenceConfig: z.strictObject({ topK: z.int() }).optional(),
  }).optional(),
  additionalModelResponseFieldPaths: z.array(z.string().regex(/^\//)).min(1).max(10).optional(),
  outputConfig: z.strictObject({
    textFormat: z.strictObject({
      type: z.literal("json_schema"),
      structure: z.strictObject({
        jsonSchema: z.strictObject({
          schema: z.string(),
          name: z.string().optional(),
          description: z.string().optional(),
        }),
      }),
    }).optional(),
    effort: z.enum(["low", "medium", "high", "xhigh", "max"]).optional(),
  }).optional(),
  serviceTier: z.strictObject({ type: z.enum(["default", "flex", "priority", "reserved"]) }).optional(),
});

export type ConverseBody = z.infer<typeof BODY>;
type Block = ConverseBody["messages"][number]["content"][number];

/** The body, typed; throws what the API would refuse. @param model whose own rules are looked at, too */
export function checkConverseRequest(sent: unknown, model = ""): ConverseBody {
  const parsed = BODY.safeParse(JSON.parse(JSON.stringify(sent)));
  must(parsed.success, parsed.success ? "" : z.prettifyError(parsed.error) + JSON.stringify(sent));
  const body = parsed.data;
  checkOrder(body);
  const points = JSON.stringify(body).split('{"cachePoint":{').length - 1;
  must(points <= 4, "over 4 cache points");
  const specs = (body.toolConfig?.tools ?? []).flatMap((t) => "toolSpec" in t ? [t.toolSpec] : []);
  const names = specs.map((t) => t.name);
  must(new Set(names).size === names.length, "two tools of one name");
  must(body.toolConfig === undefined || names.length > 0, "a tool configuration without tools");
  const choice = body.toolConfig?.toolChoice;
  if (choice && "tool" in choice) must(names.includes(choice.tool.name), "an undeclared tool is chosen");
  for (const { inputSchema } of specs) {
    must(
      !("anyOf" in inputSchema.json || "oneOf" in inputSchema.json),
      "alternatives at the top of a schema",
    );
  }
  const format = body.outputConfig?.textFormat;
  if (format) JSON.parse(format.structure.jsonSchema.schema);
  if (model.includes("claude")) checkClaude(body, model);
  else if (model !== "") {
    must(body.messages.at(-1)!.role === "user", "the assistant speaks last");
    must(body.additionalModelRequestFields?.thinking === undefined, "Claude's field for another model");
  }
  return body;
}

function checkClaude(body: ConverseBody, model: string): void {
  const [, major, minor = "0"] = /claude-\w+-(\d)-(\d)?/.exec(model)!;
  const generation = Number(`${major}.${minor}`);
  const { inferenceConfig = {}, additionalModelRequestFields: fields = {}, toolConfig, outputConfig } = body;
  const { thinking } = fields;
  const thinks = thinking !== undefined && thinking.type !== "disabled";
  must(
    inferenceConfig.temperature === undefined || inferenceConfig.topP === undefined,
    "temperature beside topP",
  );
  if (thinking?.type === "enabled") {
    must(
      thinking.budget_tokens < (inferenceConfig.maxTokens ?? Infinity),
      "a budget that the cap does not cover",
    );
    must(generation < 4.6, "a budget where the model is adaptive");
  }
  if (generation < 4.6) {
    must(thinking?.type !== "adaptive" && outputConfig?.effort === undefined, "effort of an older model");
  }
  if (generation >= 4.7) {
    must(
      inferenceConfig.temperature === undefined && inferenceConfig.topP === undefined &&
        fields.top_k === undefined,
      "sampling of a model that refuses it",
    );
  }
  if (thinks) {
    must(
      inferenceConfig.temperature === undefined || inferenceConfig.temperature === 1,
      "thinking with a temperature",
    );
    must(fields.top_k === undefined, "thinking with top_k");
    const choice = toolConfig?.toolChoice ?? {};
    must(!("any" in choice || "tool" in choice), "thinking with a forced tool");
    must(body.messages.at(-1)!.role === "user", "prefill with thinking");
  }
  if (generation >= 4.6) must(body.messages.at(-1)!.role === "user", "prefill");
}

function checkOrder({ messages, toolConfig }: ConverseBody): void {
  must(messages[0].role === "user", "the assistant speaks first");
  let open = new Set<string>();
  const documents: string[] = [];
  let called = false;
  messages.forEach((m, i) => {
    must(messages[i - 1]?.role !== m.role, `two messages of the ${m.role} in a row`);
    const blocks: readonly Block[] = m.content;
    must(!("cachePoint" in blocks[0]), "a cache point before anything");
    const inside = blocks.flatMap((b) => "toolResult" in b ? b.toolResult.content as readonly object[] : []);
    for (const b of [...blocks, ...inside]) {
      if ("document" in b) documents.push((b.document as { name: string }).name);
    }
    if (blocks.some((b) => "document" in b)) {
      must(blocks.some((b) => "text" in b), "a document without a text");
    }
    const others = blocks.filter((b) => !("cachePoint" in b));
    const results = others.flatMap((b) => "toolResult" in b ? [b.toolResult] : []);
    must(others.slice(0, results.length).every((b) => "toolResult" in b), "results behind other blocks");
    for (const { toolUseId } of results) must(open.delete(toolUseId), "a result of no call right before");
    must(open.size === 0, "calls without results");
    const calls = blocks.flatMap((b) => "toolUse" in b ? [b.toolUse.toolUseId] : []);
    must(new Set(calls).size === calls.length, "two calls of one id");
    open = new Set(calls);
    called ||= calls.length > 0;
    if (m.role === "assistant" && i === messages.length - 1) {
      const last = blocks.at(-1)!;
      if ("text" in last) must(last.text === last.text.trimEnd(), "trailing white space of the last words");
    }
  });
  must(open.size === 0, "calls without results");
  must(new Set(documents).size === documents.length, "two documents of one name");
  must(!called || toolConfig !== undefined, "calls without declared tools");
}
