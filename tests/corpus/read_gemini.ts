/** What a generateContent recording says: JSON, a stream, or the JSON array of a stream without SSE. */
import {
  type CallReading,
  choice,
  type Counts,
  counts,
  mergeInto,
  type Reading,
  type Stop,
} from "./reading.ts";
import type { Recording } from "../support/recordings.ts";
import { framesOf } from "./sse_text.ts";
import { list, num, text, type Wild, wild } from "./wild.ts";

export function readGemini(recording: Recording): Reading {
  const bodies = recording.sse !== null
    ? framesOf(recording.sse).map((f) => wild(JSON.parse(f.data)))
    : Array.isArray(recording.response)
    ? list(recording.response)
    : [wild(recording.response)];
  const c = choice();
  const usage: Wild = {};
  let finish = "";
  let growing: { call: CallReading; value: Wild } | undefined;
  let inThought = false;
  /** What was searched for; chunks say it again. */
  const queries = new Set<string>();
  let perPrompt = false;
  for (const body of bodies) {
    // Google bills a prompt of older models once.
    perPrompt ||= /gemini-[12]\b/.test(text(body.modelVersion));
    if (body.error) return { kind: "error", said: JSON.stringify(body.error) };
    mergeInto(usage, wild(body.usageMetadata));
    if (wild(body.promptFeedback).blockReason) {
      finish = "SAFETY";
      c.explanation = text(wild(body.promptFeedback).blockReasonMessage);
    }
    const candidate = list(body.candidates)[0] ?? {};
    for (const part of list(wild(candidate.content).parts)) {
      if (part.functionCall) {
        const f = wild(part.functionCall);
        if (!growing) {
          growing = { call: { name: text(f.name), arguments: "", custom: false }, value: wild(f.args) };
          c.calls.push(growing.call);
        }
        for (const piece of list(f.partialArgs)) setAt(growing.value, piece);
        growing.call.arguments = JSON.stringify(growing.value);
        if (!f.willContinue) growing = undefined;
      } else if (part.thought === true) {
        if (!inThought) c.reasoning.push("");
        c.reasoning[c.reasoning.length - 1] += text(part.text);
        inThought = true;
        continue;
      } else c.text += text(part.text);
      if (text(part.text) || part.functionCall) inThought = false;
    }
    const grounding = wild(candidate.groundingMetadata);
    const asked = [grounding.webSearchQueries, grounding.imageSearchQueries] as (string[] | undefined)[];
    for (const query of asked.flatMap((some) => some ?? [])) if (query.trim() !== "") queries.add(query);
    const chunks = list(grounding.groundingChunks).map((chunk) => wild(chunk.web));
    for (const support of list(grounding.groundingSupports)) {
      for (const i of support.groundingChunkIndices as number[] ?? []) {
        const web = chunks[i];
        if (web?.uri && !c.citations.some((x) => x.url === web.uri)) {
          c.citations.push({ url: text(web.uri), title: text(web.title) || undefined });
        }
      }
    }
    for (const web of chunks) if (web.uri) c.mayCite.push(text(web.uri));
    for (const source of list(wild(candidate.citationMetadata).citations)) {
      if (source.uri) c.mayCite.push(text(source.uri));
    }
    // Some recorders kept the enum's number: 1 is STOP.
    if (candidate.finishMessage) c.explanation = text(candidate.finishMessage);
    if (candidate.finishReason) {
      finish = candidate.finishReason === 1 ? "STOP" : String(candidate.finishReason);
    }
  }
  if (finish === "") return { kind: "error", said: "no end" };
  c.stops = geminiStops(finish, c.calls.length > 0);
  return {
    kind: "answer",
    choices: [c],
    searches: perPrompt ? Math.min(1, queries.size) : queries.size,
    ...geminiUsage(usage),
  };
}

function geminiStops(finish: string, called: boolean): Stop[] {
  if (finish === "MAX_TOKENS") return ["length"];
  if (finish === "STOP") return [called ? "tool-calls" : "stop"];
  // The call is there, though to a tool that nobody declared.
  if (finish === "UNEXPECTED_TOOL_CALL") return called ? ["tool-calls", "stop"] : ["stop"];
  return ["content-filter", "refusal"];
}

function geminiUsage(u: Wild): { usage: Counts | null; outputToo?: number } {
  const candidates = num(u.candidatesTokenCount);
  const thoughts = num(u.thoughtsTokenCount) ?? 0;
  if (num(u.promptTokenCount) === undefined && candidates === undefined) return { usage: null };
  const input = (num(u.promptTokenCount) ?? 0) + (num(u.toolUsePromptTokenCount) ?? 0);
  const total = num(u.totalTokenCount);
  return {
    usage: counts({
      input,
      cached: num(u.cachedContentTokenCount),
      output: (candidates ?? 0) + thoughts,
      reasoning: thoughts,
    }),
    outputToo: total === undefined ? undefined : total - input,
  };
}

/** Puts a piece of streamed arguments where its path says: `$.recipe.steps[0]`. Pieces of one string add up. */
function setAt(root: Wild, piece: Wild): void {
  const path = [...text(piece.jsonPath).matchAll(/\.([^.[]+)|\[(\d+)\]/g)]
    .map((m) => m[1] !== undefined ? m[1] : Number(m[2]));
  let at: Wild = root;
  path.forEach((key, i) => {
    const last = i === path.length - 1;
    if (!last) {
      at[key] ??= typeof path[i + 1] === "number" ? [] : {};
      at = at[key] as Wild;
    } else if ("stringValue" in piece) at[key] = text(at[key]) + text(piece.stringValue);
    else if ("numberValue" in piece) at[key] = piece.numberValue;
    else if ("boolValue" in piece) at[key] = piece.boolValue;
    else at[key] = null;
  });
}
