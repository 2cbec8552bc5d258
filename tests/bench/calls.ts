/** The calls that measures make: what is sent in each format, and how its answer is told to be whole. */
import type { Job } from "./load.ts";
import { type Program, SECRET } from "./programs.ts";

export type Format = "chat" | "messages" | "responses";

/** What a call is sent to. A relay takes the provider's name of a model, the gateway its own. */
export interface Target {
  name: string;
  program: Program;
  format: Format;
  /** Absent: no gateway. */
  secret?: string;
  /** What stands before the provider's name of a model. Absent: as this gateway has it. */
  models?: string;
  /** What stands before a path. */
  base?: string;
  /** The model that it is asked for in place of a measure's own. */
  model?: string;
  /** It is behind TLS, and asked over HTTP/2. */
  http2?: boolean;
}

export const gatewayAs = (program: Program, format: Format, secret = SECRET): Target => ({
  name: `gateway, ${format}`,
  program,
  format,
  secret,
});

const PATHS = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
} as const;

/** What the first token of a stream shows and no frame before it. */
const TOKENS = {
  chat: '"content":" ',
  messages: "text_delta",
  responses: "output_text.delta",
} as const;
const ENDS = { chat: "[DONE]", messages: "message_stop", responses: "response.completed" } as const;
/** In every whole answer of the provider. */
const WHOLE_TOKEN = "the quick brown fox";

/** In every prompt; the load puts another number in its place each time, so that no answer of before can serve. */
const NUMBER = "No. 00000000. ";
const SENTENCE =
  "Please look at the notes of last week and say in one paragraph what was decided and by whom. ";
/** Characters of one message of a long conversation. */
const TURN_CHARS = 8000;

/** Turns of a conversation of about this many characters, the last one the user's. */
function turns(chars: number): { role: string; content: string }[] {
  const count = Math.max(1, Math.round(chars / TURN_CHARS / 2) * 2 + 1);
  const each = Math.ceil(chars / count);
  const content = (NUMBER + SENTENCE.repeat(Math.ceil(each / SENTENCE.length))).slice(0, each);
  return Array.from({ length: count }, (_, i) => ({ role: i % 2 === 0 ? "user" : "assistant", content }));
}

/** As many tools as a coding agent has. */
const TOOLS = Array.from({ length: 20 }, (_, i) => ({
  name: `tool_${i}`,
  description: SENTENCE.repeat(4),
  schema: {
    type: "object",
    properties: { path: { type: "string", description: SENTENCE }, lines: { type: "integer" } },
    required: ["path"],
  },
}));

function toolsIn(format: Format): object[] {
  return TOOLS.map(({ name, description, schema }) =>
    format === "messages"
      ? { name, description, input_schema: schema }
      : format === "responses"
      ? { type: "function", name, description, parameters: schema }
      : { type: "function", function: { name, description, parameters: schema } }
  );
}

/** The parts of a job that follow from whom is asked for what. */
export function call(
  target: Target,
  model: string,
  { chars = 500, tools = false }: { chars?: number; tools?: boolean } = {},
): Pick<Job, "port" | "path" | "headers" | "body" | "token" | "end" | "pid" | "http2"> {
  const { format, secret, program, models = "bench/", base = "", http2 } = target;
  const stream = model.startsWith("stream");
  const name = secret === undefined ? model : `${models}${model}`;
  const conversation = turns(chars);
  const search = model === "search" ? { web_search_options: {} } : {};
  const offered = tools ? { tools: toolsIn(format) } : search;
  const body = format === "responses"
    ? { model: name, stream, max_output_tokens: 300, input: conversation, ...offered }
    : { model: name, stream, max_tokens: 300, ...offered, messages: conversation };
  return {
    port: program.port,
    pid: program.pid,
    path: base + PATHS[format],
    ...(http2 && { http2 }),
    headers: secret === undefined ? {} : { authorization: `Bearer ${secret}` },
    body: JSON.stringify(body),
    token: stream ? TOKENS[format] : WHOLE_TOKEN,
    ...(stream && { end: ENDS[format] }),
  };
}
