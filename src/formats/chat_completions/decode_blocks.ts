/**
 * Decodes chunks of a provider's answer to parts.
 *
 * A complete answer is treated as one chunk whose `message` is its delta, so both modes share the code. Calls
 * are identified by choice and index, never by order or id. Finish parts are delayed until the end:
 * compatible providers repeat the finish reason, and send usage, sources and signatures after it.
 */
import { BROKE_OFF, Failure } from "../../exchange/failure.ts";
import { array, isObject, type Loose, number, object, string } from "../../exchange/json.ts";
import type { FinishReason, Part, UsagePart } from "../../exchange/part.ts";
import type { Citation } from "../../exchange/citation.ts";
import {
  brokenAnswer,
  decodeLateFailure,
  MOST_CHOICES,
  tooManyChoices,
  unusableAnswer,
} from "../failures/decode_failure.ts";
import { endCall, readCall, startCall } from "./decode_call_blocks.ts";
import { cite, decodeSources, readAnnotations, readReference, readSpans } from "./decode_citations.ts";
import { closeSound, readImage, readSound } from "./decode_media_blocks.ts";
import { GatheredFields, keepLast } from "./decode_unknown.ts";
import { unknownOfAnswer, unknownOfChoice, unknownOfMessage } from "./decode_unknown.ts";
import { readReasoning, readSummary, readThinking } from "./decode_reasoning_blocks.ts";
import {
  type AnswerState,
  closeReasoning,
  closeText,
  hold,
  type OpenChoice,
  openChoice,
  pushText,
} from "./decode_state.ts";
import { decodeFinish } from "./finish.ts";
import { decodeLogprobs, decodeTextLogprobs } from "./logprobs.ts";
import { decodeReport } from "./usage.ts";

/** Values of `service_tier` in the official types. */
const TIERS: ReadonlySet<unknown> = new Set(["auto", "default", "flex", "scale", "priority", "fast"]);

/** Converts chunks to parts. One reader per answer. */
export class ChunkReader {
  readonly #choices = new Map<number, OpenChoice>();
  readonly #state: AnswerState = { nextBlock: 0, held: 0, id: "" };
  readonly #hold = (text: string) => hold(this.#state, text);
  #started = false;
  #usage: Loose | undefined;
  #service: string | undefined;
  #sources: Citation[] = [];
  #promptFilters: unknown[] = [];
  #moderation: Loose | undefined;
  /** Unknown fields of the answer, as they were at its start, and the last value of each. */
  #startFields: Loose = {};
  #lastFields: Loose | undefined;

  /** Processes a chunk, or an answer if `whole`. Throws if it contains an error; usage known so far is in `out`. */
  push(chunk: Loose, whole: boolean, out: Part[]): void {
    const state = this.#state;
    const choices = array(chunk.choices);
    // Cloudflare sends a list of errors instead of an answer.
    const failed = choices.length === 0 && array(chunk.errors).some(hasError);
    if (failed || hasError(chunk.error)) this.fail(decodeLateFailure(chunk), out);
    if (state.id === "" && typeof chunk.id === "string") state.id = chunk.id;
    // Azure's first chunk has only content filter results.
    if (!this.#started && chunk.prompt_filter_results) {
      this.#promptFilters = array(chunk.prompt_filter_results);
    }
    const unknown = unknownOfAnswer(chunk);
    if (unknown) this.#lastFields = keepLast(this.#lastFields, unknown, "repeated", this.#hold);
    if (!this.#started && (choices.length > 0 || chunk.model)) this.#start(chunk, out);
    const { x_groq, base_resp } = chunk;
    if (isObject(x_groq) && hasError(x_groq.error)) {
      this.fail(decodeLateFailure({ error: x_groq.error }), out);
    }
    if (isObject(base_resp) && base_resp.status_code) this.fail(decodeLateFailure(chunk), out);
    const usage = chunk.usage ?? (isObject(x_groq) ? x_groq.usage : undefined);
    this.#service = string(chunk.service_tier) ?? this.#service;
    if (isObject(usage)) this.#addUsage(usage);
    // In a stream it follows the finish reason, in a separate chunk.
    if (isObject(chunk.moderation)) this.#moderation = chunk.moderation;
    if (chunk.citations || chunk.search_results || chunk.web_search) {
      // Each chunk repeats all sources.
      const sources = decodeSources(chunk);
      if (sources.length >= this.#sources.length) this.#sources = sources;
    }
    const split = whole && choices.length > 1 ? splitAt(choices) : choices.length;
    for (let i = 0; i < choices.length; i++) {
      const choice = choices[i];
      if (!isObject(choice)) continue;
      const index = indexOf(choices, i > split && choice.finish_reason === "tool_calls" ? split : i);
      this.#choice(choice, index, whole ? `entry ${i}` : null, out);
    }
  }

  /** Whether some usage is known. */
  get hasUsage(): boolean {
    return this.#usage !== undefined;
  }

  /** Every choice has ended, and there are counts, which come last. */
  get complete(): boolean {
    if (this.#usage === undefined || this.#choices.size === 0) return false;
    for (const { finish, wentOn } of this.#choices.values()) if (finish === undefined || wentOn) return false;
    return true;
  }

  /** Reads the usage in a chunk behind the end marker, where nothing else counts. False: there is none. */
  lateUsage(chunk: unknown, out: Part[]): boolean {
    if (!isObject(chunk) || !isObject(chunk.usage)) return false;
    if (!this.#started) this.#start(chunk, out);
    this.#addUsage(chunk.usage);
    return true;
  }

  /** Ends all blocks and choices. `marked`: there was an end marker. */
  finish(out: Part[], marked: boolean): void {
    const choices = [...this.#choices.values()];
    if (choices.length === 0) this.#failWithoutChoice(out);
    if (!marked && choices.some((choice) => choice.finish === undefined)) {
      this.fail(brokenAnswer("no finish_reason came"), out);
    }
    for (const choice of choices) {
      // An entry without any data is not a call; one with arguments but without a name cannot be run.
      choice.calls = choice.calls.filter((c) => c.name !== "" || c.id !== "" || c.pieces.length > 0);
      if (choice.calls.some((call) => call.name === "")) {
        this.fail(brokenAnswer("a tool call has no name"), out);
      }
      this.#close(choice, out);
    }
    this.#flushUsage(out);
    const late = this.#lateFields();
    if (late) choices[0].finishFields = { ...choices[0].finishFields, answer: late };
    for (const choice of choices) {
      out.push({
        type: "finish",
        choice: choice.index,
        reason: reasonOf(choice),
        ...(choice.sequence !== undefined && { sequence: choice.sequence }),
        ...(choice.finishFields && { extra: { format: "chat_completions", fields: choice.finishFields } }),
      });
    }
  }

  fail(failure: Failure, out: Part[]): never {
    this.#flushUsage(out);
    throw failure;
  }

  /** Fields of the answer that came or changed after its start. */
  #lateFields(): Loose | undefined {
    let late: Loose | undefined = this.#moderation && { moderation: this.#moderation };
    if (this.#service && !this.#startFields.service_tier) {
      late = { ...late, service_tier: tierOf(this.#service) };
    }
    const last = this.#lastFields;
    for (const name in last) {
      const same = Object.hasOwn(this.#startFields, name) && isEqual(this.#startFields[name], last[name]);
      if (!same) (late ??= {})[name] = last[name];
    }
    return late;
  }

  #start(chunk: Loose, out: Part[]): void {
    this.#started = true;
    const fields: Loose = { ...this.#lastFields };
    if (string(chunk.service_tier)) fields.service_tier = tierOf(chunk.service_tier);
    if (string(chunk.system_fingerprint)) fields.system_fingerprint = chunk.system_fingerprint;
    this.#startFields = fields;
    if (this.#promptFilters.length > 0) fields.prompt_filter_results = this.#promptFilters;
    const model = string(chunk.model);
    out.push({
      type: "start",
      ...(model && { model }),
      ...(Object.keys(fields).length > 0 && { extra: { format: "chat_completions", fields } }),
    });
  }

  /** An answer that names itself and counts no output: nothing is billed twice if the request is sent again. */
  #failWithoutChoice(out: Part[]): never {
    const failure = brokenAnswer("it holds no choice");
    const { code, message } = failure;
    const isEmpty = this.#state.id !== "" && !this.#usage?.completion_tokens;
    return this.fail(isEmpty ? new Failure(code, message) : failure, out);
  }

  /**
   * Counts are cumulative and may be null until the end: the last value of each field counts. Some servers
   * report zeros after the counts, for all fields or for the prompt.
   */
  #addUsage(usage: Loose): void {
    const known = this.#usage ??= {};
    const promptAgain = isZero(usage.prompt_tokens) && !isZero(known.prompt_tokens ?? 0);
    const outputAgain = isZero(usage.completion_tokens) && !isZero(known.completion_tokens ?? 0);
    for (const key of Object.keys(usage)) {
      if (usage[key] === null || key === "__proto__" || (isZero(usage[key]) && known[key] !== undefined)) {
        continue;
      }
      if (promptAgain && key === "prompt_tokens_details") continue;
      if (outputAgain && key === "completion_tokens_details") continue;
      known[key] = usage[key];
    }
  }

  /** The usage so far; null: not reported. */
  counted(): UsagePart | null {
    return this.#usage === undefined ? null : decodeReport(this.#usage, this.#service);
  }

  #flushUsage(out: Part[]): void {
    const counted = this.counted();
    this.#usage = undefined;
    if (counted !== null) out.push(counted);
  }

  /** @param entry what the calls of a complete answer are named by; null: a piece of a stream */
  #choice(wire: Loose, index: number, entry: string | null, out: Part[]): void {
    let choice = this.#choices.get(index);
    if (!choice) {
      if (this.#choices.size >= MOST_CHOICES) this.fail(tooManyChoices(), out);
      choice = openChoice(index);
      this.#choices.set(index, choice);
    }
    if (hasError(wire.error)) this.fail(decodeLateFailure(wire), out);
    const delta = entry === null ? wire.delta ?? this.#lateMessage(wire, choice) : wire.message ?? wire.delta;
    if (isObject(delta)) this.#delta(choice, delta, wire.logprobs, entry, out);
    const unknown = unknownOfChoice(wire);
    if (unknown) choice.finishFields = keepLast(choice.finishFields, unknown, "in pieces", this.#hold);
    // Moonshot sends usage here.
    if (isObject(wire.usage)) this.#addUsage(wire.usage);
    if (wire.finish_reason) this.#finishReason(wire, choice, out);
  }

  /** Some providers repeat the whole message at the end of a stream; it is used only if no deltas arrived. */
  #lateMessage(wire: Loose, choice: OpenChoice): unknown {
    return choice.said || choice.calls.length > 0 ? undefined : wire.message;
  }

  #finishReason(wire: Loose, choice: OpenChoice, out: Part[]): void {
    const reason = decodeFinish(wire.finish_reason);
    if (reason === "breakdown") {
      this.fail(new Failure("provider_model_down", `${BROKE_OFF}.`), out);
    }
    if (reason === "malformed-call") this.fail(unusableAnswer(string(wire.finish_reason)!), out);
    choice.finish = reason;
    // vLLM and SGLang report the matched stop sequence; a number is a token of the model.
    const sequence = wire.stop_reason ?? wire.matched_stop;
    if (reason === "stop" && typeof sequence === "string" && sequence !== "" && sequence !== "stop") {
      choice.sequence = sequence;
    }
  }

  #delta(choice: OpenChoice, delta: Loose, logprobs: unknown, entry: string | null, out: Part[]): void {
    const state = this.#state;
    readReasoning(state, choice, delta, out);
    const { content } = delta;
    if (content && choice.finish !== undefined) choice.wentOn = true;
    if (typeof content === "string") {
      if (content !== "" || (logprobs && choice.text)) {
        const probs = logprobs ? decodeTextLogprobs(object(logprobs)) : undefined;
        if (content !== "" || probs) pushText(state, choice, content, false, probs, out);
      }
    } else if (Array.isArray(content)) this.#contentParts(choice, content, out);
    else if (content !== null && content !== undefined) {
      // Cloudflare's JSON mode returns the object itself.
      pushText(state, choice, JSON.stringify(content), false, undefined, out);
    }
    // Of the text: a refusal has no sources.
    if (Array.isArray(delta.annotations)) readAnnotations(state, choice, delta.annotations, out);
    if (delta.citations) readSpans(state, choice, delta.citations, string(content) ?? "", out);
    if (delta.refusal && typeof delta.refusal === "string") {
      const probs = logprobs ? decodeLogprobs(object(logprobs).refusal) : undefined;
      pushText(state, choice, delta.refusal, true, probs, out);
    }
    if (isObject(delta.audio)) readSound(state, choice, delta.audio, out);
    if (Array.isArray(delta.images)) {
      for (const image of delta.images) readImage(state, choice, image, out);
    }
    const calls = delta.tool_calls;
    if (isObject(calls)) readCall(state, choice, calls, out);
    else if (Array.isArray(calls)) {
      for (const [i, call] of calls.entries()) {
        // In a complete answer each entry is a separate call.
        if (!isObject(call)) continue;
        readCall(state, choice, entry === null ? call : { ...call, index: `${entry} ${i}` }, out);
      }
    }
    const legacy = delta.function_call;
    if (isObject(legacy) && (legacy.name || legacy.arguments)) {
      readCall(state, choice, { index: "function_call", function: legacy }, out);
    }
    const unknown = unknownOfMessage(delta);
    if (unknown) (choice.unknown ??= new GatheredFields()).add(unknown, this.#hold);
  }

  /** `content` as an array: text and thinking (Mistral), text and reasoning (Databricks), images (others). */
  #contentParts(choice: OpenChoice, parts: readonly unknown[], out: Part[]): void {
    const state = this.#state;
    for (const value of parts) {
      const part = typeof value === "string" ? { type: "text", text: value } : object(value);
      if (part.type === "thinking") {
        const text = typeof part.thinking === "string"
          ? part.thinking
          : array(part.thinking).map((piece) => string(object(piece).text) ?? "").join("");
        if (text !== "") readThinking(state, choice, text, "content", out);
      } else if (part.type === "reasoning") {
        readSummary(state, choice, array(part.summary), out);
      } else if (part.type === "image_url") readImage(state, choice, part, out);
      else if (part.type === "refusal" && typeof part.refusal === "string") {
        pushText(state, choice, part.refusal, true, undefined, out);
      } else if (typeof part.text === "string" && part.text !== "") {
        pushText(state, choice, part.text, false, undefined, out);
      } else readReference(state, choice, part, out);
    }
  }

  #close(choice: OpenChoice, out: Part[]): void {
    const state = this.#state;
    closeReasoning(choice, out);
    for (const call of choice.calls) {
      if (!call.started) startCall(state, choice, call, out);
      endCall(call, out);
    }
    for (const source of this.#sources) {
      if (!choice.cited.has(source.url!)) cite(state, choice, source, out);
    }
    closeText(choice, out);
    closeSound(state, choice, out);
    if (!choice.unknown) return;
    const at = { block: state.nextBlock++, choice: choice.index };
    out.push({ type: "opaque", ...at, format: "chat_completions", value: choice.unknown.fields });
  }
}

/** Compatible providers have other values (`on_demand`), which clients' types reject. */
function tierOf(tier: unknown): unknown {
  return TIERS.has(tier) ? tier : "default";
}

function isEqual(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === "object" && JSON.stringify(a) === JSON.stringify(b));
}

/**
 * The position of a choice that ends with tool calls but has none: GitHub Copilot sends text and calls of one
 * answer of Claude as several choices. The number of choices: there is none.
 */
function splitAt(choices: readonly unknown[]): number {
  const at = choices.findIndex((choice) => {
    const { finish_reason, message } = object(choice);
    const { tool_calls, function_call } = object(message);
    return finish_reason === "tool_calls" && array(tool_calls).length === 0 && !function_call &&
      !isObject(tool_calls);
  });
  return at < 0 ? choices.length : at;
}

function indexOf(choices: readonly unknown[], position: number): number {
  return number(object(choices[position]).index) ?? position;
}

function reasonOf(choice: OpenChoice): FinishReason {
  const called = choice.calls.length > 0;
  const reason = choice.finish ?? (called ? "tool-calls" : "stop");
  // A forced call ends with `stop` at OpenAI; Gemini's compatible API always uses `stop`.
  if (reason === "stop" && called) return "tool-calls";
  if (reason === "tool-calls" && !called) return "stop";
  if (reason !== "stop") return reason;
  if (choice.refused && !choice.said) return "refusal";
  return choice.sequence === undefined ? "stop" : "stop-sequence";
}

function hasError(error: unknown): boolean {
  return isObject(error) ? Object.keys(error).length > 0 : typeof error === "string" && error !== "";
}

function isZero(count: unknown): boolean {
  return count === 0 || count === "0";
}
