/**
 * Decodes chunks of an answer. A complete JSON answer is one chunk, so both modes share the code.
 *
 * There is no end marker: an answer is complete when each candidate has a finishReason. Usage, sources and
 * empty parts with signatures may arrive with it or later, so `finish` is called at the end of the bytes.
 */
import { array, isObject, type Loose, object, string } from "../../exchange/json.ts";
import { misreports } from "../../exchange/usage.ts";
import type { Part, UsagePart } from "../../exchange/part.ts";
import { brokenAnswer, decodeLateFailure, MOST_CHOICES, tooManyChoices } from "../failures/decode_failure.ts";
import { writeJson } from "./decode_arguments.ts";
import { CandidateReader } from "./decode_candidate.ts";
import { decodeUsage, mergeUsage, serviceOf, TOTALS } from "./usage.ts";

/** Models with which Google bills a prompt with searches once, however many queries there are: those before Gemini 3. */
const PER_PROMPT = /gemini-[12]\b/;

export class ChunkReader {
  readonly #candidates = new Map<number, CandidateReader>();
  readonly #usage: Loose = Object.create(null);
  readonly #ids = new Set<string>();
  #started = false;
  /** Each query is billed, and not the prompt once. */
  #billsQueries = true;
  #blocks = 0;
  #blocked: string | undefined;
  /** Unique per answer: answers without an id differ in time or counts. */
  #answerId = "";

  /** Processes one chunk, or the array of a stream without `alt=sse`. */
  push(chunk: unknown, out: Part[]): void {
    if (Array.isArray(chunk)) { for (const one of chunk) this.#chunk(one, out); }
    else this.#chunk(chunk, out);
  }

  #chunk(chunk: unknown, out: Part[]): void {
    if (!isObject(chunk)) throw brokenAnswer("a chunk of it is not an object");
    if (chunk.error) throw decodeLateFailure(chunk);
    if (!("candidates" in chunk || "promptFeedback" in chunk || "usageMetadata" in chunk)) return;
    if (!this.#started) {
      this.#started = true;
      this.#answerId = string(chunk.responseId)?.replace(/[^\w-]/g, "").slice(0, 24) ||
        hash(writeJson([chunk.createTime, chunk.usageMetadata]));
      const model = string(chunk.modelVersion);
      if (model !== undefined) this.#billsQueries = !PER_PROMPT.test(model);
      out.push(model ? { type: "start", model } : { type: "start" });
    }
    mergeUsage(this.#usage, chunk.usageMetadata);
    const { blockReason, blockReasonMessage } = object(chunk.promptFeedback);
    if (blockReason) {
      this.#blocked = string(blockReasonMessage) || string(blockReason) || "The prompt was blocked.";
    }
    const candidates = array(chunk.candidates).filter(isObject);
    // The index of the first candidate, 0, may be omitted. Some servers omit all indices.
    const numbered = candidates.some(({ index }) => index !== undefined && index !== null);
    candidates.forEach((candidate, place) => {
      this.#candidate(numbered ? candidate.index : place).push(candidate, out);
    });
  }

  /** Nothing but sources, signatures and later counts can follow. */
  get complete(): boolean {
    for (const candidate of this.#candidates.values()) {
      if (!candidate.finished || candidate.wentOn) return false;
    }
    const ended = this.#candidates.size > 0 || this.#blocked !== undefined;
    return ended && decodeUsage(this.#usage) !== null;
  }

  end(out: Part[]): void {
    const unfinished = [...this.#candidates.values()].some((c) => !c.finished);
    if (this.#blocked === undefined && (unfinished || this.#candidates.size === 0)) {
      throw brokenAnswer("its finish reason never came");
    }
    if (this.#candidates.size === 0) this.#candidate(0);
    const finishes: Part[] = [];
    try {
      for (const candidate of this.#candidates.values()) {
        candidate.end(out, this.#blocked);
        finishes.push(out.pop()!);
      }
    } finally {
      const counted = this.counted();
      if (counted !== null) out.push(counted);
    }
    out.push(...finishes);
  }

  /** The usage so far; null: not reported. */
  counted(): UsagePart | null {
    const usage = decodeUsage(this.#usage);
    if (usage === null) return null;
    const service = serviceOf(this.#usage);
    const estimated = misreports(this.#usage, TOTALS);
    let searches = 0;
    for (const candidate of this.#candidates.values()) searches += candidate.searches;
    return {
      type: "usage",
      usage,
      ...(estimated && { estimated }),
      ...(searches > 0 && { searches: this.#billsQueries ? searches : 1 }),
      ...(service && { service }),
    };
  }

  #candidate(index: unknown): CandidateReader {
    const at = typeof index === "number" && Number.isInteger(index) && index > 0 && index < MOST_CHOICES
      ? index
      : 0;
    let found = this.#candidates.get(at);
    if (!found) {
      if (this.#candidates.size >= MOST_CHOICES) throw tooManyChoices();
      found = new CandidateReader(at, { block: () => this.#blocks++, callId: (call) => this.#callId(call) });
      this.#candidates.set(at, found);
    }
    return found;
  }

  /**
   * Older models have no call ids. A generated one must be unique in the conversation, since clients and
   * proofs refer to it, and deterministic for the same answer.
   */
  #callId(call: Loose): string {
    let id = string(call.id);
    if (!id || this.#ids.has(id)) {
      id = `call_${this.#answerId}_${this.#ids.size}`;
    }
    this.#ids.add(id);
    return id;
  }
}

/** 32-bit FNV-1a over UTF-16 units. */
function hash(text: string): string {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return (h >>> 0).toString(36);
}
