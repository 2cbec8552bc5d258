/** What the recording provider says, in the shapes of three APIs, whole and as a stream. */

export type Api = "openai-chat" | "anthropic-messages" | "openai-responses";

export interface Counts {
  /** All input; `cached` of it carries the number of the request, so that a record can be traced to it. */
  input: number;
  cached: number;
  output: number;
  reasoning: number;
}

export interface Say {
  text: string;
  /** A call of the search tool instead of an end. */
  search?: { id: string; query: string };
  /** Null: the provider reports no usage. */
  usage: Counts | null;
}

type Loose = Record<string, unknown>;

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const event = (type: string, fields: Loose) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const argumentsOf = (query: string) => JSON.stringify({ query });

export function whole(api: Api, say: Say): Loose {
  if (api === "openai-chat") {
    const calls = say.search && {
      tool_calls: [{
        id: say.search.id,
        type: "function",
        function: { name: "web_search", arguments: argumentsOf(say.search.query) },
      }],
    };
    return {
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{
        index: 0,
        message: { role: "assistant", content: say.text, ...calls },
        finish_reason: say.search ? "tool_calls" : say.text === "" ? "length" : "stop",
      }],
      ...(say.usage && { usage: chatUsage(say.usage) }),
    };
  }
  if (api === "anthropic-messages") {
    const content: Loose[] = [{ type: "text", text: say.text }];
    if (say.search) {
      content.push({
        type: "tool_use",
        id: say.search.id,
        name: "web_search",
        input: { query: say.search.query },
      });
    }
    return {
      id: "msg",
      type: "message",
      role: "assistant",
      model: "m",
      content,
      stop_reason: say.search ? "tool_use" : "end_turn",
      stop_sequence: null,
      ...(say.usage && { usage: { ...messagesInput(say.usage), output_tokens: say.usage.output } }),
    };
  }
  return response(say, "completed");
}

/** The frames of a stream, the text cut in pieces. */
export function frames(api: Api, say: Say): string[] {
  const pieces = say.text.match(/.{1,12}/gs) ?? [];
  if (api === "openai-chat") return chatFrames(say, pieces);
  return api === "anthropic-messages" ? messagesFrames(say, pieces) : responsesFrames(say, pieces);
}

function chatFrames(say: Say, pieces: string[]): string[] {
  const chunk = (delta: Loose, finish: string | null = null) =>
    data({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  const out = [chunk({ role: "assistant", content: "" }), ...pieces.map((content) => chunk({ content }))];
  if (say.search) {
    const { id, query } = say.search;
    const call = { name: "web_search", arguments: argumentsOf(query) };
    out.push(chunk({ tool_calls: [{ index: 0, id, type: "function", function: call }] }));
  }
  out.push(chunk({}, say.search ? "tool_calls" : say.text === "" ? "length" : "stop"));
  if (say.usage) out.push(data({ id: "c", model: "m", choices: [], usage: chatUsage(say.usage) }));
  return [...out, "data: [DONE]\n\n"];
}

function chatUsage({ input, cached, output, reasoning }: Counts): Loose {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

function messagesFrames(say: Say, pieces: string[]): string[] {
  const message: Loose = {
    id: "msg",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...(say.usage && { usage: { ...messagesInput(say.usage), output_tokens: 1 } }),
  };
  const out = [
    event("message_start", { message }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ...pieces.map((text) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text } })),
    event("content_block_stop", { index: 0 }),
  ];
  if (say.search) {
    const { id, query } = say.search;
    out.push(
      event("content_block_start", {
        index: 1,
        content_block: { type: "tool_use", id, name: "web_search", input: {} },
      }),
      event("content_block_delta", {
        index: 1,
        delta: { type: "input_json_delta", partial_json: argumentsOf(query) },
      }),
      event("content_block_stop", { index: 1 }),
    );
  }
  const delta = { stop_reason: say.search ? "tool_use" : "end_turn", stop_sequence: null };
  out.push(
    event("message_delta", { delta, ...(say.usage && { usage: { output_tokens: say.usage.output } }) }),
    event("message_stop", {}),
  );
  return out;
}

function messagesInput({ input, cached }: Counts): Loose {
  return { input_tokens: input - cached, cache_read_input_tokens: cached, cache_creation_input_tokens: 0 };
}

function response(say: Say, status: string): Loose {
  const output: Loose[] = [{
    id: "msg_1",
    type: "message",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: say.text, annotations: [] }],
  }];
  if (say.search) output.push(functionCall(say.search));
  return {
    id: "resp_1",
    object: "response",
    created_at: 1,
    status,
    model: "m",
    output: status === "completed" ? output : [],
    usage: status === "completed" && say.usage ? responsesUsage(say.usage) : null,
  };
}

function functionCall({ id, query }: { id: string; query: string }): Loose {
  return {
    id: "fc_1",
    type: "function_call",
    status: "completed",
    call_id: id,
    name: "web_search",
    arguments: argumentsOf(query),
  };
}

function responsesUsage({ input, cached, output, reasoning }: Counts): Loose {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

function responsesFrames(say: Say, pieces: string[]): string[] {
  const at = { item_id: "msg_1", output_index: 0 };
  const item = { id: "msg_1", type: "message", status: "in_progress", role: "assistant", content: [] };
  const part = { type: "output_text", text: "", annotations: [] };
  const out = [
    event("response.created", { response: response(say, "in_progress") }),
    event("response.output_item.added", { output_index: 0, item }),
    event("response.content_part.added", { ...at, content_index: 0, part }),
    ...pieces.map((delta) => event("response.output_text.delta", { ...at, content_index: 0, delta })),
    event("response.output_text.done", { ...at, content_index: 0, text: say.text }),
    event("response.output_item.done", {
      output_index: 0,
      item: { ...item, status: "completed", content: [{ ...part, text: say.text }] },
    }),
  ];
  if (say.search) {
    const call = functionCall(say.search);
    out.push(
      event("response.output_item.added", { output_index: 1, item: { ...call, arguments: "" } }),
      event("response.function_call_arguments.done", {
        item_id: "fc_1",
        output_index: 1,
        arguments: call.arguments,
      }),
      event("response.output_item.done", { output_index: 1, item: call }),
    );
  }
  out.push(event("response.completed", { response: response(say, "completed") }));
  return out;
}
