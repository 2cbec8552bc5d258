/** Reads what a responses caller gets. A stream is checked event by event, and against its own last event. */
import type { CallerAnswer, CallerChoice, CallerCounts, CallerReading } from "./caller.ts";
import { envelope } from "./caller_errors.ts";
import type { TextFrame } from "./sse_text.ts";
import { count, filled, must, mustText, searches, unique, whole } from "./strict.ts";
import { readRunEvent } from "../support/live.ts";
import { list, text, type Wild, wild } from "./wild.ts";

export function responseObject(r: Wild): CallerAnswer {
  must(filled(r.id) && r.object === "response", "id and object of the response");
  must(whole(r.created_at) && filled(r.model), "created_at and model of the response");
  must(r.error === null, "error is not null");
  must(r.status === "completed" || r.status === "incomplete", `status ${r.status}`);
  const reason = wild(r.incomplete_details).reason;
  if (r.status === "completed") {
    must(r.incomplete_details === null, "incomplete_details of a completed response");
  } else must(filled(reason), "incomplete_details.reason is missing");
  must(Array.isArray(r.output), "output of the response");
  const c: CallerChoice = {
    text: "",
    refusal: "",
    reasoning: [],
    calls: [],
    stop: r.status === "completed" ? "completed" : `incomplete: ${reason}`,
    citations: [],
  };
  const itemIds = new Set<string>();
  const callIds: string[] = [];
  for (const item of list(r.output)) {
    must(filled(item.id) && filled(item.type), "id and type of an item");
    must(!itemIds.has(item.id), `two items share the id ${item.id}`);
    itemIds.add(item.id);
    switch (item.type) {
      case "message":
        must(item.role === "assistant" && filled(item.status), "role and status of a message item");
        for (const part of list(item.content)) responsePart(part, c);
        break;
      case "reasoning": {
        must(Array.isArray(item.summary), "summary of a reasoning item");
        const summary = list(item.summary).map((p) => {
          must(p.type === "summary_text" && typeof p.text === "string", "part of a summary");
          return p.text;
        });
        const open = list(item.content).map((p) => {
          must(p.type === "reasoning_text" && typeof p.text === "string", "part of a reasoning text");
          return p.text;
        });
        if (summary.length > 0 && open.length > 0) {
          must(summary.join() === open.join(), "two reasoning texts");
        }
        c.reasoning.push(...(summary.length > 0 ? summary : open).filter((t) => t !== ""));
        break;
      }
      case "function_call":
      case "custom_tool_call": {
        const custom = item.type === "custom_tool_call";
        const value = custom ? item.input : item.arguments;
        must(filled(item.call_id) && filled(item.name), "call_id and name of a call");
        must(typeof value === "string" && filled(item.status), "arguments and status of a call");
        callIds.push(item.call_id);
        c.calls.push({ name: item.name, arguments: value, custom });
        break;
      }
    }
  }
  unique(callIds);
  return {
    kind: "answer",
    model: text(r.model),
    kinds: list(r.output).map((item) => text(item.type)),
    searches: searches(r.usage),
    choices: [c],
    usage: responseUsage(r.usage),
  };
}

function responsePart(part: Wild, c: CallerChoice): void {
  if (part.type === "refusal") {
    c.refusal += mustText(part.refusal);
    return;
  }
  must(part.type === "output_text" && typeof part.text === "string", `part of type ${part.type}`);
  must(Array.isArray(part.annotations), "annotations of a text part");
  c.text += part.text;
  for (const a of list(part.annotations)) {
    must(filled(a.type), "type of an annotation");
    if (a.type !== "url_citation") continue;
    must(filled(a.url) && typeof a.title === "string", "url and title of an annotation");
    must(whole(a.start_index) && whole(a.end_index), "indices of an annotation");
    c.citations.push({ url: a.url, title: a.title });
  }
}

function responseUsage(value: unknown): CallerCounts | null {
  if (value === null || value === undefined) return null;
  const u = wild(value);
  const { input_tokens: input, output_tokens: output } = u;
  must(whole(input) && whole(output) && u.total_tokens === input + output, "input, output, total_tokens");
  must(whole(wild(u.input_tokens_details).cached_tokens), "input_tokens_details.cached_tokens");
  must(whole(wild(u.output_tokens_details).reasoning_tokens), "output_tokens_details.reasoning_tokens");
  return {
    input,
    output,
    cached: count(wild(u.input_tokens_details).cached_tokens),
    cacheWrite: count(wild(u.input_tokens_details).cache_write_tokens),
    reasoning: count(wild(u.output_tokens_details).reasoning_tokens),
  };
}

interface OpenItem {
  item: Wild;
  done: boolean;
  /** Parts by kind and index: their text so far, and whether they are done. */
  parts: Map<string, { text: string; textDone: boolean; done: boolean; annotations: number }>;
  arguments: string;
  argumentsDone: boolean;
}

/** Event names that the official SDK knows; its stream helper throws on others. */
const PART_EVENTS: Readonly<Record<string, { kind: string; field: string }>> = {
  "response.output_text": { kind: "content", field: "text" },
  "response.refusal": { kind: "content", field: "refusal" },
  "response.reasoning_text": { kind: "content", field: "text" },
  "response.reasoning_summary_text": { kind: "summary", field: "text" },
};

export function responseStream(frames: TextFrame[]): CallerReading {
  const items: OpenItem[] = [];
  let id: unknown;
  let last: Wild | undefined;
  must(frames.at(-1)!.data === "[DONE]", "the last frame is not [DONE]");
  for (const [at, frame] of frames.entries()) {
    if (frame.data === "[DONE]") {
      must(at === frames.length - 1, "frames after [DONE]");
      break;
    }
    const event = wild(JSON.parse(frame.data));
    const type = text(event.type);
    must(frame.event === type, `event ${frame.event} with type ${type}`);
    must(event.sequence_number === at, `sequence_number ${event.sequence_number} at ${at}`);
    if (type === "error") {
      const error = envelope("responses", event, 200);
      const rest = frames.slice(at + 1, -1);
      must(rest.every((f) => f.event === "response.failed"), "frames between the error and [DONE]");
      return error;
    }
    must(last === undefined, `${type} after the last event`);
    if (at === 0) must(type === "response.created", `the stream begins with ${type}`);
    if (at === 1) must(type === "response.in_progress", `${type} instead of response.in_progress`);
    switch (type) {
      case "response.created":
      case "response.in_progress": {
        must(at < 2, `${type} late`);
        const r = wild(event.response);
        id ??= r.id;
        must(
          filled(r.id) && r.id === id && r.status === "in_progress",
          "id and status of the opening response",
        );
        must(
          r.object === "response" && whole(r.created_at) && filled(r.model),
          "fields of the opening response",
        );
        must(Array.isArray(r.output) && r.output.length === 0, "the opening response has output");
        break;
      }
      case "response.completed":
      case "response.incomplete":
        last = wild(event.response);
        must(type === `response.${last.status}`, `${type} with status ${last.status}`);
        break;
      default:
        itemEvent(type, event, items);
    }
  }
  must(last !== undefined, "the stream ends without response.completed or response.incomplete");
  must(last.id === id, "the response's id changes");
  const output = list(last.output);
  must(output.length === items.length, `${items.length} items streamed, ${output.length} in the response`);
  for (const [i, open] of items.entries()) {
    must(open.done, `item ${i} is not done`);
    must(
      JSON.stringify(open.item) === JSON.stringify(output[i]),
      `item ${i} differs from the response's: ${JSON.stringify(open.item).slice(0, 200)} and ${
        JSON.stringify(output[i]).slice(0, 200)
      }`,
    );
  }
  return responseObject(last);
}

/** Of items of tools that the provider runs. */
const SENT = new WeakMap<object, string>();

function itemEvent(type: string, event: Wild, items: OpenItem[]): void {
  must(whole(event.output_index), `output_index of ${type}`);
  const index = event.output_index;
  if (type === "response.output_item.added") {
    must(index === items.length, `item ${index} after ${items.length} items`);
    const item = wild(event.item);
    must(filled(item.id) && filled(item.type), "id and type of an added item");
    if (item.type === "message") must(Array.isArray(item.content), "content of an added message");
    if (item.type === "function_call") must(item.arguments === "", "an added call has arguments");
    items.push({ item, done: false, parts: new Map(), arguments: "", argumentsDone: false });
    return;
  }
  const open = items[index];
  must(open !== undefined && !open.done, `${type} for an item that is not open`);
  if (type === "response.output_item.done") {
    const item = wild(event.item);
    must(item.id === open.item.id && item.type === open.item.type, "id or type of an item changes");
    for (const [key, part] of open.parts) must(part.done && part.textDone, `part ${key} is not done`);
    if (item.type === "function_call" || item.type === "custom_tool_call") {
      must(open.argumentsDone, "arguments are not done");
      must((item.arguments ?? item.input) === open.arguments, "arguments differ from their deltas");
    }
    const texts = [...list(item.summary), ...list(item.content)].map((p) => text(p.text) || text(p.refusal));
    const streamed = [...open.parts.values()].map((p) => p.text);
    must(
      JSON.stringify(texts) === JSON.stringify(streamed),
      `parts of item ${index} differ from their deltas`,
    );
    open.item = item;
    open.done = true;
    return;
  }
  must(event.item_id === open.item.id, `item_id ${event.item_id} of ${type}`);
  const partPlace = (kind: string) => {
    const at = kind === "summary" ? event.summary_index : event.content_index;
    must(whole(at), `index of ${type}`);
    return `${kind} ${at}`;
  };
  switch (type) {
    case "response.content_part.added":
    case "response.reasoning_summary_part.added": {
      const key = partPlace(type.includes("summary") ? "summary" : "content");
      must(!open.parts.has(key), `${key} is added twice`);
      must(wild(event.part).text === "" || wild(event.part).refusal === "", "an added part has text");
      open.parts.set(key, { text: "", textDone: false, done: false, annotations: 0 });
      return;
    }
    case "response.content_part.done":
    case "response.reasoning_summary_part.done": {
      const part = open.parts.get(partPlace(type.includes("summary") ? "summary" : "content"));
      must(part !== undefined && part.textDone && !part.done, `${type} out of order`);
      const given = wild(event.part);
      must((text(given.text) || text(given.refusal)) === part.text, "a part differs from its deltas");
      must(list(given.annotations).length === part.annotations, "annotations differ from their events");
      part.done = true;
      return;
    }
    case "response.output_text.annotation.added": {
      const part = open.parts.get(partPlace("content"));
      must(part !== undefined && !part.done, "annotation outside of its part");
      must(event.annotation_index === part.annotations, `annotation_index ${event.annotation_index}`);
      part.annotations++;
      return;
    }
    case "response.function_call_arguments.delta":
    case "response.custom_tool_call_input.delta":
      must(!open.argumentsDone, "arguments after their end");
      open.arguments += mustText(event.delta);
      return;
    case "response.function_call_arguments.done":
    case "response.custom_tool_call_input.done":
      must((event.arguments ?? event.input) === open.arguments, "arguments differ from their deltas");
      if (type.includes("function")) must(event.name === open.item.name, "name of the finished arguments");
      open.argumentsDone = true;
      return;
  }
  if (readRunEvent(type, event, open.item, SENT)) return;
  const [, stem, end] = /^(.*)\.(delta|done)$/.exec(type) ?? [];
  const place = PART_EVENTS[stem];
  must(place !== undefined, `unknown event ${type}`);
  const part = open.parts.get(partPlace(place.kind));
  must(part !== undefined && !part.textDone, `${type} outside of its part`);
  if (end === "delta") part.text += mustText(event.delta);
  else {
    must(event[place.field] === part.text, `${type} differs from its deltas`);
    part.textDone = true;
  }
}
