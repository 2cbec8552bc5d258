/**
 * Recorded answers in the forms that providers and what stands between vary: unknown fields and events, null where a field
 * may be absent, other line ends and comments, usage at other places, calls that interleave, events left out. Callers must
 * get what they get of the recording itself. `SLUICE_CORPUS_STEP=1` tries every recording in every form.
 */
import { assertEquals } from "@std/assert";
import { readRecordings, type RecordedApi, type Recording } from "../support/recordings.ts";
import { sharedTest } from "../support/shared.ts";
import type { CallerName } from "./caller.ts";
import { differences } from "./compare.ts";
import { readRecording } from "./reading.ts";
import { random, rechunk } from "./rechunk.ts";
import { openRig, type Rig } from "./replay.ts";
import { framesOf, type TextFrame } from "./sse_text.ts";
import { list, text, type Wild, wild } from "./wild.ts";

const CALLERS: readonly CallerName[] = ["chat_completions", "messages", "responses"];
const STEP = Number(Deno.env.get("SLUICE_CORPUS_STEP") ?? 13);

/** Not one whole answer: two, one after the other. */
const EXCEPTIONS: ReadonlySet<string> = new Set(["cerebras.chat.c98331b8.0"]);

interface Event {
  event: string;
  value: unknown;
}

type Vary = (events: Event[], recording: Recording) => Event[];

const sse = (value: unknown, event = ""): Event => ({ event, value });

/** Values that belong to callers or tools: nobody but them changes their fields. */
const THEIRS: ReadonlySet<string> = new Set(
  "args arguments container input metadata parameters properties schema tools".split(" "),
);

/** Changes every object of the wire's own. */
function each(value: unknown, change: (object: Wild) => void): void {
  if (Array.isArray(value)) { for (const one of value) each(one, change); }
  else if (typeof value === "object" && value !== null) {
    const object = value as Wild;
    for (const name of Object.keys(object)) if (!THEIRS.has(name)) each(object[name], change);
    change(object);
  }
}

function everywhere(change: (object: Wild, recording: Recording) => void): Vary {
  return (events, recording) => {
    for (const { value } of events) each(value, (object) => change(object, recording));
    return events;
  };
}

const OPTIONAL: Readonly<Record<RecordedApi, readonly string[]>> = {
  "openai-chat":
    ("refusal tool_calls function_call annotations audio reasoning reasoning_content reasoning_details logprobs " +
      "usage service_tier finish_reason role content error x_groq citations search_results extra_content images")
      .split(" "),
  "openai-responses":
    ("error incomplete_details annotations logprobs encrypted_content status summary usage phase name " +
      "namespace action item_id service_tier").split(" "),
  "anthropic-messages":
    ("stop_reason stop_sequence stop_details container citations caller signature usage " +
      "context_management service_tier server_tool_use cache_creation").split(" "),
  "gemini-generate":
    ("thought thoughtSignature functionCall inlineData finishReason finishMessage index groundingMetadata " +
      "citationMetadata urlContextMetadata promptFeedback usageMetadata modelVersion responseId error").split(
        " ",
      ),
};

const UNKNOWN: Readonly<Record<RecordedApi, readonly Event[]>> = {
  "openai-chat": [
    sse({ object: "chat.info", id: "q", choices: [] }),
    sse({}),
    sse({ status: "working" }, "info"),
  ],
  "openai-responses": [
    sse({ type: "response.new.delta", output_index: 77, item_id: "zz", delta: "XX" }, "response.new.delta"),
  ],
  "anthropic-messages": [
    sse({ type: "new_event", index: 0, delta: { type: "new_delta", text: "XX" } }, "new_event"),
    sse({ type: "ping" }, "ping"),
  ],
  "gemini-generate": [
    sse({ usageMetadata: { trafficType: "ON_DEMAND" } }),
    sse({ responseId: "x" }),
    sse({ candidates: [] }),
  ],
};

const deltasOf = ({ value }: Event) => list(wild(value).choices).map((choice) => wild(choice.delta));
const typeOf = ({ value }: Event) => text(wild(value).type);
const without = (pattern: RegExp): Vary => (events) => events.filter((event) => !pattern.test(typeOf(event)));

/** Calls of one choice, a piece of each in turn. */
function interleaved(events: Event[]): Event[] {
  const calls = new Map<unknown, Event[]>();
  const others: Event[] = [];
  let first = -1;
  for (const event of events) {
    const [call, ...more] = list(deltasOf(event)[0]?.tool_calls);
    const [choice] = list(wild(event.value).choices);
    if (call?.index === undefined || more.length > 0 || choice.finish_reason || choice.index !== 0) {
      others.push(event);
    } else {
      if (first < 0) first = others.length;
      calls.set(call.index, [...calls.get(call.index) ?? [], event]);
    }
  }
  const longest = Math.max(0, ...[...calls.values()].map((pieces) => pieces.length));
  const mixed = Array.from(
    { length: longest },
    (_, i) => [...calls.values()].flatMap((pieces) => pieces[i] ?? []),
  );
  return first < 0 ? events : [...others.slice(0, first), ...mixed.flat(), ...others.slice(first)];
}

/** One API's, or that of all. Streams alone where the name says so. */
const FORMS: readonly [name: string, api: RecordedApi | null, streams: boolean, vary: Vary][] = [
  [
    "unknown fields",
    null,
    false,
    everywhere((object) => Object.assign(object, { x_new: { a: [{ b: null }] }, x_null: null })),
  ],
  [
    "nulls",
    null,
    false,
    everywhere((object, { api }) => {
      for (const name of OPTIONAL[api]) if (!(name in object)) object[name] = null;
    }),
  ],
  [
    "unknown events",
    null,
    true,
    (events, { api }) =>
      events.flatMap((event) =>
        event.value === "[DONE]" ? [event] : [event, ...structuredClone(UNKNOWN[api]) as Event[]]
      ),
  ],
  ["usage so far in every chunk", "openai-chat", true, (events) => {
    const usage = events.map(({ value }) => wild(value).usage).findLast((one) => one);
    for (const { value } of events) if (usage && value !== "[DONE]") wild(value).usage ??= usage;
    return events;
  }],
  ["usage in a chunk of its own", "openai-chat", true, (events) =>
    events.flatMap((event) => {
      const { usage, ...chunk } = wild(event.value);
      return usage && list(chunk.choices).length > 0
        ? [sse(chunk), sse({ ...chunk, choices: [], usage })]
        : [event];
    })],
  ["empty fields", "openai-chat", true, (events) => {
    for (const delta of events.flatMap(deltasOf)) {
      Object.assign(delta, { role: "assistant", content: delta.content ?? "", refusal: delta.refusal ?? "" });
      delta.tool_calls ??= [];
      delta.annotations ??= [];
    }
    return events;
  }],
  [
    "calls without types",
    "openai-chat",
    false,
    everywhere((object) => {
      for (const call of list(object.tool_calls)) if (call.type === "function") delete call.type;
    }),
  ],
  [
    "arguments as objects",
    "openai-chat",
    false,
    everywhere((object, { sse }) => {
      for (const call of list(sse === null ? object.tool_calls : [])) {
        const body = wild(call.function);
        if (/^\{.*\}$/s.test(text(body.arguments))) body.arguments = JSON.parse(text(body.arguments));
      }
    }),
  ],
  ["calls that interleave", "openai-chat", true, interleaved],
  ["an end in two events", "anthropic-messages", true, (events) =>
    events.flatMap(({ event, value }) => {
      const { delta, usage, ...end } = wild(value);
      return end.type === "message_delta"
        ? [sse({ ...end, delta }, event), sse({ ...end, delta: {}, usage }, event)]
        : [
          sse(value, event),
        ];
    })],
  ["no deltas", "openai-responses", true, without(/\.delta$/)],
  ["no texts at the ends", "openai-responses", true, without(/(?:text|arguments|part|input)\.done$/)],
  [
    "no announcements",
    "openai-responses",
    true,
    without(/(?:output_item|part)\.added$|^response\.(?:created|in_progress)$/),
  ],
  [
    "nothing but the end",
    "openai-responses",
    true,
    without(/^response\.(?!created|completed|incomplete|failed)/),
  ],
  ["no ids", "openai-responses", true, (events) => {
    for (const { value } of events) {
      for (const name of ["item_id", "sequence_number"]) delete wild(value)[name];
    }
    return events;
  }],
  ["a reason of its own", "gemini-generate", true, (events) =>
    events.flatMap(({ value }) => {
      const { finishReason, ...candidate } = list(wild(value).candidates)[0] ?? {};
      if (finishReason === undefined) return [sse(value)];
      return [
        sse({ ...wild(value), candidates: [candidate] }),
        sse({ candidates: [{ finishReason, index: 0 }] }),
      ];
    })],
];

const named = ({ event }: TextFrame, end: string) => event === "" ? "" : `event: ${event}${end}`;

const FRAMINGS: readonly [name: string, write: (frame: TextFrame, i: number) => string][] = [
  ["CRLF", (frame) => `${named(frame, "\r\n")}data: ${frame.data}\r\n\r\n`],
  ["CR", (frame) => `${named(frame, "\r")}data: ${frame.data}\r\r`],
  [
    "comments",
    (frame, i) => `: a\n\n:\nid: ${i}\nretry: 9\n${named(frame, "\n")}data: ${frame.data}\n: b\n\n\n`,
  ],
  ["no names", ({ data }) => `data: ${data}\n\n`],
  ["no blanks", ({ event, data }) => `event:${event}\ndata:${data}\n\n`],
  ["names last", (frame) => `data: ${frame.data}\n${named(frame, "\n")}\n`],
  [
    "a byte order mark",
    (frame, i) => `${i === 0 ? "\ufeff" : ""}${named(frame, "\n")}data: ${frame.data}\n\n`,
  ],
  ["several lines of data", (frame) => {
    const data = frame.data.startsWith("{") ? JSON.stringify(JSON.parse(frame.data), null, 1) : frame.data;
    return `${named(frame, "\n")}data: ${data.replaceAll("\n", "\ndata: ")}\n\n`;
  }],
];

interface Job {
  form: string;
  recording: Recording;
  caller: CallerName;
  body: string;
}

function eventsOf({ sse, response }: Recording): Event[] {
  if (sse === null) return [{ event: "", value: structuredClone(response) }];
  return framesOf(sse).map(({ event, data }) => ({
    event,
    value: data.startsWith("{") ? JSON.parse(data) : data,
  }));
}

function* jobs(): Generator<Job> {
  let n = 0;
  for (const [i, recording] of readRecordings().entries()) {
    const { status, response, sse, api, id } = recording;
    if (status !== 200 || EXCEPTIONS.has(id) || (sse === null && typeof response !== "object")) continue;
    const caller = CALLERS[i % 3];
    for (const [form, only, streams, vary] of FORMS) {
      if ((only !== null && only !== api) || (streams && sse === null) || n++ % STEP !== 0) continue;
      const frames = vary(eventsOf(recording), recording).map(({ event, value }) => ({
        event,
        data: typeof value === "string" ? value : JSON.stringify(value),
      }));
      const body = sse === null
        ? frames[0].data
        : frames.map((frame) => `${named(frame, "\n")}data: ${frame.data}\n\n`).join("");
      yield { form, recording, caller, body };
    }
    for (const [form, write] of sse === null ? [] : FRAMINGS) {
      if (n++ % STEP === 0) yield { form, recording, caller, body: framesOf(sse!).map(write).join("") };
    }
  }
}

async function wrongWith({ recording, caller, body }: Job, rig: Rig, next: () => number): Promise<string[]> {
  const wanted = readRecording(recording);
  if (wanted.kind !== "answer") return [];
  const pieces = rechunk(new TextEncoder().encode(body), 1500, next);
  const got = await rig.ask(caller, { recording, pieces }, recording.stream, wanted.choices.length);
  return got.kind === "answer"
    ? differences(wanted, got, caller, { same: false })
    : [`an answer, got ${got.code}: ${got.message}`];
}

sharedTest(
  "corpus/",
  "callers get the same of an answer in whichever form its provider sends it",
  async () => {
    const rig = await openRig();
    const next = random(5);
    const wrong: string[] = [];
    let tried = 0;
    for (const job of jobs()) {
      tried++;
      try {
        const found = await wrongWith(job, rig, next);
        if (found.length > 0) {
          wrong.push(
            `${job.recording.id} -> ${job.caller}, ${job.form}: ${found.join("; ")}`,
          );
        }
      } catch (thrown) {
        wrong.push(`${job.recording.id} -> ${job.caller}, ${job.form}: ${thrown}`);
      }
    }
    await rig.close();
    console.log(`tests/corpus: ${tried} varied answers`);
    assertEquals(wrong, []);
  },
);
