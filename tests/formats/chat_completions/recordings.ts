/**
 * Recorded chat-completions exchanges, and what an answer among them says, read from the wire by rules that share no code
 * with the format.
 */
import { readRecordings } from "../../support/recordings.ts";

/** JSON of unknown shape: all that the recordings of 34 providers have in common. */
// deno-lint-ignore no-explicit-any
export type Wild = any;

export interface Recording {
  id: string;
  status: number;
  stream: boolean;
  tags: string[];
  request: Wild;
  response: Wild;
  sse: string | null;
}

export const recordings = () => readRecordings<Recording>("chat");

export interface ChoiceReading {
  text: string;
  reasoning: string;
  calls: { name: string; arguments: string }[];
  urls: string[];
  stop: string;
}

export interface Reading {
  choices: ChoiceReading[];
  counts: { input: number; cached: number; output: number; reasoning: number } | null;
}

export function readRecording(recording: Recording): Reading {
  const bodies: Wild[] = recording.sse === null ? [recording.response] : dataLines(recording.sse);
  const choices = new Map<number, Wild>();
  const usage: Wild = {};
  const pages = new Set<string>();
  for (const body of bodies) {
    for (const url of body.citations ?? []) pages.add(url);
    for (const hit of body.search_results ?? []) pages.add(hit.url);
    for (const [key, value] of Object.entries(body.usage ?? body.x_groq?.usage ?? {})) {
      if (value !== null) usage[key] = value;
    }
    for (const choice of body.choices ?? []) {
      const message = (recording.sse === null ? choice.message : choice.delta) ?? {};
      const read = choices.get(choice.index) ??
        {
          text: "",
          content: "",
          plain: "",
          parts: "",
          details: "",
          calls: new Map(),
          urls: new Set(),
          stop: "",
          refused: "",
        };
      choices.set(choice.index, read);
      addMessage(read, message);
      read.stop = choice.finish_reason || read.stop;
    }
  }
  // Perplexity lists the request's own file without an address.
  pages.delete("");
  return {
    choices: [...choices].sort(([a], [b]) => a - b).map(([, c]) => ({
      text: c.text + c.refused,
      reasoning: c.content || c.plain || c.parts || c.details,
      calls: [...c.calls.values()],
      urls: [...new Set([...c.urls, ...pages])].sort(),
      stop: stopOf(c),
    })),
    counts: countsOf(usage),
  };
}

function dataLines(sse: string): Wild[] {
  const found: Wild[] = [];
  for (const line of sse.split(/\r?\n/)) {
    if (!line.startsWith("data:")) continue;
    const data = line.slice(5).trim();
    if (data === "[DONE]") break;
    found.push(JSON.parse(data));
  }
  return found;
}

function addMessage(read: Wild, message: Wild): void {
  if (typeof message.content === "string") read.text += message.content;
  for (const part of Array.isArray(message.content) ? message.content : []) {
    if (part.type === "text") read.text += part.text;
    for (const piece of part.thinking ?? []) read.parts += piece.text;
  }
  read.refused += message.refusal ?? "";
  read.content += message.reasoning_content ?? "";
  read.plain += message.reasoning ?? "";
  for (const entry of message.reasoning_details ?? []) read.details += entry.text ?? entry.summary ?? "";
  for (const a of message.annotations ?? []) if (a.url_citation) read.urls.add(a.url_citation.url);
  const legacy = message.function_call?.name ? [{ index: 0, function: message.function_call }] : [];
  (message.tool_calls ?? legacy).forEach((call: Wild, i: number) => {
    const key = call.index ?? `${read.calls.size}/${i}`;
    const body = call.type === "custom" ? call.custom : call.function;
    const known = read.calls.get(key) ?? { name: "", arguments: "" };
    read.calls.set(key, known);
    known.name ||= body.name ?? "";
    known.arguments += body.input ?? body.arguments ?? "";
  });
}

function stopOf(choice: Wild): string {
  if (choice.calls.size > 0) return "tool-calls";
  if (choice.stop === "length") return "length";
  return choice.refused !== "" ? "refusal" : "stop";
}

function countsOf(usage: Wild): Reading["counts"] {
  if (!usage.prompt_tokens && !usage.completion_tokens) return null;
  const heard = usage.prompt_tokens_details?.audio_tokens ?? 0;
  const thought = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  let input = usage.prompt_tokens;
  let output = usage.completion_tokens;
  const beyond = usage.total_tokens - input - output;
  if (beyond > 0 && beyond === heard) input += beyond;
  else if (beyond > 0) output += beyond;
  else if (thought > output) output += thought;
  const cached = usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ??
    usage.cached_tokens ?? usage.num_cached_tokens ?? 0;
  return { input, cached: Math.min(cached, input), output, reasoning: thought };
}
