/**
 * Every situation's stream, through the whole pipeline, ended after every frame and split at every byte. Wherever it ends,
 * the caller sees a legal ending; wherever it is split, the same answer; and either way there is one account of it.
 */
import { assert, assertEquals } from "@std/assert";
import { Failure } from "../src/exchange/failure.ts";
import type { Part } from "../src/exchange/part.ts";
import { PROVIDER_FORMATS } from "../src/formats/mod.ts";
import { AnswerReader } from "../src/pipeline/generation/answer_reader.ts";
import { readCaller } from "./corpus/caller.ts";
import { firstFrames, framesOf } from "./corpus/sse_text.ts";
import { assertLegal } from "./formats/gemini/legal_parts.ts";
import { call } from "./support/in_memory.ts";
import { type Caller, CALLERS, read, scenarios, type Target, TARGETS } from "./support/scenarios.ts";

const BODIES: Readonly<Record<Caller, Record<string, unknown>>> = {
  chat_completions: { messages: [{ role: "user", content: "Hi" }] },
  messages: { max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
  responses: { input: "Hi" },
};

/** After this many frames nothing that the answer needs is missing any more. */
function enough(target: Target, sse: string): number {
  const frames = framesOf(sse);
  const end = frames.findIndex(({ data }) =>
    target === "chat_completions"
      ? /"finish_reason":"[a-z]/.test(data)
      : target === "gemini"
      ? data.includes('"finishReason"')
      : target === "converse"
      ? data.includes('"stopReason"')
      : /^\{"type":"(?:message_stop|response\.(?:completed|incomplete))"/.test(data)
  );
  return end + 1;
}

const bytes = (text: string) => new TextEncoder().encode(text);

for (const scenario of scenarios()) {
  for (const target of TARGETS) {
    const sse = read(scenario, `${target}.sse`);
    if (sse === null) continue;
    for (const caller of CALLERS) {
      Deno.test(`${scenario}: ${target} ends after every frame -> ${caller}`, async () => {
        const frames = framesOf(sse).length;
        for (const stream of [true, false]) {
          for (const broken of [true, false]) {
            for (let k = 0; k <= frames; k++) {
              const at = `stream ${stream}, broken ${broken}, after ${k} of ${frames}`;
              const sent = { pieces: k === 0 ? [] : [bytes(firstFrames(sse, k))], stream: true, broken };
              const { response, text, thrown, account } = await call(
                caller,
                { ...BODIES[caller], stream },
                target,
                sent,
              );
              assertEquals(account.settled.length + account.released, 1, `${at}: one account`);
              const [end] = account.settled;
              const whole = k >= enough(target, sse);
              if (response === null) {
                assert(
                  thrown instanceof Failure && thrown.code !== "internal_service_error",
                  `${at}: ${thrown}`,
                );
                if (end) assertEquals(end.status, "failed", at);
                if (k === frames) throw new Error(`${at}: no answer`);
                continue;
              }
              const type = stream ? "text/event-stream" : "application/json";
              const shown = new Response(text, { headers: { "content-type": type } });
              const reading = await readCaller(caller, shown, stream);
              if (!whole) assertEquals(reading.kind, "error", at);
              if (k === frames) assertEquals(reading.kind, "answer", at);
              assert(end, at);
              assertEquals(end.status === "failed", reading.kind === "error", at);
              assertEquals(end.usage === null, reading.kind === "error", at);
            }
          }
        }
      });
    }

    Deno.test(`${scenario}: ${target} split at every byte gives the same parts`, () => {
      const all = bytes(sse);
      const wanted = merged(partsOf(target, [all]));
      assertLegal(partsOf(target, [all]));
      for (let at = 1; at < all.length; at++) {
        assertEquals(merged(partsOf(target, [all.subarray(0, at), all.subarray(at)])), wanted, `at ${at}`);
      }
      assertEquals(merged(partsOf(target, [...all].map((b) => Uint8Array.of(b)))), wanted, "byte by byte");
    });

    Deno.test(`${scenario}: ${target} byte by byte leaves one account and the same answer`, async () => {
      const pieces = [...bytes(sse)].map((b) => Uint8Array.of(b));
      for (const caller of CALLERS) {
        const asked = { ...BODIES[caller], stream: true };
        const whole = await call(caller, asked, target, { pieces: [bytes(sse)], stream: true });
        const split = await call(caller, asked, target, { pieces, stream: true });
        assertEquals(split.account, whole.account);
        const answer = async (text: string) =>
          await readCaller(
            caller,
            new Response(text, { headers: { "content-type": "text/event-stream" } }),
            true,
          );
        assertEquals(await answer(split.text), await answer(whole.text));
      }
    });
  }
}

function partsOf(target: Target, pieces: readonly Uint8Array[]): Part[] {
  const reader = new AnswerReader(PROVIDER_FORMATS[target]);
  const parts: Part[] = [];
  for (const piece of pieces) {
    const failure = reader.push(piece, parts);
    if (failure) throw failure;
  }
  const failure = reader.end(parts);
  if (failure) throw failure;
  return parts;
}

/** As JSON: an equal of texts costs less than one of trees. */
function merged(parts: readonly Part[]): string {
  return JSON.stringify(parts);
}
