/** Which definitions hold for what each caller format sends. */
import { isObject, type Loose } from "../../src/exchange/json.ts";
import type { CallerFormatName } from "../../src/exchange/format_name.ts";
import { type DocumentName, eventsOf, isWritten, mistakes, readDocument } from "./check.ts";

type Definition = readonly [DocumentName, string];

interface SurfaceSchemas {
  answer: readonly Definition[];
  event: readonly Definition[];
  error: readonly Definition[];
}

const SCHEMAS: Readonly<Record<CallerFormatName, SurfaceSchemas>> = {
  chat_completions: {
    answer: [["openai.types", "ChatCompletion"], ["openai.openapi", "CreateChatCompletionResponse"]],
    event: [["openai.types", "ChatCompletionChunk"], [
      "openai.openapi",
      "CreateChatCompletionStreamResponse",
    ]],
    // The service's own envelope (SPEC 7.1): clients read its `message` and `code`.
    error: [],
  },
  messages: {
    answer: [["anthropic.types", "Message"]],
    event: [["anthropic.types", "RawMessageStreamEvent"]],
    error: [["anthropic.types", "ErrorResponse"]],
  },
  responses: {
    answer: [
      ["open_responses.openapi", "ResponseResource"],
      ["openai.types", "Response"],
    ],
    event: [["openai.types", "ResponseStreamEvent"]],
    error: [],
  },
};

export function answerMistakes(format: CallerFormatName, body: unknown): string[] {
  return SCHEMAS[format].answer.flatMap(([document, name]) => mistakes(document, name, body));
}

export function errorMistakes(format: CallerFormatName, body: unknown): string[] {
  return SCHEMAS[format].error.flatMap(([document, name]) => mistakes(document, name, body));
}

/** Of an answer's stream, whole or broken. */
export function streamMistakes(format: CallerFormatName, sse: string): string[] {
  return eventsOf(sse).flatMap(({ name, data }) => {
    if (data.item !== undefined && !isWritten(data.item)) return [];
    if (format !== "responses" && (name === "error" || isObject(data.error))) {
      return errorMistakes(format, data);
    }
    const found = SCHEMAS[format].event.flatMap(([document, kind]) => mistakes(document, kind, data));
    return format === "responses" ? [...found, ...openResponsesMistakes(data)] : found;
  });
}

const EVENT = /StreamingEvent$/;
let known: Map<string, string> | undefined;

/** Open Responses has no union of its events, and leaves those that it does not know to their owners. */
function openResponsesMistakes(data: Loose): string[] {
  if (known === undefined) {
    known = new Map();
    for (const [name, def] of Object.entries(readDocument("open_responses.openapi").$defs)) {
      if (!EVENT.test(name)) continue;
      const type = (def.properties as Record<string, { enum?: string[] }>).type.enum?.[0];
      if (type !== undefined) known.set(type, name);
    }
  }
  const name = known.get(String(data.type));
  const item = isObject(data.item) ? data.item.type : undefined;
  const owned =
    (item !== undefined && item !== "message" && item !== "function_call" && item !== "reasoning") ||
    (isObject(data.annotation) && data.annotation.type !== "url_citation");
  return name === undefined || owned ? [] : mistakes("open_responses.openapi", name, data);
}
