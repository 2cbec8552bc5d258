/**
 * Every recorded answer against a reading of the recording that shares no code with the decoder: whole, in random
 * pieces, byte by byte, and cut short.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { type Answer, collect } from "../../../src/exchange/answer.ts";
import { Failure } from "../../../src/exchange/failure.ts";
import { array, isObject, type Loose, object } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import type { Frame } from "../../../src/formats/format.ts";
import { gemini } from "../../../src/formats/gemini/mod.ts";
import { FrameReader } from "../../../src/formats/wire/sse.ts";
import { readRecordings, type Recording } from "../../support/recordings.ts";
import { assertLegal } from "./legal_parts.ts";
import { sharedTest } from "../../support/shared.ts";

const ALL = readRecordings("gem");
const GOOD = ALL.filter((r) => r.status === 200);
const STREAMS = GOOD.filter((r) => r.sse !== null);

function decodePieces(pieces: Iterable<Uint8Array>): Part[] {
  const decoder = gemini.decodeStream();
  const reader = new FrameReader();
  const out: Part[] = [];
  const frames: Frame[] = [];
  for (const piece of pieces) {
    reader.push(piece, frames);
    for (const frame of frames.splice(0)) decoder.push(frame, out);
  }
  reader.end(frames);
  for (const frame of frames) decoder.push(frame, out);
  decoder.end(out);
  return out;
}

const bytes = (text: string) => new TextEncoder().encode(text);

function decode(r: Recording): Part[] {
  return r.sse === null ? gemini.decodeAnswer(r.response) : decodePieces([bytes(r.sse)]);
}

/** What a reader of the recording sees, candidate 0 only: no recording has another. */
function read(r: Recording) {
  const chunks = r.sse === null
    ? [r.response].flat()
    : r.sse.split(/\r?\n/).filter((l) => l.startsWith("data:")).map((l) => JSON.parse(l.slice(5)));
  const seen = {
    text: "",
    thoughts: "",
    signatures: [] as string[],
    calls: [] as { name: string; args: unknown }[],
    images: 0,
    reason: "",
    blocked: false,
    urls: new Set<string>(),
    segments: [] as string[],
    counts: {} as Record<string, number>,
    chunks,
  };
  let pieces: { name: string; args: Loose } | undefined;
  for (const chunk of chunks.map(object)) {
    for (const [field, value] of Object.entries(object(chunk.usageMetadata))) {
      if (typeof value === "number") seen.counts[field] = value;
    }
    if (object(chunk.promptFeedback).blockReason) seen.blocked = true;
    const candidate = object(array(chunk.candidates)[0]);
    if (candidate.finishReason) seen.reason = String(candidate.finishReason);
    for (const part of array(object(candidate.content).parts).map(object)) {
      if (typeof part.text === "string") part.thought ? seen.thoughts += part.text : seen.text += part.text;
      if (PROVIDER_RUN.some((name) => part[name])) seen.signatures.push(JSON.stringify(part));
      else if (typeof part.thoughtSignature === "string") seen.signatures.push(part.thoughtSignature);
      if (part.inlineData) seen.images++;
      if (isObject(part.functionCall)) {
        const call = part.functionCall;
        if (typeof call.name === "string") {
          pieces = { name: call.name, args: object(call.args) };
          seen.calls.push(pieces);
        }
        for (const p of array(call.partialArgs).map(object)) assign(pieces!.args, p);
      }
    }
    const grounding = object(candidate.groundingMetadata);
    for (const g of array(grounding.groundingChunks).map(object)) {
      const uri = object(g.web).uri;
      if (typeof uri === "string") seen.urls.add(uri);
    }
    for (const s of array(grounding.groundingSupports).map(object)) {
      const text = object(s.segment).text;
      for (const _ of array(s.groundingChunkIndices)) seen.segments.push(String(text));
    }
    for (const c of array(object(candidate.citationMetadata).citations).map(object)) {
      if (typeof c.uri === "string") seen.urls.add(c.uri);
    }
    for (const u of array(object(candidate.urlContextMetadata).urlMetadata).map(object)) {
      seen.urls.add(String(u.retrievedUrl));
    }
  }
  return seen;
}

/** Parts of Google's own tools, which are carried whole. */
const PROVIDER_RUN = ["executableCode", "codeExecutionResult", "toolCall", "toolResponse"];

/** `$.a.b[0].c`, all that recordings have. */
function assign(root: Loose, piece: Loose): void {
  const keys = String(piece.jsonPath).slice(2).split(/[.[]/).map((k) =>
    k.endsWith("]") ? Number(k.slice(0, -1)) : k
  );
  const last = keys.pop()!;
  // deno-lint-ignore no-explicit-any
  let node: any = root;
  keys.forEach((key, i) => {
    node[key] ??= typeof (keys[i + 1] ?? last) === "number" ? [] : {};
    node = node[key];
  });
  if (piece.stringValue !== undefined) node[last] = (node[last] ?? "") + piece.stringValue;
  else node[last] = piece.numberValue ?? piece.boolValue ?? null;
}

function assertReads(answer: Answer, r: Recording): void {
  const seen = read(r);
  const [choice, ...others] = answer.choices;
  assertEquals(others, []);
  const blocks = choice.blocks;
  const text = blocks.map((b) => b.type === "text" ? b.text : "").join("");
  assertEquals(text, seen.text);
  assertEquals(blocks.map((b) => b.type === "reasoning" ? b.sections.join("") : "").join(""), seen.thoughts);
  const calls = blocks.filter((b) => b.type === "call");
  assertEquals(calls.map((c) => ({ name: c.name, args: JSON.parse(c.arguments) })), seen.calls);
  assertEquals(new Set(calls.map((c) => c.id)).size, calls.length);
  for (const call of calls) {
    assert(/^[\w-]{1,40}$/.test(call.id), call.id);
    if (call.proof) assertEquals(call.proof.call, call.id);
  }
  assertEquals(blocks.filter((b) => b.type === "media").length, seen.images);
  const proofs = blocks.flatMap((b) =>
    b.type !== "search" && b.type !== "opaque" && b.proof ? [b.proof] : []
  );
  assertEquals(proofs.map((p) => p.data), seen.signatures);

  const reasons: Record<string, string> = {
    STOP: "stop",
    "1": "stop",
    MAX_TOKENS: "length",
    SAFETY: "content-filter",
    MODEL_ARMOR: "content-filter",
    UNEXPECTED_TOOL_CALL: "tool-calls",
  };
  const reason = seen.blocked && seen.reason === "" ? "content-filter" : reasons[seen.reason];
  assertEquals(choice.reason, reason === "stop" && seen.calls.length > 0 ? "tool-calls" : reason);

  const n = (field: string) => seen.counts[field] ?? 0;
  if (n("promptTokenCount") + n("candidatesTokenCount") + n("thoughtsTokenCount") === 0) {
    assertEquals(answer.usage, null);
  } else {
    const u = answer.usage!;
    assertEquals(u.input, n("promptTokenCount") + n("toolUsePromptTokenCount"));
    assertEquals(u.output, n("candidatesTokenCount") + n("thoughtsTokenCount"));
    assertEquals(u.reasoning, n("thoughtsTokenCount"));
    assertEquals(u.cached, n("cachedContentTokenCount"));
  }

  const cited = blocks.flatMap((b) =>
    b.type === "text" ? b.citations.map((c) => ({ ...c, of: b.text })) : []
  );
  assertEquals(new Set(cited.flatMap((c) => c.url ?? [])), seen.urls);
  const placed = cited.filter((c) => c.start !== undefined && c.end !== undefined);
  assertEquals(placed.map((c) => c.of.slice(c.start, c.end)), seen.segments);
}

sharedTest("corpus/", "gemini.decodeStream() and decodeAnswer() read what each recording says", () => {
  for (const r of GOOD) {
    const parts = decode(r);
    try {
      assertLegal(parts);
      assertReads(collect(parts), r);
    } catch (cause) {
      throw new Error(`recording ${r.id}`, { cause });
    }
  }
});

sharedTest("corpus/", "gemini.decodeStream() gives the same parts wherever the network cuts", () => {
  let seed = 7;
  const random = (below: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  STREAMS.forEach((r, i) => {
    const whole = decode(r);
    const all = bytes(r.sse!);
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < all.length;) {
      const size = i % 8 === 0 ? 1 : 1 + random(700);
      pieces.push(all.subarray(at, at + size));
      at += size;
    }
    assertEquals(decodePieces(pieces), whole, r.id);
  });
});

sharedTest(
  "corpus/",
  "gemini.decodeStream() calls a recording that is cut short broken, and what came before stays legal",
  () => {
    for (const r of STREAMS) {
      const frames = r.sse!.split(/(?<=\r\n\r\n|\n\n)/).filter((f) => f.trim() !== "");
      const whole = frames.findIndex((f) => f.includes('"finishReason"') || f.includes('"blockReason"'));
      for (let k = 0; k < whole; k++) {
        const decoder = gemini.decodeStream();
        const out: Part[] = [];
        for (const frame of frames.slice(0, k)) decoder.push({ event: "", data: frame.slice(5) }, out);
        const failure = assertThrows(() => decoder.end(out), Failure);
        assertEquals(failure.code, "provider_unavailable");
        assertLegal(out, { whole: false });
      }
    }
  },
);

sharedTest("corpus/", "gemini.decodeAnswer() takes a stream's chunks as one array", () => {
  for (const r of STREAMS) {
    assertEquals(gemini.decodeAnswer(read(r).chunks), decode(r), r.id);
  }
});

sharedTest(
  "corpus/",
  "gemini.decodeAnswer() and decodeStream() throw a Failure for every recorded error",
  () => {
    for (const r of ALL.filter((r) => r.status !== 200)) {
      assertThrows(() => gemini.decodeAnswer(r.response), Failure);
      const decoder = gemini.decodeStream();
      assertThrows(() => decoder.push({ event: "", data: JSON.stringify(r.response) }, []), Failure);
    }
  },
);
