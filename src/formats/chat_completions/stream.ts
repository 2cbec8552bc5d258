/**
 * A provider's chat-completions answer, streamed or whole, as parts.
 *
 * A whole answer is one chunk whose `message` is its delta, so both modes take the same path. Calls are kept by choice and
 * index, never by order or id. Finishes are held back to the end: compatible providers repeat them, and send usage,
 * sources and signatures after them.
 */
import { Failure } from "../../exchange/failure.ts";
import { array, isObject, type Loose, number, object, parse, string } from "../../exchange/json.ts";
import type { FinishReason, Part, TokenLogprob } from "../../exchange/part.ts";
import type { Citation } from "../../exchange/prompt.ts";
import type { Frame, StreamDecoder } from "../format.ts";
import { brokenAnswer, decodeLateFailure } from "../provider_failure.ts";
import { decodeFinish } from "./finish.ts";
import { decodeUrl, joinBase64, soundType } from "./media.ts";
import {
  addDetail,
  type ReasoningField,
  type Replay,
  replayProof,
  signedFields,
  splitDetails,
  textKey,
} from "./reasoning.ts";
import { decodeUsage } from "./usage.ts";

const FORMAT = "chat_completions";

/** Most characters held of one answer: arguments, reasoning details, sound. */
const MOST_HELD = 64 * 1024 * 1024;

interface OpenCall {
  block: number;
  id: string;
  name: string;
  kind: "function" | "custom";
  proof?: Loose;
  started: boolean;
  ended: boolean;
  /** Argument pieces: those not yet passed on until the name is known, all of them for knowing when they are whole. */
  pieces: string[];
}

interface OpenReasoning {
  block: number;
  field: ReasoningField | undefined;
  details: Loose[];
  section: number;
  /** Where this choice's visible text comes from, since both places repeat it. */
  source: "string" | "details" | undefined;
}

interface OpenChoice {
  index: number;
  text: { block: number; refusal: boolean } | undefined;
  reasoning: OpenReasoning | undefined;
  calls: OpenCall[];
  byKey: Map<number | string, OpenCall>;
  current: OpenCall | undefined;
  spokeRefusal: boolean;
  said: boolean;
  cited: boolean;
  finish: FinishReason | undefined;
  sequence: string | undefined;
  finishExtra: Loose | undefined;
  sound: { pieces: string[]; transcript: string[]; id?: string; expires?: number } | undefined;
}

/** Turns chunks into parts. One answer, one reader. */
export class ChunkReader {
  readonly #choices = new Map<number, OpenChoice>();
  #nextBlock = 0;
  #started = false;
  #done = false;
  #held = 0;
  #usage: Loose | undefined;
  #answerId = "";
  /** Pages that the provider says it used, where it names them beside the choices. */
  #sources: Citation[] | undefined;

  get sawFinish(): boolean {
    if (this.#choices.size === 0) return false;
    for (const choice of this.#choices.values()) if (choice.finish === undefined) return false;
    return true;
  }

  get empty(): boolean {
    return this.#choices.size === 0;
  }

  /** One chunk, or one whole answer. Throws when it carries an error; usage known by then is in `out`. */
  push(chunk: Loose, out: Part[]): void {
    if (hasError(chunk.error)) {
      this.#flushUsage(out);
      throw decodeLateFailure(chunk);
    }
    if (this.#answerId === "" && typeof chunk.id === "string") this.#answerId = chunk.id;
    const choices = chunk.choices;
    if (!this.#started && Array.isArray(choices) && (choices.length > 0 || chunk.model)) {
      this.#start(chunk, out);
    }
    const usage = chunk.usage ?? (isObject(chunk.x_groq) ? chunk.x_groq.usage : undefined);
    if (isObject(usage)) this.#addUsage(usage);
    if (chunk.citations !== undefined || chunk.search_results !== undefined) this.#readSources(chunk);
    if (!Array.isArray(choices)) return;
    for (let i = 0; i < choices.length; i++) {
      const choice = choices[i];
      if (isObject(choice)) this.#choice(choice, i, out);
    }
  }

  /** Ends every block and every choice. `marked`: the wire said that the answer is whole. */
  finish(out: Part[], marked: boolean): void {
    if (this.#done) return;
    this.#done = true;
    const whole = this.#choices.size > 0 && (marked || this.sawFinish);
    if (!whole) {
      this.#flushUsage(out);
      throw brokenAnswer(this.#choices.size === 0 ? "it holds no choice" : "no finish_reason came");
    }
    for (const choice of this.#choices.values()) this.#closeChoice(choice, out);
    this.#flushUsage(out);
    for (const choice of this.#choices.values()) {
      const called = choice.calls.length > 0;
      let reason = choice.finish ?? (called ? "tool-calls" : "stop");
      // A forced call ends with `stop` at OpenAI; Gemini's compatible API always says so.
      if (reason === "stop" && called) reason = "tool-calls";
      else if (reason === "tool-calls" && !called) reason = "stop";
      else if (reason === "stop" && choice.spokeRefusal && !choice.said) reason = "refusal";
      out.push({
        type: "finish",
        choice: choice.index,
        reason: reason === "stop" && choice.sequence !== undefined ? "stop-sequence" : reason,
        ...(choice.sequence !== undefined && { sequence: choice.sequence }),
        ...(choice.finishExtra && { extra: { format: FORMAT, fields: choice.finishExtra } }),
      });
    }
  }

  #start(chunk: Loose, out: Part[]): void {
    this.#started = true;
    const fields: Loose = {};
    for (const name of ["service_tier", "system_fingerprint"]) {
      if (typeof chunk[name] === "string" && chunk[name] !== "") fields[name] = chunk[name];
    }
    const model = string(chunk.model);
    out.push({
      type: "start",
      ...(model ? { model } : {}),
      ...(Object.keys(fields).length > 0 && { extra: { format: FORMAT, fields } }),
    });
  }

  /** Counts are cumulative and may be null until the end: the last value of each field holds. */
  #addUsage(usage: Loose): void {
    if (!this.#usage) this.#usage = { ...usage };
    else {
      for (const key of Object.keys(usage)) {
        if (usage[key] !== null && key !== "__proto__") this.#usage[key] = usage[key];
      }
    }
  }

  #flushUsage(out: Part[]): void {
    const usage = this.#usage && decodeUsage(this.#usage);
    this.#usage = undefined;
    if (usage) out.push({ type: "usage", usage });
  }

  #hold(text: string): void {
    this.#held += text.length;
    if (this.#held > MOST_HELD) throw brokenAnswer(`it is over ${MOST_HELD} characters`);
  }

  #readSources(chunk: Loose): void {
    const results = array(chunk.search_results).map(object);
    const found: Citation[] = [];
    for (const result of results) {
      const url = string(result.url);
      if (url) found.push({ kind: "url", url, title: string(result.title) ?? "" });
    }
    if (found.length === 0) {
      for (const url of array(chunk.citations)) {
        if (typeof url === "string" && url !== "") found.push({ kind: "url", url, title: "" });
      }
    }
    if (found.length > 0) this.#sources = found;
  }

  #choice(wire: Loose, position: number, out: Part[]): void {
    const index = number(wire.index) ?? position;
    let choice = this.#choices.get(index);
    if (!choice) {
      if (!this.#started) this.#start({}, out);
      choice = {
        index,
        text: undefined,
        reasoning: undefined,
        calls: [],
        byKey: new Map(),
        current: undefined,
        spokeRefusal: false,
        said: false,
        cited: false,
        finish: undefined,
        sequence: undefined,
        finishExtra: undefined,
        sound: undefined,
      };
      this.#choices.set(index, choice);
    }
    if (hasError(wire.error)) {
      this.#flushUsage(out);
      throw decodeLateFailure(wire);
    }
    // Some providers repeat the whole message beside the delta; it counts only where there is no other.
    const delta = wire.delta ?? (choice.said || choice.calls.length > 0 ? undefined : wire.message);
    if (isObject(delta)) this.#delta(choice, delta, wire.logprobs, out);
    if (wire.finish_reason) {
      const reason = decodeFinish(wire.finish_reason);
      if (reason === "breakdown") {
        this.#flushUsage(out);
        throw new Failure("provider_model_down", "The model broke off its answer.");
      }
      choice.finish = reason;
      const sequence = wire.stop_reason ?? wire.matched_stop;
      if (reason === "stop" && typeof sequence === "string" && sequence !== "" && sequence !== "stop") {
        choice.sequence = sequence;
      }
      const native = string(wire.native_finish_reason);
      if (native !== undefined) choice.finishExtra = { native_finish_reason: native };
    }
  }

  #delta(choice: OpenChoice, delta: Loose, logprobs: unknown, out: Part[]): void {
    // The path of most chunks: some text and nothing else.
    const content = delta.content;
    this.#reasoning(choice, delta, out);
    if (typeof content === "string") {
      if (content !== "" || (logprobs && choice.text)) {
        this.#text(
          choice,
          content,
          false,
          logprobs ? decodeLogprobs(object(logprobs).content) : undefined,
          out,
        );
      }
    } else if (Array.isArray(content)) this.#contentParts(choice, content, out);
    else if (content !== null && content !== undefined) {
      // JSON mode of Cloudflare: the object itself.
      this.#text(choice, JSON.stringify(content), false, undefined, out);
    }
    if (typeof delta.refusal === "string" && delta.refusal !== "") {
      const probs = logprobs ? decodeLogprobs(object(logprobs).refusal) : undefined;
      this.#text(choice, delta.refusal, true, probs, out);
    }
    if (Array.isArray(delta.annotations)) this.#annotations(choice, delta.annotations, out);
    if (isObject(delta.audio)) this.#sound(choice, delta.audio);
    if (Array.isArray(delta.images)) { for (const image of delta.images) this.#image(choice, image, out); }
    if (Array.isArray(delta.tool_calls)) {
      for (const call of delta.tool_calls) if (isObject(call)) this.#call(choice, call, out);
    }
    const legacy = delta.function_call;
    if (isObject(legacy) && (legacy.name || legacy.arguments)) {
      this.#call(choice, { index: "function_call", function: legacy }, out);
    }
  }

  #text(
    choice: OpenChoice,
    text: string,
    refusal: boolean,
    logprobs: TokenLogprob[] | undefined,
    out: Part[],
  ): void {
    if (choice.reasoning && text !== "") this.#closeReasoning(choice, out);
    if (choice.text && choice.text.refusal !== refusal) this.#closeText(choice, out);
    if (!choice.text) {
      choice.text = { block: this.#nextBlock++, refusal };
      const { block } = choice.text;
      out.push({ type: "text-start", block, choice: choice.index, ...(refusal && { refusal }) });
    }
    if (refusal) choice.spokeRefusal = true;
    else choice.said = true;
    out.push({ type: "text-delta", block: choice.text.block, text, ...(logprobs && { logprobs }) });
  }

  #closeText(choice: OpenChoice, out: Part[]): void {
    if (!choice.text) return;
    out.push({ type: "text-end", block: choice.text.block });
    choice.text = undefined;
  }

  /** `content` as a list: Mistral's text and thinking, others' images. */
  #contentParts(choice: OpenChoice, parts: readonly unknown[], out: Part[]): void {
    for (const part of parts) {
      if (typeof part === "string") {
        if (part !== "") this.#text(choice, part, false, undefined, out);
        continue;
      }
      if (!isObject(part)) continue;
      if (part.type === "thinking") {
        const text = typeof part.thinking === "string"
          ? part.thinking
          : array(part.thinking).map((piece) => string(object(piece).text) ?? "").join("");
        if (text !== "") this.#reason(choice, "content", text, 0, false, out);
      } else if (part.type === "image_url" || part.type === "image") this.#image(choice, part, out);
      else if (part.type === "refusal") {
        if (typeof part.refusal === "string") this.#text(choice, part.refusal, true, undefined, out);
      } else if (typeof part.text === "string" && part.text !== "") {
        this.#text(choice, part.text, false, undefined, out);
      }
    }
  }

  #reasoning(choice: OpenChoice, delta: Loose, out: Part[]): void {
    const first = string(delta.reasoning_content);
    const field: ReasoningField | undefined = first
      ? "reasoning_content"
      : delta.reasoning
      ? "reasoning"
      : undefined;
    const text = first || string(delta.reasoning) || "";
    const details = delta.reasoning_details;
    if (Array.isArray(details) && details.length > 0) {
      const hasText = details.some((entry) => isObject(entry) && textKey(entry) !== undefined);
      const open = choice.reasoning ?? this.#openReasoning(choice, field, hasText, summaryOnly(details), out);
      open.field ??= field;
      for (const entry of details) {
        if (!isObject(entry)) continue;
        const key = textKey(entry);
        if (key) this.#hold(entry[key] as string);
        else if (typeof entry.data === "string") this.#hold(entry.data);
        const words = key ? entry[key] as string : "";
        const kept = addDetail(open.details, entry);
        if (words === "" || text !== "" || open.source === "string") continue;
        open.source = "details";
        this.#reason(choice, undefined, words, sectionOf(open.details, kept), true, out);
      }
    }
    if (text !== "") {
      const open = choice.reasoning;
      const section = open ? Math.max(0, open.details.filter((d) => textKey(d) !== undefined).length - 1) : 0;
      if (open?.source !== "details") this.#reason(choice, field, text, section, false, out);
      const now = choice.reasoning;
      if (now) now.source ??= "string";
    }
    const signed = signedFields(delta);
    if (signed) {
      this.#closeReasoning(choice, out);
      const block = this.#nextBlock++;
      out.push({
        type: "reasoning-start",
        block,
        choice: choice.index,
        kind: "text",
        extra: ownExtra(undefined, false),
      });
      out.push({ type: "reasoning-end", block, proof: replayProof({ fields: signed }) });
    }
  }

  #openReasoning(
    choice: OpenChoice,
    field: ReasoningField | undefined,
    details: boolean,
    summary: boolean,
    out: Part[],
  ): OpenReasoning {
    this.#closeText(choice, out);
    const open: OpenReasoning = {
      block: this.#nextBlock++,
      field,
      details: [],
      section: 0,
      source: undefined,
    };
    choice.reasoning = open;
    out.push({
      type: "reasoning-start",
      block: open.block,
      choice: choice.index,
      kind: summary ? "summary" : "text",
      extra: ownExtra(field, details),
    });
    return open;
  }

  #reason(
    choice: OpenChoice,
    field: ReasoningField | undefined,
    text: string,
    section: number,
    details: boolean,
    out: Part[],
  ): void {
    const open = choice.reasoning ?? this.#openReasoning(choice, field, details, false, out);
    open.field ??= field;
    open.section = section;
    out.push({ type: "reasoning-delta", block: open.block, section, text });
  }

  #closeReasoning(choice: OpenChoice, out: Part[]): void {
    const open = choice.reasoning;
    if (!open) return;
    choice.reasoning = undefined;
    const replay: Replay = {};
    if (open.field) replay.field = open.field;
    if (open.details.length > 0) replay.details = splitDetails(open.details).stripped;
    out.push({ type: "reasoning-end", block: open.block, proof: replayProof(replay) });
  }

  #annotations(choice: OpenChoice, annotations: readonly unknown[], out: Part[]): void {
    for (const annotation of annotations) {
      const wire = object(annotation);
      if (wire.type !== "url_citation") continue;
      const nested = isObject(wire.url_citation) ? wire.url_citation : wire;
      const url = string(nested.url);
      if (!url) continue;
      choice.cited = true;
      const start = number(nested.start_index);
      const end = number(nested.end_index);
      const quote = string(nested.content);
      this.#cite(choice, {
        kind: "url",
        url,
        title: string(nested.title) ?? "",
        ...(quote && { quote }),
        ...(start !== undefined && end !== undefined && end > start && { start, end }),
      }, out);
    }
  }

  #cite(choice: OpenChoice, citation: Citation, out: Part[]): void {
    if (!choice.text) {
      choice.text = { block: this.#nextBlock++, refusal: false };
      out.push({ type: "text-start", block: choice.text.block, choice: choice.index });
    }
    out.push({ type: "citation", block: choice.text.block, citation });
  }

  #sound(choice: OpenChoice, audio: Loose): void {
    const sound = choice.sound ??= { pieces: [], transcript: [] };
    if (typeof audio.data === "string" && audio.data !== "") {
      this.#hold(audio.data);
      sound.pieces.push(audio.data);
    }
    if (typeof audio.transcript === "string" && audio.transcript !== "") {
      this.#hold(audio.transcript);
      sound.transcript.push(audio.transcript);
    }
    if (typeof audio.id === "string" && audio.id !== "") sound.id = audio.id;
    const expires = number(audio.expires_at);
    if (expires) sound.expires = expires;
  }

  #image(choice: OpenChoice, image: unknown, out: Part[]): void {
    const wire = object(image);
    const url = string(wire.image_url) ?? string(object(wire.image_url).url) ?? string(wire.url);
    if (!url) return;
    const source = decodeUrl(url);
    const block = this.#nextBlock++;
    if (source.kind === "base64") {
      out.push({
        type: "media",
        block,
        choice: choice.index,
        mediaType: source.mediaType,
        data: source.data,
      });
    } else {
      const value = { images: [{ type: "image_url", image_url: { url } }] };
      out.push({ type: "opaque", block, choice: choice.index, format: FORMAT, value });
    }
  }

  #call(choice: OpenChoice, wire: Loose, out: Part[]): void {
    const custom = isObject(wire.custom) && !isObject(wire.function);
    const body = custom ? object(wire.custom) : object(wire.function);
    const id = string(wire.id) ?? "";
    const name = string(body.name) ?? "";
    const given = custom ? body.input : body.arguments;
    const piece = typeof given === "string" ? given : isObject(given) ? JSON.stringify(given) : "";
    const call = this.#findCall(choice, wire.index, id, name, custom ? "custom" : "function", out);
    if (call.ended) return;
    const signed = signedFields(wire);
    if (call.id === "" && id !== "") call.id = id;
    if (call.name === "" && name !== "") call.name = name;
    if (piece !== "") {
      this.#hold(piece);
      call.pieces.push(piece);
    }
    if (!call.started) {
      if (signed) call.proof = signed;
      if (call.name !== "") this.#startCall(choice, call, out);
    } else {
      if (signed) this.#lateProof(choice, call, signed, out);
      if (piece !== "") out.push({ type: "call-delta", block: call.block, text: piece });
    }
  }

  /**
   * The call that a delta belongs to. Without an index, an id or else a name begins a new one. With one, another id at a
   * call whose arguments are whole is a new call too: some providers number every call 0.
   */
  #findCall(
    choice: OpenChoice,
    index: unknown,
    id: string,
    name: string,
    kind: "function" | "custom",
    out: Part[],
  ): OpenCall {
    const key = typeof index === "number" || typeof index === "string" ? index : undefined;
    let call = key !== undefined ? choice.byKey.get(key) : undefined;
    if (key === undefined) {
      call = id !== "" ? choice.calls.find((c) => c.id === id) : name === "" ? choice.current : undefined;
    } else if (call && id !== "" && call.id !== "" && id !== call.id && name !== "" && isWhole(call)) {
      call = undefined;
    }
    if (call) return call;
    this.#closeReasoning(choice, out);
    this.#closeText(choice, out);
    // Ending a call as soon as it is whole lets callers whose format has one open block stream the next one.
    if (choice.current?.started && isWhole(choice.current)) this.#endCall(choice.current, out);
    const made: OpenCall = {
      block: this.#nextBlock++,
      id,
      name,
      kind,
      started: false,
      ended: false,
      pieces: [],
    };
    choice.calls.push(made);
    choice.byKey.set(key ?? `#${choice.calls.length}`, made);
    choice.current = made;
    return made;
  }

  #startCall(choice: OpenChoice, call: OpenCall, out: Part[]): void {
    call.started = true;
    if (call.id === "") call.id = this.#makeId(choice, call);
    out.push({
      type: "call-start",
      block: call.block,
      choice: choice.index,
      id: call.id,
      name: call.name,
      kind: call.kind,
      ...(call.proof && { proof: replayProof({ fields: call.proof }, call.id) }),
    });
    if (call.pieces.length > 0) {
      out.push({ type: "call-delta", block: call.block, text: call.pieces.join("") });
    }
  }

  /** An id of its own for a call without one: unlike that of any other answer, so that histories stay clear. */
  #makeId(choice: OpenChoice, call: OpenCall): string {
    const answer = this.#answerId.replace(/[^a-zA-Z0-9]/g, "").slice(-20);
    const place = `${choice.index > 0 ? `${choice.index}_` : ""}${choice.calls.indexOf(call)}`;
    return answer === ""
      ? `call_${call.name.replace(/[^\w-]/g, "_").slice(0, 24)}_${place}`
      : `call_${answer}_${place}`;
  }

  #lateProof(choice: OpenChoice, call: OpenCall, signed: Loose, out: Part[]): void {
    const block = this.#nextBlock++;
    out.push({
      type: "reasoning-start",
      block,
      choice: choice.index,
      kind: "text",
      extra: ownExtra(undefined, false),
    });
    out.push({ type: "reasoning-end", block, proof: replayProof({ fields: signed }, call.id) });
  }

  #endCall(call: OpenCall, out: Part[]): void {
    if (call.ended || !call.started) return;
    call.ended = true;
    call.pieces = [];
    out.push({ type: "call-end", block: call.block });
  }

  #closeChoice(choice: OpenChoice, out: Part[]): void {
    this.#closeReasoning(choice, out);
    for (const call of choice.calls) {
      if (!call.started) this.#startCall(choice, call, out);
      this.#endCall(call, out);
    }
    if (!choice.cited && this.#sources) {
      for (const source of this.#sources) {
        this.#cite(choice, source, out);
      }
    }
    this.#closeText(choice, out);
    const sound = choice.sound;
    if (!sound || (sound.pieces.length === 0 && sound.transcript.length === 0)) return;
    const data = joinBase64(sound.pieces);
    const fields: Loose = {
      ...(sound.id !== undefined && { id: sound.id }),
      ...(sound.expires !== undefined && { expires_at: sound.expires }),
    };
    out.push({
      type: "media",
      block: this.#nextBlock++,
      choice: choice.index,
      mediaType: soundType(data),
      data,
      ...(sound.transcript.length > 0 && { transcript: sound.transcript.join("") }),
      extra: { format: FORMAT, fields },
    });
  }
}

function ownExtra(field: ReasoningField | undefined, details: boolean) {
  return { format: FORMAT, fields: { ...(field && { field }), details } } as const;
}

function hasError(error: unknown): boolean {
  return isObject(error) ? Object.keys(error).length > 0 : typeof error === "string" && error !== "";
}

function summaryOnly(details: readonly unknown[]): boolean {
  const texts = details.filter(isObject).filter((entry) => textKey(entry) !== undefined);
  return texts.length > 0 && texts.every((entry) => entry.type === "reasoning.summary");
}

/** The place of an entry among those with text. */
function sectionOf(details: readonly Loose[], entry: Loose): number {
  let section = 0;
  for (const other of details) {
    if (other === entry) return section;
    if (textKey(other) !== undefined) section++;
  }
  return section;
}

function isWhole(call: OpenCall): boolean {
  return call.kind === "function" && isObject(parse(call.pieces.join("")));
}

function decodeLogprobs(list: unknown): TokenLogprob[] | undefined {
  const found: TokenLogprob[] = [];
  for (const value of array(list)) {
    const entry = object(value);
    if (typeof entry.token !== "string") continue;
    found.push({
      ...tokenOf(entry),
      top: array(entry.top_logprobs).map(object).filter((top) => typeof top.token === "string").map(tokenOf),
    });
  }
  return found.length > 0 ? found : undefined;
}

function tokenOf(entry: Loose) {
  const bytes = entry.bytes;
  return {
    token: entry.token as string,
    logprob: number(entry.logprob) ?? 0,
    ...(bytes !== undefined && { bytes: bytes as number[] | null }),
  };
}

/** Frames to parts. A good end is `[DONE]`, or a finish reason where a provider leaves it out. */
export function decodeStream(): StreamDecoder {
  const reader = new ChunkReader();
  let done = false;
  return {
    push(frame, out) {
      if (done) return;
      const { data } = frame;
      if (data.startsWith("[DONE]")) {
        done = true;
        return reader.finish(out, true);
      }
      if (data === "") return;
      const chunk = parse(data);
      if (frame.event === "error") throw decodeLateFailure(chunk ?? data);
      if (!isObject(chunk)) throw brokenAnswer("a frame is no JSON object");
      if (!Array.isArray(chunk.choices) && isFailure(frame, chunk)) throw decodeLateFailure(chunk);
      reader.push(chunk, out);
    },
    end(out) {
      if (done) return;
      done = true;
      reader.finish(out, false);
    },
  };
}

/** An error without an `error` field: `{detail}` of Mistral, `{object: "error"}` of vLLM. */
function isFailure(_frame: Frame, chunk: Loose): boolean {
  if (chunk.object === "error") return true;
  return !("choices" in chunk) && !("id" in chunk) && ("detail" in chunk || "message" in chunk);
}
