/** What a model says in one round, on the wire of each provider API. */
import type { Wild } from "../corpus/wild.ts";

export const APIS = ["openai-chat", "openai-responses", "anthropic-messages", "gemini"] as const;
export type SearchedApi = typeof APIS[number];

export interface RoundCall {
  id: string;
  name: string;
  /** JSON text. */
  arguments: string;
}

export interface RoundUsage {
  input: number;
  output: number;
  /** Further fields of the report, as the API has them. */
  more?: Wild;
}

export interface Round {
  /** The proof that the provider wants back; absent: no reasoning. */
  proof?: string;
  text?: string;
  calls?: RoundCall[];
  /** Cut by the output cap. */
  cut?: boolean;
  /** Null: the provider reports none. */
  usage: RoundUsage | null;
}

export function apiOf(path: string): SearchedApi {
  if (path.includes("/chat/completions")) return "openai-chat";
  if (path.includes("/responses")) return "openai-responses";
  return path.includes("/messages") ? "anthropic-messages" : "gemini";
}

/** The pieces of a streamed answer; each is a network chunk. */
export function streamOf(api: SearchedApi, round: Round): string[] {
  switch (api) {
    case "openai-chat":
      return chatStream(round);
    case "openai-responses":
      return responsesStream(round);
    case "anthropic-messages":
      return messagesStream(round);
    case "gemini":
      return geminiStream(round);
  }
}

export function wholeOf(api: SearchedApi, round: Round): Wild {
  switch (api) {
    case "openai-chat":
      return {
        id: "c",
        object: "chat.completion",
        model: "model",
        created: 1,
        choices: [{ index: 0, finish_reason: chatFinish(round), message: chatMessage(round) }],
        ...(round.usage && { usage: chatUsage(round.usage) }),
      };
    case "openai-responses":
      return responseOf(round, round.cut ? "incomplete" : "completed");
    case "anthropic-messages":
      return {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "model",
        content: messageBlocks(round),
        stop_reason: messagesStop(round),
        stop_sequence: null,
        usage: messagesUsage(round),
      };
    case "gemini":
      return geminiChunk(geminiParts(round), round, true);
  }
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: Wild) => `event: ${value.type}\n${data(value)}`;

// chat-completions, in the dialect that proves its reasoning

const details = (proof: string) => [{
  type: "reasoning.encrypted",
  data: proof,
  format: "x",
  index: 0,
  id: "r",
}];

function chatMessage(round: Round): Wild {
  return {
    role: "assistant",
    content: round.text ?? null,
    ...(round.proof && { reasoning: "Hm.", reasoning_details: details(round.proof) }),
    ...(round.calls && { tool_calls: round.calls.map(chatCall) }),
  };
}

function chatCall(call: RoundCall): Wild {
  return { id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } };
}

function chatFinish(round: Round): string {
  return round.cut ? "length" : round.calls ? "tool_calls" : "stop";
}

function chatUsage({ input, output, more }: RoundUsage): Wild {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output, ...more };
}

function chatStream(round: Round): string[] {
  const chunk = (delta: Wild, finish: string | null = null) =>
    data({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "model",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  const pieces = [chunk({ role: "assistant", content: "" })];
  if (round.proof) {
    pieces.push(chunk({ reasoning: "Hm." }), chunk({ reasoning_details: details(round.proof) }));
  }
  for (const word of words(round.text)) pieces.push(chunk({ content: word }));
  round.calls?.forEach((call, index) => {
    const half = Math.floor(call.arguments.length / 2);
    pieces.push(
      chunk({ tool_calls: [{ index, ...chatCall({ ...call, arguments: "" }) }] }),
      chunk({ tool_calls: [{ index, function: { arguments: call.arguments.slice(0, half) } }] }),
      chunk({ tool_calls: [{ index, function: { arguments: call.arguments.slice(half) } }] }),
    );
  });
  pieces.push(chunk({}, chatFinish(round)));
  if (round.usage) {
    pieces.push(data({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "model",
      choices: [],
      usage: chatUsage(round.usage),
    }));
  }
  return [...pieces, "data: [DONE]\n\n"];
}

// responses

function responseItems(round: Round): Wild[] {
  const items: Wild[] = [];
  if (round.proof) {
    items.push({ id: "rs_1", type: "reasoning", summary: [], encrypted_content: round.proof });
  }
  if (round.text) {
    const part = { type: "output_text", text: round.text, annotations: [] };
    items.push({ id: "msg_1", type: "message", role: "assistant", status: "completed", content: [part] });
  }
  for (const { id, name, arguments: args } of round.calls ?? []) {
    items.push({
      id: `fc_${id}`,
      type: "function_call",
      status: "completed",
      call_id: id,
      name,
      arguments: args,
    });
  }
  return items;
}

function responseOf(round: Round, status: string): Wild {
  const { usage } = round;
  return {
    id: "resp_1",
    object: "response",
    created_at: 1,
    model: "model",
    status,
    error: null,
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
    output: responseItems(round),
    usage: usage && {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.output,
      ...usage.more,
    },
  };
}

function responsesStream(round: Round): string[] {
  let sequence = 0;
  const say = (type: string, fields: Wild) => event({ type, sequence_number: sequence++, ...fields });
  const opening = { ...responseOf({ usage: null }, "in_progress"), output: [] };
  const pieces = [say("response.created", { response: opening })];
  responseItems(round).forEach((item, output_index) => {
    const at = { item_id: item.id, output_index };
    const added: Wild = { ...item, status: "in_progress" };
    if (item.type === "message") added.content = [];
    if (item.type === "function_call") added.arguments = "";
    if (item.type === "reasoning") delete added.encrypted_content;
    pieces.push(say("response.output_item.added", { output_index, item: added }));
    if (item.type === "message") {
      const part = { type: "output_text", text: "", annotations: [] };
      pieces.push(say("response.content_part.added", { ...at, content_index: 0, part }));
      for (const delta of words(round.text)) {
        pieces.push(say("response.output_text.delta", { ...at, content_index: 0, delta }));
      }
      pieces.push(say("response.output_text.done", { ...at, content_index: 0, text: round.text }));
      const done = { ...part, text: round.text };
      pieces.push(say("response.content_part.done", { ...at, content_index: 0, part: done }));
    }
    if (item.type === "function_call") {
      pieces.push(say("response.function_call_arguments.delta", { ...at, delta: item.arguments }));
      pieces.push(say("response.function_call_arguments.done", { ...at, arguments: item.arguments }));
    }
    pieces.push(say("response.output_item.done", { output_index, item }));
  });
  const status = round.cut ? "incomplete" : "completed";
  return [...pieces, say(`response.${status}`, { response: responseOf(round, status) })];
}

// messages

function messageBlocks(round: Round): Wild[] {
  const blocks: Wild[] = [];
  if (round.proof) blocks.push({ type: "thinking", thinking: "Hm.", signature: round.proof });
  if (round.text) blocks.push({ type: "text", text: round.text });
  for (const call of round.calls ?? []) {
    blocks.push({ type: "tool_use", id: call.id, name: call.name, input: looseInput(call.arguments) });
  }
  return blocks;
}

/** This API's whole answers hold parsed input. */
function looseInput(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

function messagesStop(round: Round): string {
  return round.cut ? "max_tokens" : round.calls ? "tool_use" : "end_turn";
}

function messagesUsage({ usage }: Round): Wild | undefined {
  return usage ? { input_tokens: usage.input, output_tokens: usage.output, ...usage.more } : undefined;
}

function messagesStream(round: Round): string[] {
  const message = { id: "msg_1", type: "message", role: "assistant", model: "model", content: [] };
  const first = round.usage && { input_tokens: round.usage.input, output_tokens: 1 };
  const pieces = [
    event({
      type: "message_start",
      message: { ...message, stop_reason: null, stop_sequence: null, usage: first ?? undefined },
    }),
  ];
  messageBlocks(round).forEach((block, index) => {
    const start: Wild = { ...block };
    const deltas: Wild[] = [];
    if (block.type === "thinking") {
      Object.assign(start, { thinking: "", signature: "" });
      deltas.push({ type: "thinking_delta", thinking: block.thinking });
      deltas.push({ type: "signature_delta", signature: block.signature });
    } else if (block.type === "text") {
      start.text = "";
      for (const word of words(round.text)) deltas.push({ type: "text_delta", text: word });
    } else {
      start.input = {};
      const call = round.calls!.find(({ id, arguments: args }) =>
        id === block.id && JSON.stringify(looseInput(args)) === JSON.stringify(block.input)
      )!;
      deltas.push({ type: "input_json_delta", partial_json: call.arguments });
    }
    pieces.push(event({ type: "content_block_start", index, content_block: start }));
    for (const delta of deltas) pieces.push(event({ type: "content_block_delta", index, delta }));
    pieces.push(event({ type: "content_block_stop", index }));
  });
  const delta = { stop_reason: messagesStop(round), stop_sequence: null };
  return [
    ...pieces,
    event({
      type: "message_delta",
      delta,
      usage: round.usage ? { output_tokens: round.usage.output, ...round.usage.more } : undefined,
    }),
    event({ type: "message_stop" }),
  ];
}

// gemini

function geminiParts(round: Round): Wild[] {
  const parts: Wild[] = [];
  if (round.proof) parts.push({ text: "Hm.", thought: true });
  for (const word of words(round.text)) parts.push({ text: word });
  round.calls?.forEach((call, i) => {
    parts.push({
      functionCall: { id: call.id, name: call.name, args: looseInput(call.arguments) },
      // The first call of a step carries the signature.
      ...(i === 0 && round.proof && { thoughtSignature: round.proof }),
    });
  });
  return parts;
}

function geminiChunk(parts: Wild[], round: Round, last: boolean): Wild {
  const { usage } = round;
  return {
    candidates: [{
      index: 0,
      content: { role: "model", parts },
      ...(last && { finishReason: round.cut ? "MAX_TOKENS" : "STOP" }),
    }],
    ...(usage && last && {
      usageMetadata: {
        promptTokenCount: usage.input,
        candidatesTokenCount: usage.output,
        totalTokenCount: usage.input + usage.output,
      },
    }),
    modelVersion: "model",
  };
}

function geminiStream(round: Round): string[] {
  const parts = geminiParts(round);
  return [
    ...parts.map((part) => data(geminiChunk([part], round, false))),
    data(geminiChunk([{ text: "" }], round, true)),
  ];
}

function words(said: string | undefined): string[] {
  return said?.match(/\S+\s*/g) ?? [];
}
