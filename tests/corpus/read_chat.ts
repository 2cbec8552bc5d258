/** What a chat-completions recording says, in any of the dialects that compatible providers speak. */
import {
  type CallReading,
  choice,
  type ChoiceReading,
  type Counts,
  counts,
  mergeInto,
  type Reading,
  type Stop,
} from "./reading.ts";
import type { Recording } from "../support/recordings.ts";
import { framesOf } from "./sse_text.ts";
import { list, num, text, type Wild, wild } from "./wild.ts";

interface ChatState extends ChoiceReading {
  reasoningContent: string;
  reasoningPlain: string;
  /** By entry of `reasoning_details`; a stream's pieces of one entry share its index. */
  reasoningDetails: Map<unknown, string>;
  reasoningArray: string;
  transcript: string;
  byKey: Map<string, CallReading>;
  finish: string;
}

export function readChat(recording: Recording): Reading {
  const bodies = recording.sse === null
    ? [wild(recording.response)]
    : until(framesOf(recording.sse), (f) => f.data.startsWith("[DONE]")).map((f) => wild(JSON.parse(f.data)));
  const states = new Map<number, ChatState>();
  const usage: Wild = {};
  const cited = new Map<string, string | undefined>();
  for (const body of bodies) {
    if (body.error) return { kind: "error", said: JSON.stringify(body.error) };
    mergeInto(usage, wild(body.usage ?? wild(body.x_groq).usage));
    for (const url of Array.isArray(body.citations) ? body.citations : []) {
      if (typeof url === "string" && !cited.has(url)) cited.set(url, undefined);
    }
    for (const hit of list(body.search_results)) if (hit.url) cited.set(text(hit.url), text(hit.title));
    for (const c of list(body.choices)) {
      const index = num(c.index) ?? 0;
      let state = states.get(index);
      if (!state) {
        state = {
          ...choice(),
          reasoningContent: "",
          reasoningPlain: "",
          reasoningDetails: new Map(),
          reasoningArray: "",
          transcript: "",
          byKey: new Map(),
          finish: "",
        };
        states.set(index, state);
      }
      chatDelta(state, wild(recording.sse === null ? c.message : c.delta), recording.sse !== null);
      if (text(c.finish_reason)) state.finish = text(c.finish_reason);
    }
  }
  const choices = [...states].sort(([a], [b]) => a - b).map(([, state]) => chatChoice(state, cited));
  return { kind: "answer", choices, ...chatUsage(usage) };
}

function chatDelta(state: ChatState, m: Wild, streamed: boolean): void {
  if (typeof m.content === "string") state.text += m.content;
  else if (Array.isArray(m.content)) {
    for (const part of list(m.content)) {
      if (part.type === "text") state.text += text(part.text);
      else if (part.type === "thinking") {
        state.reasoningArray += typeof part.thinking === "string"
          ? part.thinking
          : list(part.thinking).map((t) => text(t.text)).join("");
      }
    }
  } else if (m.content !== null && typeof m.content === "object") {
    state.text += JSON.stringify(m.content);
  }
  state.reasoningContent += text(m.reasoning_content);
  state.reasoningPlain += text(m.reasoning);
  list(m.reasoning_details).forEach((d, i) => {
    const entry = streamed ? d.index : i;
    const said = text(d.text) || text(d.summary);
    if (said) state.reasoningDetails.set(entry, (state.reasoningDetails.get(entry) ?? "") + said);
  });
  state.transcript += text(wild(m.audio).transcript);
  state.refusal += text(m.refusal);
  for (const a of list(m.annotations)) {
    const c = wild(a.url_citation);
    if (c.url) state.citations.push({ url: text(c.url), title: text(c.title) });
  }
  const legacy = wild(m.function_call);
  if (text(legacy.name) || text(legacy.arguments)) chatCall(state, "legacy", { function: legacy });
  list(m.tool_calls).forEach((call, i) => {
    const id = text(call.id);
    // A call without an index is a whole one; a stream's pieces without either belong to the last.
    const key = typeof call.index === "number"
      ? `#${call.index}`
      : !streamed
      ? `at ${i}`
      : id !== ""
      ? `id ${id}`
      : [...state.byKey.keys()].at(-1) ?? `at ${i}`;
    chatCall(state, key, call);
  });
}

function chatCall(state: ChatState, key: string, call: Wild): void {
  const custom = call.type === "custom";
  const inner = wild(custom ? call.custom : call.function);
  let found = state.byKey.get(key);
  if (!found) {
    found = { name: "", arguments: "", custom };
    state.byKey.set(key, found);
    state.calls.push(found);
  }
  if (text(inner.name)) found.name = text(inner.name);
  const piece = custom ? inner.input : inner.arguments;
  found.arguments += typeof piece === "string" ? piece : piece ? JSON.stringify(piece) : "";
}

function chatChoice(state: ChatState, cited: Map<string, string | undefined>): ChoiceReading {
  const reasoning = state.reasoningContent || state.reasoningPlain || state.reasoningArray;
  const citations = [...state.citations];
  for (const [url, title] of cited) if (!citations.some((c) => c.url === url)) citations.push({ url, title });
  return {
    text: state.text || state.transcript,
    refusal: state.refusal,
    explanation: "",
    reasoning: reasoning === "" ? [...state.reasoningDetails.values()] : [reasoning],
    calls: state.calls,
    stops: chatStops(state),
    citations,
    mayCite: [],
  };
}

function chatStops(state: ChatState): Stop[] {
  const called = state.calls.length > 0;
  switch (state.finish) {
    case "length":
      return ["length"];
    case "content_filter":
      return ["content-filter"];
    case "tool_calls":
    case "function_call":
      return ["tool-calls"];
  }
  // A forced function ends with `stop` at OpenAI, and some dialects end with nothing at all.
  if (called) return state.finish === "stop" ? ["tool-calls", "stop"] : ["tool-calls"];
  return state.refusal !== "" ? ["stop", "refusal"] : ["stop"];
}

function chatUsage(u: Wild): { usage: Counts | null; outputToo?: number; searches?: number } {
  if (num(u.prompt_tokens) === undefined && num(u.completion_tokens) === undefined) return { usage: null };
  const inDetails = wild(u.prompt_tokens_details);
  const outDetails = wild(u.completion_tokens_details);
  let input = num(u.prompt_tokens) ?? 0;
  let output = num(u.completion_tokens) ?? 0;
  let reasoning = num(outDetails.reasoning_tokens) ?? 0;
  const gap = (num(u.total_tokens) ?? 0) - input - output;
  // What the total has beyond its two parts: sound that was heard, or thoughts (xAI, Google).
  if (gap > 0 && gap === num(inDetails.audio_tokens)) input += gap;
  else if (gap > 0) {
    output += gap;
    reasoning ||= gap;
  }
  // Reasoning above the whole it is part of was left out of it (Vercel's gateway).
  if (gap <= 0 && reasoning > output) output += reasoning;
  return {
    searches: num(wild(u.server_tool_use_details).web_search_requests) ?? num(u.num_search_queries),
    usage: counts({
      input,
      cached: num(inDetails.cached_tokens) ?? num(u.prompt_cache_hit_tokens) ?? num(u.cached_tokens) ??
        num(u.num_cached_tokens) ?? num(u.cache_read_input_tokens),
      cacheWrite: num(inDetails.cache_write_tokens) || num(u.cache_creation_input_tokens),
      output,
      reasoning,
    }),
  };
}

function until<T>(items: T[], last: (item: T) => boolean): T[] {
  const at = items.findIndex(last);
  return at < 0 ? items : items.slice(0, at);
}
