/**
 * Providers' streams with bytes flipped, deleted, doubled, mixed with another stream and cut off: a decoder takes all of it
 * or calls the answer broken, gives legal parts of no more than it was sent, and every caller still gets a legal stream.
 * `SLUICE_FUZZ_RUNS` sets how many streams of each API are tried; a failure names the seed to repeat it.
 */
import { assert } from "@std/assert";
import fc from "fast-check";
import { Failure } from "../../src/exchange/failure.ts";
import type { Part } from "../../src/exchange/part.ts";
import { CALLER_FORMATS, PROVIDER_FORMATS } from "../../src/formats/mod.ts";
import { AnswerReader } from "../../src/pipeline/generation/answer_reader.ts";
import { readCaller } from "../corpus/caller.ts";
import { readRecordings, type RecordedApi } from "../support/recordings.ts";
import { type Caller, CALLERS, read, scenarios, type Target, TARGETS } from "../support/scenarios.ts";
import { assertLegal } from "./gemini/legal_parts.ts";

const API_OF: Readonly<Record<Target, RecordedApi | null>> = {
  chat_completions: "openai-chat",
  messages: "anthropic-messages",
  responses: "openai-responses",
  gemini: "gemini-generate",
  // Nothing of it is recorded: its frames as text.
  converse: null,
};

const RUNS = Number(Deno.env.get("SLUICE_FUZZ_RUNS") ?? 250);
/** Longer recordings say nothing more, and take their time. */
const LONGEST = 20_000;
/** Parts that are made of nothing: opening and closing what a stream left open, for each of its frames. */
const PARTS_PER_FRAME = 12;

const RECORDED = readRecordings();

function streamsOf(target: Target): Uint8Array[] {
  const own = scenarios().map((scenario) => read(scenario, `${target}.sse`)).filter((sse) => sse !== null);
  const recorded = RECORDED.filter((r) => r.api === API_OF[target] && r.status === 200 && r.sse !== null)
    .map((r) => r.sse!).filter((sse) => sse.length <= LONGEST);
  return [...own, ...recorded].map((sse) => new TextEncoder().encode(sse));
}

type Mutation =
  | { kind: "flip"; at: number; mask: number }
  | { kind: "delete"; at: number; length: number }
  | { kind: "double"; at: number; length: number }
  | { kind: "swap"; at: number; to: number; length: number }
  | { kind: "splice"; at: number; other: number; from: number; length: number }
  | { kind: "cut"; at: number };

const place = fc.double({ min: 0, max: 1, noNaN: true });
const length = fc.oneof(fc.nat(8), fc.nat(2000));
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ kind: fc.constant("flip" as const), at: place, mask: fc.integer({ min: 1, max: 255 }) }),
  fc.record({ kind: fc.constant("delete" as const), at: place, length }),
  fc.record({ kind: fc.constant("double" as const), at: place, length }),
  fc.record({ kind: fc.constant("swap" as const), at: place, to: place, length }),
  fc.record({ kind: fc.constant("splice" as const), at: place, other: fc.nat(), from: place, length }),
  fc.record({ kind: fc.constant("cut" as const), at: place }),
);

/** Whole frames are doubled and deleted as often as bytes: most broken bytes are no JSON, and that is soon said. */
function mutate(bytes: Uint8Array, m: Mutation, all: readonly Uint8Array[], frames: boolean): Uint8Array {
  const snap = (bytes: Uint8Array, at: number) => {
    let i = Math.floor(at * bytes.length);
    if (frames) {
      while (i > 1 && !(bytes[i - 1] === 10 && (bytes[i - 2] === 10 || bytes[i - 3] === 10))) {
        i--;
      }
    }
    return i;
  };
  const at = snap(bytes, m.at);
  const until = (length: number) =>
    frames
      ? snap(bytes, Math.min(1, (at + length * 4) / (bytes.length || 1)))
      : Math.min(bytes.length, at + length);
  const join = (...pieces: Uint8Array[]) => {
    const joined = new Uint8Array(pieces.reduce((n, p) => n + p.length, 0));
    let to = 0;
    for (const piece of pieces) {
      joined.set(piece, to);
      to += piece.length;
    }
    return joined;
  };
  switch (m.kind) {
    case "flip": {
      const flipped = bytes.slice();
      if (flipped.length > 0) flipped[Math.min(at, flipped.length - 1)] ^= m.mask;
      return flipped;
    }
    case "delete":
      return join(bytes.subarray(0, at), bytes.subarray(Math.max(at, until(m.length))));
    case "double": {
      const end = Math.max(at, until(m.length));
      return join(bytes.subarray(0, end), bytes.subarray(at));
    }
    case "swap": {
      const end = Math.max(at, until(m.length));
      const rest = join(bytes.subarray(0, at), bytes.subarray(end));
      const to = snap(rest, m.to);
      return join(rest.subarray(0, to), bytes.subarray(at, end), rest.subarray(to));
    }
    case "splice": {
      const other = all[m.other % all.length];
      const from = snap(other, m.from);
      const piece = other.subarray(from, frames ? other.length : from + m.length);
      return join(bytes.subarray(0, at), piece, bytes.subarray(at));
    }
    case "cut":
      return bytes.subarray(0, at);
  }
}

const BODIES: Readonly<Record<Caller, Record<string, unknown>>> = {
  chat_completions: { model: "a/b", messages: [{ role: "user", content: "Hi" }] },
  messages: { model: "a/b", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
  responses: { model: "a/b", input: "Hi" },
};

/** Its bytes and how a caller sees what came of it. */
async function survive(target: Target, caller: Caller, bytes: Uint8Array, size: number): Promise<void> {
  const reader = new AnswerReader(PROVIDER_FORMATS[target]);
  const parts: Part[] = [];
  let failure: Failure | undefined;
  for (let at = 0; at < bytes.length && !failure; at += size) {
    failure = reader.push(bytes.subarray(at, at + size), parts);
  }
  failure ??= reader.end(parts);
  assert(failure?.code !== "internal_service_error", String((failure?.cause as Error | undefined)?.stack));

  const frames = new TextDecoder().decode(bytes).split(/[\r\n]data:|^data:/).length;
  assert(
    parts.length <= PARTS_PER_FRAME * frames + parts.filter((p) => p.type === "citation").length,
    `${parts.length} parts of ${frames} frames`,
  );
  let held = 0;
  for (const part of parts) if ("text" in part) held += part.text.length;
  assert(held <= bytes.length, `${held} characters of ${bytes.length} bytes`);
  if (parts.length > 0) assertLegal(parts, { whole: !failure });

  const format = CALLER_FORMATS[caller];
  const prompt = format.decodeRequest(BODIES[caller], { unseal: () => null, headers: () => ({}) });
  const encoder = format.encodeStream({
    id: "gen_1",
    created: 1,
    model: () => "a/b",
    prompt,
    seal: () => "svc1.x",
  });
  const text = encoder.encode(parts) + (failure ? encoder.fail(failure) : encoder.end());
  const shown = new Response(text, { headers: { "content-type": "text/event-stream" } });
  let reading;
  try {
    reading = await readCaller(caller, shown, true);
  } catch (thrown) {
    // A provider that says a call twice has it said twice.
    if (/two tool calls share an id/.test(String(thrown)) && sharesId(parts)) return;
    throw thrown;
  }
  assert((reading.kind === "error") === (failure !== undefined));
}

function sharesId(parts: readonly Part[]): boolean {
  const ids = parts.flatMap((p) => p.type === "call-start" ? [p.id] : []);
  return new Set(ids).size < ids.length;
}

for (const target of TARGETS) {
  Deno.test(`${target}.decodeStream() survives ${RUNS} mutated streams`, async () => {
    const all = streamsOf(target);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(all.length - 1),
        fc.array(mutation, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        fc.constantFrom(...CALLERS),
        fc.oneof(fc.constant(1_000_000), fc.integer({ min: 1, max: 300 })),
        async (which, mutations, frames, caller, size) => {
          let bytes = all[which];
          for (const m of mutations) bytes = mutate(bytes, m, all, frames);
          await survive(target, caller, bytes, size);
        },
      ),
      { numRuns: RUNS },
    );
  });
}
