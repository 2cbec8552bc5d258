/** What a messages recording says. */
import { choice, counts, mergeInto, type Reading, type Stop } from "./reading.ts";
import type { Recording } from "../support/recordings.ts";
import { framesOf } from "./sse_text.ts";
import { list, num, text, type Wild, wild } from "./wild.ts";

export function readMessages(recording: Recording): Reading {
  if (recording.sse === null) {
    const body = wild(recording.response);
    if (body.type === "error") return { kind: "error", said: JSON.stringify(body.error) };
    return messageObject(body);
  }
  let message: Wild | undefined;
  const blocks = new Map<number, Wild>();
  const inputs = new Map<number, string>();
  for (const frame of framesOf(recording.sse)) {
    const event = wild(JSON.parse(frame.data));
    const index = num(event.index) ?? -1;
    const delta = wild(event.delta);
    const block = blocks.get(index) ?? {};
    switch (event.type) {
      case "error":
        return { kind: "error", said: JSON.stringify(event.error) };
      case "message_start":
        // A proxy that repeats the frame does no harm; one that begins anew in the middle does.
        if (message && blocks.size === 0) break;
        if (message) return { kind: "error", said: "a second message_start inside a message" };
        message = { ...wild(event.message) };
        message.usage = { ...wild(message.usage) };
        break;
      case "content_block_start":
        blocks.set(index, { ...wild(event.content_block) });
        break;
      case "content_block_delta":
        if (delta.type === "text_delta") block.text = text(block.text) + text(delta.text);
        if (delta.type === "thinking_delta") block.thinking = text(block.thinking) + text(delta.thinking);
        if (delta.type === "input_json_delta") {
          inputs.set(index, (inputs.get(index) ?? "") + text(delta.partial_json));
        }
        if (delta.type === "citations_delta") {
          block.citations = [...list(block.citations), wild(delta.citation)];
        }
        break;
      case "message_delta":
        if (!message) break;
        mergeInto(message, delta);
        mergeInto(message.usage as Wild, wild(event.usage));
        break;
      case "message_stop": {
        if (!message) break;
        for (const [at, json] of inputs) {
          const target = blocks.get(at);
          // Kept as text: a cut answer ends in the middle of it.
          if (target && json !== "") target.input = json;
        }
        message.content = [...blocks].sort(([a], [b]) => a - b).map(([, b]) => b);
        return messageObject(message);
      }
    }
  }
  return { kind: "error", said: "no end" };
}

const MESSAGE_STOPS: Readonly<Record<string, Stop>> = {
  end_turn: "stop",
  tool_use: "tool-calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  stop_sequence: "stop-sequence",
  refusal: "refusal",
  pause_turn: "pause",
};

function messageObject(m: Wild): Reading {
  const c = choice();
  for (const block of list(m.content)) {
    switch (block.type) {
      case "text":
        c.text += text(block.text);
        for (const cited of list(block.citations)) {
          const url = text(cited.url) || text(cited.source);
          if (url) c.citations.push({ url, title: text(cited.title) || undefined });
        }
        break;
      case "thinking":
        if (text(block.thinking)) c.reasoning.push(text(block.thinking));
        break;
      case "tool_use":
        c.calls.push({
          name: text(block.name),
          arguments: typeof block.input === "string" ? block.input : JSON.stringify(block.input ?? {}),
          custom: false,
        });
        break;
      case "web_search_tool_result":
        for (const hit of list(block.content)) if (hit.url) c.mayCite.push(text(hit.url));
        break;
    }
  }
  c.stops = [MESSAGE_STOPS[text(m.stop_reason)] ?? "stop"];
  c.explanation = text(wild(m.stop_details).explanation);
  const u = wild(m.usage);
  // What the totals leave out.
  const apart = list(u.iterations).filter(({ type }) => type === "compaction" || type === "advisor_message");
  const all = (field: string) => [u, ...apart].reduce((sum, counts) => sum + (num(counts[field]) ?? 0), 0);
  const cached = all("cache_read_input_tokens");
  const cacheWrite = all("cache_creation_input_tokens");
  return {
    kind: "answer",
    choices: [c],
    kinds: list(m.content).map((block) => text(block.type)),
    searches: num(wild(u.server_tool_use).web_search_requests),
    usage: num(u.input_tokens) === undefined ? null : counts({
      input: all("input_tokens") + cached + cacheWrite,
      cached,
      cacheWrite,
      output: all("output_tokens"),
      reasoning: num(wild(u.output_tokens_details).thinking_tokens),
    }),
  };
}
