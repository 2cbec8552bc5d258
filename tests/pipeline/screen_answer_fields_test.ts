/**
 * A value in every place of every recorded answer: strings, numbers, names of fields, unknown fields and unknown events. What
 * the formats write for callers must not hold it, but for ids and proofs.
 */
import { assertEquals } from "@std/assert";
import { collect } from "../../src/exchange/answer.ts";
import type { Part } from "../../src/exchange/part.ts";
import type { FormatName } from "../../src/exchange/prompt.ts";
import type { CallerFormatName } from "../../src/exchange/format_name.ts";
import type { Frame } from "../../src/formats/format.ts";
import { CALLER_FORMATS, PROVIDER_FORMATS } from "../../src/formats/mod.ts";
import { screenAnswer } from "../../src/pipeline/screening/screen_answer.ts";
import { tellsNumber } from "../support/digits.ts";
import { readRecordings, type RecordedApi } from "../support/recordings.ts";
import { sharedTest } from "../support/shared.ts";
import { CARD, guardOf } from "./screened_parts.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const NUMBER = Number(CARD.replaceAll(" ", ""));
const FORMAT_OF: Readonly<Record<RecordedApi, FormatName>> = {
  "openai-chat": "chat_completions",
  "openai-responses": "responses",
  "anthropic-messages": "messages",
  "gemini-generate": "gemini",
};
const CALLERS = Object.keys(CALLER_FORMATS) as CallerFormatName[];
/** Ids and proofs, which nobody reads. */
const NOT_READ =
  /\.(?:\w+_)?id(?:=null)?$|\.toolUseId$|\.(?:thought)?[sS]ignature$|\.encrypted_\w+$|<(?:redacted_thinking|reasoning\.encrypted)>\.data$/;

interface Answer {
  format: FormatName;
  /** Frames of a stream, or the body of a whole answer. */
  frames: { event: string; data: Json }[] | null;
  body: Json;
}

/** Converse was not recorded: what its reference lists, in one answer. */
const CONVERSE_BLOCKS: Json[] = [
  { reasoningContent: { reasoningText: { text: "Let me think.", signature: "c2ln" } } },
  { text: "Hello there." },
  { toolUse: { toolUseId: "t1", name: "send", input: { to: "bob", count: 3, list: [1, "x"] } } },
  {
    citationsContent: {
      content: [{ text: "Words cited." }],
      citations: [{
        title: "Title",
        source: "source",
        sourceContent: [{ text: "the source" }],
        location: { web: { url: "https://example.org", domain: "example.org" } },
      }],
    },
  },
];
const CONVERSE_USAGE = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };
const CONVERSE: Answer[] = [
  {
    format: "converse",
    frames: null,
    body: {
      output: { message: { role: "assistant", content: CONVERSE_BLOCKS } },
      stopReason: "end_turn",
      usage: CONVERSE_USAGE,
      metrics: { latencyMs: 5 },
      additionalModelResponseFields: { stop_sequence: "x" },
      trace: { guardrail: { modelOutput: ["x"] } },
    },
  },
  {
    format: "converse",
    body: null,
    frames: Object.entries({
      messageStart: [{ role: "assistant" }],
      contentBlockStart: [{ contentBlockIndex: 0, start: { toolUse: { toolUseId: "t", name: "send" } } }],
      contentBlockDelta: [
        { contentBlockIndex: 0, delta: { toolUse: { input: '{"to":"bob"}' } } },
        { contentBlockIndex: 1, delta: { reasoningContent: { text: "Let me think." } } },
        { contentBlockIndex: 2, delta: { text: "Hello there." } },
        { contentBlockIndex: 2, delta: { citation: CONVERSE_BLOCKS[3].citationsContent.citations[0] } },
      ],
      contentBlockStop: [0, 1, 2].map((contentBlockIndex) => ({ contentBlockIndex })),
      messageStop: [{ stopReason: "tool_use" }],
      metadata: [{ usage: CONVERSE_USAGE, metrics: { latencyMs: 5 } }],
    }).flatMap(([event, all]) => all.map((data: Json) => ({ event, data }))),
  },
];

function* answers(): Generator<Answer> {
  yield* CONVERSE;
  for (const { api, status, sse, response } of readRecordings()) {
    if (status !== 200) continue;
    const format = FORMAT_OF[api];
    if (sse === null) yield { format, frames: null, body: response };
    else yield { format, frames: framesOf(sse), body: null };
  }
}

function framesOf(sse: string): { event: string; data: Json }[] {
  return sse.split(/\r?\n\r?\n/).flatMap((frame) => {
    const event = /^event: ?(.*)$/m.exec(frame)?.[1] ?? "";
    const data = [...frame.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line).join("\n");
    if (data === "") return [];
    try {
      return [{ event, data: JSON.parse(data) }];
    } catch {
      return [{ event, data }];
    }
  });
}

interface Place {
  path: string;
  /** Puts the value there; answers how to take it away. */
  put(): () => void;
}

function* placesIn(value: Json, path: string): Generator<Place> {
  if (Array.isArray(value)) {
    for (let i = 0; i < Math.min(value.length, 3); i++) yield* placesOf(value, i, `${path}[]`);
  } else if (typeof value === "object" && value !== null) {
    const here = typeof value.type === "string" ? `${path}<${value.type}>` : path;
    for (const name of Object.keys(value)) yield* placesOf(value, name, `${here}.${name}`);
    for (const [name, said] of [["x_note", `card ${CARD}`], ["x_number", NUMBER], [CARD, "x"]] as const) {
      const put = () => {
        value[name] = said;
        return () => delete value[name];
      };
      yield { path: `${here}+${name}`, put };
    }
  }
}

function* placesOf(holder: Json, name: string | number, path: string): Generator<Place> {
  const old = holder[name];
  if (typeof old === "object" && old !== null) return yield* placesIn(old, path);
  if (typeof old === "boolean") return;
  const said = typeof old === "number"
    ? NUMBER
    : old === null
    ? CARD
    : old.startsWith("{")
    ? old.replace("{", `{"n":"${CARD}",`)
    : `${old} ${CARD} `;
  const put = () => {
    holder[name] = said;
    return () => holder[name] = old;
  };
  yield { path: old === null ? `${path}=null` : path, put };
}

function decoded({ format, frames, body }: Answer): Part[] {
  const provider = PROVIDER_FORMATS[format];
  if (frames === null) return provider.decodeAnswer(body);
  const decoder = provider.decodeStream();
  const out: Part[] = [];
  for (const { event, data } of frames) {
    decoder.push({ event, data: typeof data === "string" ? data : JSON.stringify(data) } as Frame, out);
  }
  decoder.end(out);
  return out;
}

const PROMPTS = Object.fromEntries(CALLERS.map((name) => {
  const said = [{ role: "user", content: "hi" }];
  const body = { model: "p/model", stream: true, max_tokens: 99, messages: said };
  return [
    name,
    CALLER_FORMATS[name].decodeRequest(
      name === "responses" ? { model: "p/model", stream: true, input: "hi" } : body,
      { unseal: () => null, headers: () => ({}) },
    ),
  ];
}));

/** What a caller is sent. */
function written(caller: CallerFormatName, parts: readonly Part[], stream: boolean): string {
  const format = CALLER_FORMATS[caller];
  const context = {
    id: "gen_1",
    created: 1,
    model: () => "m",
    prompt: PROMPTS[caller],
    seal: () => "sealed",
  };
  if (!stream) return JSON.stringify(format.encodeAnswer(collect(parts), context));
  const frames = format.encodeStream(context);
  return parts.map((part) => frames.encode([part])).join("") + frames.end();
}

interface Screening {
  format: FormatName;
  stream: boolean;
  answers: "mask" | "block";
}

async function screened(parts: readonly Part[], { format, stream, answers }: Screening): Promise<Part[]> {
  async function* source(): AsyncGenerator<readonly Part[]> {
    await Promise.resolve();
    if (stream) { for (const part of parts) yield [part]; }
    else yield parts;
  }
  const out: Part[] = [];
  for await (const batch of screenAnswer(source(), guardOf({ answers, format }, []))) out.push(...batch);
  return out;
}

const tried = new Set<string>();
let reached = 0;

/** The callers and modes that let a value in this place through. */
async function passes(answer: Answer): Promise<string[]> {
  let parts: Part[];
  try {
    parts = decoded(answer);
  } catch {
    return [];
  }
  if (!tellsNumber(JSON.stringify(parts), CARD)) return [];
  const let_through: string[] = [];
  for (const caller of CALLERS) {
    for (const stream of [false, true]) {
      if (!tellsNumber(written(caller, parts, stream), CARD)) continue;
      reached++;
      for (const mode of ["mask", "block"] as const) {
        const out = await screened(structuredClone(parts), { format: caller, stream, answers: mode });
        if (tellsNumber(written(caller, out, stream), CARD)) {
          let_through.push(`${caller} ${stream ? "stream" : "whole"} ${mode}`);
        }
      }
    }
  }
  return let_through;
}

async function passesAt(answer: Answer, place: Place, name: string): Promise<string[]> {
  if (tried.has(name) || NOT_READ.test(place.path)) return [];
  tried.add(name);
  const take = place.put();
  const through = await passes(answer);
  take();
  return through.map((how) => `${name}: ${how}`);
}

sharedTest(
  "corpus/",
  "screenAnswer() finds a value in every place of every recorded answer, whatever it becomes for callers",
  async () => {
    const through: string[] = [];
    for (const answer of answers()) {
      const { format, frames, body } = answer;
      if (frames === null) {
        for (const place of placesIn(body, "")) {
          through.push(...await passesAt(answer, place, `${format} whole ${place.path}`));
        }
        continue;
      }
      for (const { event, data } of frames) {
        if (typeof data !== "object") continue;
        for (const place of placesIn(data, "")) {
          through.push(...await passesAt(answer, place, `${format} ${event || "frame"} ${place.path}`));
        }
      }
      const unknown = {
        event: "x.unknown.delta",
        data: { type: "x.unknown.delta", delta: CARD, text: CARD },
      };
      if (tried.has(`${format} unknown`)) continue;
      tried.add(`${format} unknown`);
      for (const at of [1, frames.length - 1]) {
        const through_it = await passes({ ...answer, frames: frames.toSpliced(at, 0, unknown) });
        through.push(...through_it.map((how) => `${format} unknown event: ${how}`));
      }
    }
    assertEquals(through, []);
    assertEquals(reached > 3000, true, `${reached} answers contained the value before they were screened`);
  },
);
