/**
 * Every recorded chat-completions answer: read as an independent reading of the recording reads it, streamed whole, in
 * random pieces, byte by byte and cut short, and written out again for a caller.
 */
import { assertEquals, assertThrows } from "@std/assert";
import { type Answer, collect } from "../../../src/exchange/answer.ts";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { chatCompletions } from "../../../src/formats/chat_completions/mod.ts";
import { assertLegal } from "../gemini/legal_parts.ts";
import { type ChoiceReading, readRecording, type Recording, recordings } from "./recordings.ts";
import { bytes, context, decodePieces, encodeAll, foldChunks, plain } from "./support.ts";
import { sharedTest } from "../../support/shared.ts";

/** HTTP 200 with an error inside. */
const ERRORS = new Set(["azure.chat.03f62ee9.0", "groq.chat.ccf7838e.0", "groq.chat.dd3fbfda.0"]);

// A file of several answers one after the other is no answer.
const GOOD = recordings().filter((r) => r.status === 200 && !r.tags.includes("concatenated"));
const ANSWERS = GOOD.filter((r) => !ERRORS.has(r.id));
const STREAMS = ANSWERS.filter((r) => r.sse !== null);

function decode(r: Recording): Part[] {
  return r.sse === null ? chatCompletions.decodeAnswer(r.response) : decodePieces([bytes(r.sse)]);
}

function readingOf(answer: Answer): ChoiceReading[] {
  return answer.choices.map((choice) => {
    const read: ChoiceReading = { text: "", reasoning: "", calls: [], urls: [], stop: choice.reason };
    const urls = new Set<string>();
    for (const block of choice.blocks) {
      if (block.type === "text") {
        read.text += block.text;
        for (const citation of block.citations) urls.add(citation.url!);
      } else if (block.type === "reasoning") read.reasoning += block.sections.join("");
      else if (block.type === "call") read.calls.push({ name: block.name, arguments: block.arguments });
    }
    read.urls = [...urls].sort();
    return read;
  });
}

/** Summaries that are entries of a list are set apart where the caller sees them as one text. */
function withoutBreaks(choices: ChoiceReading[]): ChoiceReading[] {
  return choices.map((choice) => ({ ...choice, reasoning: choice.reasoning.replaceAll("\n", "") }));
}

sharedTest("corpus/", "decode of every recorded answer agrees with an independent reading", () => {
  for (const r of ANSWERS) {
    const wanted = readRecording(r);
    const parts = decode(r);
    assertLegal(parts);
    const answer = collect(parts);
    assertEquals(readingOf(answer), wanted.choices, r.id);
    const { usage } = answer;
    const counts = usage && {
      input: usage.input,
      cached: usage.cached,
      output: usage.output,
      reasoning: usage.reasoning,
    };
    assertEquals(counts, wanted.counts, r.id);
  }
});

sharedTest("corpus/", "decodeStream() of recordings gives the same parts for any split of the bytes", () => {
  let seed = 7;
  const random = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff;
  STREAMS.forEach((r, n) => {
    const whole = bytes(r.sse!);
    const pieces: Uint8Array[] = [];
    // Every tenth of the shorter ones byte by byte.
    const most = n % 10 === 0 && whole.length < 30_000 ? 1 : 700;
    for (let at = 0; at < whole.length;) {
      const size = 1 + Math.floor(random() * most);
      pieces.push(whole.subarray(at, at + size));
      at += size;
    }
    assertEquals(decodePieces(pieces), decodePieces([whole]), r.id);
  });
});

sharedTest(
  "corpus/",
  "decodeStream() of a recording cut after any frame is a failure until its finish came",
  () => {
    for (const r of STREAMS) {
      const frames = r.sse!.replaceAll("\r\n", "\n").split("\n\n").filter((frame) => /^data:/m.test(frame));
      const step = Math.max(1, Math.floor(frames.length / 12));
      for (let k = 0; k < frames.length; k += step) {
        const kept = frames.slice(0, k);
        if (kept.some((frame) => /"finish_reason": ?"[a-z]|\[DONE\]/.test(frame))) break;
        const out: Part[] = [];
        const run = () => decodePieces([bytes(kept.map((frame) => `${frame}\n\n`).join(""))], out);
        assertThrows(run, Failure, "broke off", `${r.id} after ${k}`);
        if (out.length > 0) assertLegal(out, { whole: false });
      }
    }
  },
);

sharedTest("corpus/", "decode of recorded errors after HTTP 200 throws their failure", () => {
  for (const r of GOOD) {
    if (!ERRORS.has(r.id)) continue;
    const failure = assertThrows(() => decode(r), Failure) as Failure;
    assertEquals(
      failure.code,
      r.id.startsWith("azure") ? "provider_forbidden" : "provider_bad_request",
      r.id,
    );
  }
});

sharedTest(
  "corpus/",
  "encodeStream() and encodeAnswer() of every recorded answer are the same answer",
  () => {
    for (const r of ANSWERS) {
      const parts = decode(r);
      const whole = chatCompletions.encodeAnswer(collect(parts), context());
      assertEquals(foldChunks(encodeAll(parts)), plain(whole), r.id);
    }
  },
);

/** Callers get JSON where a provider wrote no arguments at all. */
function withArguments(answer: Answer): Answer {
  const choices = answer.choices.map((choice) => ({
    ...choice,
    blocks: choice.blocks.map((b) =>
      b.type === "call" && b.kind === "function" && b.arguments === "" ? { ...b, arguments: "{}" } : b
    ),
  }));
  return { ...answer, choices };
}

sharedTest("corpus/", "an answer written for a caller and read again is the same answer", () => {
  for (const r of ANSWERS) {
    const parts = decode(r);
    const answer = collect(parts);
    const again = collect(decodePieces([bytes(encodeAll(parts))]));
    assertEquals(withoutBreaks(readingOf(again)), withoutBreaks(readingOf(withArguments(answer))), r.id);
    // The API tells no image tokens of the input.
    assertEquals(again.usage, answer.usage && { ...answer.usage, imageInput: 0 }, r.id);
  }
});
