/** Reads what a messages caller gets. */
import type { CallerAnswer, CallerChoice, CallerCounts, CallerReading } from "./caller.ts";
import { envelope } from "./caller_errors.ts";
import type { TextFrame } from "./sse_text.ts";
import { count, filled, must, mustText, searches, unique, whole } from "./strict.ts";
import { list, text, type Wild, wild } from "./wild.ts";

const MESSAGE_STOPS = [
  "end_turn",
  "max_tokens",
  "stop_sequence",
  "tool_use",
  "pause_turn",
  "refusal",
  "model_context_window_exceeded",
];

export function messageObject(m: Wild): CallerAnswer {
  must(filled(m.id) && m.type === "message" && m.role === "assistant", "id, type, role of the message");
  must(filled(m.model), "model of the message");
  must(MESSAGE_STOPS.includes(text(m.stop_reason)), `stop_reason ${m.stop_reason}`);
  must(m.stop_sequence === null || typeof m.stop_sequence === "string", "stop_sequence is missing");
  must((m.stop_reason === "stop_sequence") === (m.stop_sequence !== null), "stop_sequence and stop_reason");
  must(Array.isArray(m.content), "content of the message");
  const c: CallerChoice = {
    text: "",
    refusal: "",
    reasoning: [],
    calls: [],
    stop: text(m.stop_reason),
    citations: [],
  };
  const ids: string[] = [];
  for (const block of list(m.content)) {
    must(filled(block.type), "type of a block");
    switch (block.type) {
      case "text":
        must(typeof block.text === "string", "text of a block");
        c.text += block.text;
        for (const cited of list(block.citations)) {
          must(
            filled(cited.type) && typeof cited.cited_text === "string",
            "type and cited_text of a citation",
          );
          const url = text(cited.url) || text(cited.source);
          if (url) c.citations.push({ url, title: text(cited.title) || undefined });
        }
        break;
      case "thinking":
        must(typeof block.thinking === "string" && typeof block.signature === "string", "fields of thinking");
        if (filled(block.thinking)) c.reasoning.push(block.thinking);
        break;
      case "redacted_thinking":
        must(filled(block.data), "data of redacted thinking");
        break;
      case "tool_use":
        must(filled(block.id) && filled(block.name), "id and name of a tool use");
        must(typeof block.input === "object" && block.input !== null, "input of a tool use");
        ids.push(block.id);
        c.calls.push({
          name: block.name,
          arguments: typeof block.cut === "string" ? block.cut : JSON.stringify(block.input),
          custom: false,
        });
        break;
    }
  }
  unique(ids);
  return {
    kind: "answer",
    model: text(m.model),
    kinds: list(m.content).map((block) => text(block.type)),
    searches: searches(m.usage),
    choices: [c],
    usage: messageUsage(m.usage),
  };
}

function messageUsage(value: unknown): CallerCounts | null {
  if (value === null || value === undefined) return null;
  const u = wild(value);
  must(whole(u.input_tokens) && whole(u.output_tokens), "input_tokens and output_tokens");
  // Clients of this format add what its totals leave out.
  const apart = list(u.iterations).filter(({ type }) => type === "compaction" || type === "advisor_message");
  const all = (field: string) => apart.reduce((sum, counts) => sum + (count(counts[field]) ?? 0), 0);
  const cached = (count(u.cache_read_input_tokens) ?? 0) + all("cache_read_input_tokens");
  const cacheWrite = (count(u.cache_creation_input_tokens) ?? 0) + all("cache_creation_input_tokens");
  return {
    input: u.input_tokens + all("input_tokens") + cached + cacheWrite,
    output: u.output_tokens + all("output_tokens"),
    cached,
    cacheWrite,
    reasoning: count(wild(u.output_tokens_details).thinking_tokens),
  };
}

const DELTAS: Readonly<Record<string, string[]>> = {
  text: ["text_delta", "citations_delta"],
  thinking: ["thinking_delta", "signature_delta"],
  tool_use: ["input_json_delta"],
  server_tool_use: ["input_json_delta"],
  mcp_tool_use: ["input_json_delta"],
  compaction: ["compaction_delta"],
};

export function messageStream(frames: TextFrame[]): CallerReading {
  let message: Wild | undefined;
  const blocks: Wild[] = [];
  let open: Wild | undefined;
  let input = "";
  let ending: Wild | undefined;
  let stopped = false;
  for (const [at, frame] of frames.entries()) {
    const event = wild(JSON.parse(frame.data));
    must(frame.event === event.type, `event ${frame.event} with type ${event.type}`);
    must(!stopped, `${event.type} after message_stop`);
    if (event.type === "ping") continue;
    if (event.type === "error") {
      must(at === frames.length - 1, "frames after the error");
      return envelope("messages", event, 200);
    }
    must(message !== undefined || event.type === "message_start", `${event.type} before message_start`);
    must(!ending || event.type === "message_stop", `${event.type} after message_delta`);
    switch (event.type) {
      case "message_start": {
        must(message === undefined, "message_start twice");
        message = { ...wild(event.message) };
        const u = wild(message.usage);
        must(u.input_tokens === 0 && u.output_tokens === 0, "message_start has counters above zero");
        must(Array.isArray(message.content) && message.content.length === 0, "message_start has content");
        must(
          message.stop_reason === null && message.stop_sequence === null,
          "message_start has a stop reason",
        );
        break;
      }
      case "content_block_start":
        must(open === undefined, "a block starts inside a block");
        must(event.index === blocks.length, `block ${event.index} after ${blocks.length} blocks`);
        open = { ...wild(event.content_block) };
        if (open.type === "tool_use") {
          must(JSON.stringify(open.input) === "{}", "a tool use starts with input");
        }
        if (open.type === "text") must(open.text === "", "a text block starts with text");
        input = "";
        break;
      case "content_block_delta": {
        must(
          open !== undefined && event.index === blocks.length,
          `delta of block ${event.index} outside of it`,
        );
        const delta = wild(event.delta);
        const allowed = DELTAS[text(open.type)] ?? [];
        must(allowed.includes(text(delta.type)), `${delta.type} in a block of type ${open.type}`);
        if (delta.type === "text_delta") open.text = text(open.text) + mustText(delta.text);
        if (delta.type === "thinking_delta") open.thinking = text(open.thinking) + mustText(delta.thinking);
        if (delta.type === "signature_delta") {
          open.signature = text(open.signature) + mustText(delta.signature);
        }
        if (delta.type === "input_json_delta") input += mustText(delta.partial_json);
        if (delta.type === "citations_delta") {
          open.citations = [...list(open.citations), wild(delta.citation)];
        }
        break;
      }
      case "content_block_stop":
        must(
          open !== undefined && event.index === blocks.length,
          `stop of block ${event.index} outside of it`,
        );
        if (input !== "") {
          const value = parsed(input);
          // Cut by the output cap, or else an object: clients parse it.
          if (value === undefined) open.cut = input;
          else must(typeof value === "object" && value !== null, "input of a tool use is no object");
          open.input = value ?? {};
        }
        blocks.push(open);
        open = undefined;
        break;
      case "message_delta":
        must(open === undefined, "message_delta inside a block");
        ending = event;
        break;
      case "message_stop":
        must(ending !== undefined, "message_stop without message_delta");
        stopped = true;
        break;
      default:
        must(false, `unknown event ${event.type}`);
    }
  }
  must(stopped && message !== undefined && ending !== undefined, "the stream ends without message_stop");
  return messageObject({ ...message, ...wild(ending.delta), content: blocks, usage: ending.usage });
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
