/**
 * Converts one candidate's parts to blocks.
 *
 * Gemini has no block boundaries: a text is split into any number of parts, and a signature may be on any of
 * them or on an empty part after them. So a block is open until a part of another kind arrives, or the end; a
 * block with a signature gets no more text.
 */
import { array, isObject, type Loose, parse, string } from "../../exchange/json.ts";
import type { FinishReason, Part, TokenLogprob } from "../../exchange/part.ts";
import type { Proof } from "../../exchange/proof.ts";
import { brokenAnswer, inputText, unusableAnswer } from "../failures/decode_failure.ts";
import { isRawAudio, joinBase64 } from "../media.ts";
import { addSources, decodeCitations, type Sources } from "./citations.ts";
import { Arguments, writeJson } from "./decode_arguments.ts";
import { fromFinishReason } from "./finish.ts";
import { decodeLogprobs } from "./logprobs.ts";

/** Shared by all candidates of an answer. */
interface Shared {
  /** A new block number. */
  block(): number;
  /** The id of a call: the provider's, or a generated one. */
  callId(call: Loose): string;
}

interface OpenBlock {
  kind: "text" | "reasoning";
  block: number;
  proof?: Proof;
  /** Start in the candidate's whole text. */
  from: number;
}

export class CandidateReader {
  readonly #index: number;
  readonly #shared: Shared;
  #open: OpenBlock | null = null;
  /** A call whose arguments are streamed. */
  #call: { block: number; args: Arguments } | null = null;
  /** Raw audio is streamed in pieces and passed on as a whole. */
  #sound: { mediaType: string; pieces: string[]; signature?: string; transcript?: string } | null = null;
  /** All text, for offsets of citations. */
  #texts: string[] = [];
  #textLength = 0;
  /** For each part, how much text stands before it. */
  readonly #starts: number[] = [];
  readonly #sources: Sources = {};
  #calls = 0;
  #reason: string | number | undefined;
  #explanation: string | undefined;

  /** Something followed the finish reason, which some older models send with each chunk. */
  wentOn = false;

  constructor(index: number, shared: Shared) {
    this.#index = index;
    this.#shared = shared;
  }

  get finished(): boolean {
    return this.#reason !== undefined;
  }

  /** Number of searches that the provider ran. */
  get searches(): number {
    return this.#sources.queries?.size ?? 0;
  }

  push(candidate: Loose, out: Part[]): void {
    const before = this.finished ? out.length : -1;
    const content = isObject(candidate.content) ? candidate.content : {};
    let logprobs = isObject(candidate.logprobsResult) ? decodeLogprobs(candidate.logprobsResult) : undefined;
    for (const part of array(content.parts)) {
      this.#starts.push(this.#textLength);
      if (isObject(part) && this.#part(part, logprobs, out)) logprobs = undefined;
    }
    if (logprobs && this.#open?.kind === "text") {
      out.push({ type: "text-delta", block: this.#open.block, text: "", logprobs });
    }
    addSources(this.#sources, candidate);
    const reason = candidate.finishReason;
    if ((typeof reason === "string" && reason !== "") || typeof reason === "number") {
      this.#reason = reason;
      this.#explanation = string(candidate.finishMessage);
    }
    if (before >= 0 && out.length > before) this.wentOn = true;
  }

  /** Ends open blocks and adds the finish part. `blocked`: only a filter ended the answer. */
  end(out: Part[], blocked?: string): void {
    this.#endCall(out);
    this.#endSound(out);
    this.#cite(out);
    this.#endBlock(out);
    const reason: FinishReason | "breakdown" = this.#reason === undefined
      ? "content-filter"
      : fromFinishReason(this.#reason, this.#calls > 0);
    if (reason === "breakdown") throw unusableAnswer(String(this.#reason));
    const explanation = reason === "content-filter"
      ? this.#explanation ?? blocked ?? string(this.#reason)
      : undefined;
    out.push({ type: "finish", choice: this.#index, reason, ...(explanation && { explanation }) });
  }

  /** True if the part used the log probabilities. */
  #part(part: Loose, logprobs: TokenLogprob[] | undefined, out: Part[]): boolean {
    const signature = string(part.thoughtSignature) || undefined;
    if (typeof part.text === "string") return this.#text(part.text, part, signature, logprobs, out);
    const said = isObject(part.audioTranscription) ? string(part.audioTranscription.text) : undefined;
    if (isObject(part.functionCall)) this.#functionCall(part.functionCall, signature, out);
    else if (isObject(part.inlineData) && part.thought !== true) {
      this.#media(part.inlineData, { signature, said }, out);
    } else if (said !== undefined) {
      if (!this.#sound) return this.#text(said, part, signature, logprobs, out);
      this.#media({ mimeType: this.#sound.mediaType }, { signature, said }, out);
    } else if (PROVIDER_RUN.some((key) => isObject(part[key]))) this.#carry(part, out);
    else if (Object.keys(part).some((key) => !BESIDE.has(key))) {
      this.#endOpen(out);
      const block = this.#shared.block();
      out.push({ type: "opaque", block, choice: this.#index, format: "gemini", value: part });
    } else if (signature) this.#loneSignature(signature, out);
    return false;
  }

  #text(
    text: string,
    part: Loose,
    signature: string | undefined,
    logprobs: TokenLogprob[] | undefined,
    out: Part[],
  ): boolean {
    if (text === "") {
      if (signature) this.#loneSignature(signature, out);
      return false;
    }
    const kind = part.thought === true ? "reasoning" : "text";
    const open = this.#begin(kind, out);
    if (kind === "reasoning") out.push({ type: "reasoning-delta", block: open.block, section: 0, text });
    else {
      out.push(
        logprobs
          ? { type: "text-delta", block: open.block, text, logprobs }
          : { type: "text-delta", block: open.block, text },
      );
      this.#texts.push(text);
      this.#textLength += text.length;
    }
    if (signature) open.proof = proof(signature, kind === "text" ? "text" : "thought");
    return logprobs !== undefined && kind === "text";
  }

  /** The open block of this kind, or a new one. */
  #begin(kind: "text" | "reasoning", out: Part[]): OpenBlock {
    if (this.#open?.kind === kind && !this.#open.proof) return this.#open;
    this.#endOpen(out);
    const block = this.#shared.block();
    const choice = this.#index;
    if (kind === "text") out.push({ type: "text-start", block, choice });
    else out.push({ type: "reasoning-start", block, choice, kind: "summary" });
    return this.#open = { kind, block, from: this.#textLength };
  }

  /** A part with only a signature: it belongs to the preceding part, and is returned as a separate part. */
  #loneSignature(signature: string, out: Part[]): void {
    if (!this.#open || this.#open.proof) {
      this.#endOpen(out);
      this.#begin("reasoning", out);
    }
    this.#open!.proof = proof(signature);
  }

  /** What a tool of the provider was asked and said: the caller only carries it, and the provider gets it back as it came. */
  #carry(part: Loose, out: Part[]): void {
    this.#endOpen(out);
    const { block } = this.#begin("reasoning", out);
    this.#open = null;
    const proof: Proof = { api: "gemini", kind: "part", data: inputText(part) };
    out.push({ type: "reasoning-end", block, proof });
  }

  #functionCall(call: Loose, signature: string | undefined, out: Part[]): void {
    const name = string(call.name);
    const streamed = call.willContinue === true || Array.isArray(call.partialArgs);
    if (!name) {
      if (this.#call) {
        this.#call.args.add(call);
        if (call.willContinue !== true) this.#endCall(out);
        // The call was passed on without it.
        if (signature) this.#loneSignature(signature, out);
      } else if (streamed || isObject(call.args)) throw brokenAnswer("a function call has no name");
      return;
    }
    this.#endCall(out);
    this.#endOpen(out);
    this.#calls++;
    const block = this.#shared.block();
    const id = this.#shared.callId(call);
    out.push({
      type: "call-start",
      block,
      choice: this.#index,
      id,
      name,
      kind: "function",
      ...(signature && { proof: { ...proof(signature), call: id } }),
    });
    if (streamed) {
      this.#call = { block, args: new Arguments() };
      this.#call.args.add(call);
      if (call.willContinue !== true) this.#endCall(out);
    } else {
      const { args } = call;
      // Some servers write them as text.
      const text = typeof args === "string" && isObject(parse(args)) ? args : writeJson(args ?? {});
      out.push({ type: "call-delta", block, text }, { type: "call-end", block });
    }
  }

  #media(data: Loose, { signature, said }: { signature?: string; said?: string }, out: Part[]): void {
    const mediaType = string(data.mimeType) ?? "application/octet-stream";
    const base64 = string(data.data) ?? "";
    if (this.#sound?.mediaType === mediaType) {
      const sound = this.#sound;
      sound.pieces.push(base64);
      sound.signature ??= signature;
      if (said !== undefined) sound.transcript = (sound.transcript ?? "") + said;
      return;
    }
    if (base64 === "") {
      if (signature) this.#loneSignature(signature, out);
      return;
    }
    this.#endOpen(out);
    this.#sound = { mediaType, pieces: [base64], signature, transcript: said };
    if (!isRawAudio(mediaType)) this.#endSound(out);
  }

  /** Ends all blocks except a streamed call, which other parts may interrupt. */
  #endOpen(out: Part[]): void {
    this.#endSound(out);
    this.#endBlock(out);
  }

  #endCall(out: Part[]): void {
    if (!this.#call) return;
    const { block, args } = this.#call;
    this.#call = null;
    out.push({ type: "call-delta", block, text: args.text() }, { type: "call-end", block });
  }

  #endSound(out: Part[]): void {
    if (!this.#sound) return;
    const { mediaType, pieces, signature, transcript } = this.#sound;
    this.#sound = null;
    out.push({
      type: "media",
      block: this.#shared.block(),
      choice: this.#index,
      mediaType,
      data: joinBase64(pieces),
      ...(transcript !== undefined && { transcript }),
      ...(signature && { proof: proof(signature, "media") }),
    });
  }

  #endBlock(out: Part[]): void {
    if (!this.#open) return;
    const { kind, block, proof } = this.#open;
    this.#open = null;
    const type = kind === "text" ? "text-end" : "reasoning-end";
    out.push(proof ? { type, block, proof } : { type, block });
  }

  /** Citations follow the text. One into an ended block has a source but no position. */
  #cite(out: Part[]): void {
    if (Object.keys(this.#sources).length === 0) return;
    const citations = decodeCitations(this.#sources, this.#texts.join(""), this.#starts);
    if (citations.length === 0) return;
    if (this.#open?.kind !== "text") {
      this.#endBlock(out);
      this.#begin("text", out);
    }
    const { block, from } = this.#open!;
    for (const citation of citations) {
      const { start, end, ...source } = citation;
      const within = start !== undefined && end !== undefined && end > from;
      out.push({
        type: "citation",
        block,
        citation: within ? { ...source, start: Math.max(0, start - from), end: end - from } : source,
      });
    }
  }
}

/** Calls and results of tools that the provider runs itself: code execution, searches. */
const PROVIDER_RUN = ["executableCode", "codeExecutionResult", "toolCall", "toolResponse"] as const;

/** Fields of a part that are not its content. */
const BESIDE = new Set([
  "thought",
  "thoughtSignature",
  "partMetadata",
  "videoMetadata",
  "speechMetadata",
  "mediaProcessing",
  "mediaResolution",
]);

function proof(data: string, on?: Proof["on"]): Proof {
  return on ? { api: "gemini", kind: "thought", data, on } : { api: "gemini", kind: "thought", data };
}
