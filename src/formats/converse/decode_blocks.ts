/**
 * Decodes blocks of a provider's message, from events or a complete answer.
 *
 * Events belong to blocks by `contentBlockIndex`. Only the start of a call is announced; any other block
 * starts with its first delta. `messageStop` contains the reason for the end, `metadata` after it the usage.
 */
import { array, isObject, type Loose, object, string } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import type { Proof } from "../../exchange/proof.ts";
import { UnusedNames } from "../../exchange/unused_names.ts";
import { misreports } from "../../exchange/usage.ts";
import { calledName } from "../called_name.ts";
import { argumentText, brokenAnswer, clean } from "../failures/decode_failure.ts";
import { joinBase64 } from "../media.ts";
import { decodeCitation } from "./citations.ts";
import { decodeFinish } from "./finish.ts";
import { mediaTypeOf } from "./media_types.ts";
import { decodeUsage, TOTALS } from "./usage.ts";

type Open =
  | { kind: "text"; block: number }
  | { kind: "reasoning"; block: number; signature: string; redacted: string[] }
  | { kind: "call"; block: number }
  /** Complete only at its end. */
  | { kind: "media"; mediaType: string; pieces: string[] }
  /** Output of a provider's tool that was not requested. */
  | { kind: "ignored" };

export class MessageReader {
  stopped = false;
  #started = false;
  #finished = false;
  #blocks = 0;
  #calls = false;
  readonly #ids = new UnusedNames();
  /** Error message of an image or audio that could not be generated. */
  #failed: string | undefined;
  #stop: unknown;
  #more: unknown;
  #usage: unknown;
  /** The service tier of the call, which may differ from the requested one. */
  #service: string | undefined;
  readonly #open = new Map<unknown, Open>();

  /** @param gross the provider's input count includes the cache */
  constructor(private readonly gross = false) {}

  start(out: Part[]): void {
    if (this.#started) {
      if (this.#blocks > 0) throw brokenAnswer("a second answer begins inside the first");
      return;
    }
    this.#started = true;
    out.push({ type: "start" });
  }

  /** `contentBlockStart`, or a complete block other than text and reasoning. */
  openBlock(index: unknown, start: Loose, out: Part[]): void {
    if (!this.#started) this.start(out);
    this.closeBlock(index, out);
    if (isObject(start.toolUse)) this.#open.set(index, this.#call(start.toolUse, out));
    else if (start.toolResult !== undefined) this.#open.set(index, { kind: "ignored" });
    for (const type of MEDIA) {
      const media = start[type];
      if (!isObject(media)) continue;
      const mediaType = mediaTypeOf(type, string(media.format) || USUAL[type]);
      this.#open.set(index, { kind: "media", mediaType, pieces: [] });
    }
  }

  #call(toolUse: Loose, out: Part[]): Open {
    if (toolUse.type === "server_tool_use") return { kind: "ignored" };
    const name = calledName(string(toolUse.name) ?? "");
    if (!name) throw brokenAnswer("a tool call has no name");
    const block = this.#blocks++;
    this.#calls = true;
    const id = this.#ids.take(string(toolUse.toolUseId) || `tooluse_${block}`);
    out.push({ type: "call-start", block, choice: 0, id, name, kind: "function" });
    const text = argumentText(toolUse.input) ?? "";
    if (text !== "" && text !== "{}") out.push({ type: "call-delta", block, text });
    return { kind: "call", block };
  }

  /** `delta` of a `contentBlockDelta`. */
  delta(index: unknown, delta: Loose, out: Part[]): void {
    if (!this.#started) this.start(out);
    const { text, reasoningContent, toolUse, citation } = delta;
    if (typeof text === "string") {
      const open = this.#opened(index, "text", out);
      if (open?.kind === "text" && text !== "") out.push({ type: "text-delta", block: open.block, text });
    } else if (isObject(reasoningContent)) this.#reasoning(index, reasoningContent, out);
    else if (isObject(toolUse)) {
      const open = this.#open.get(index);
      if (!open) throw brokenAnswer("a piece of a tool call came before its name");
      const text = argumentText(toolUse.input) ?? "";
      if (open.kind === "call" && text !== "") out.push({ type: "call-delta", block: open.block, text });
    } else if (isObject(citation)) {
      const open = this.#opened(index, "text", out);
      const found = decodeCitation(citation);
      if (open?.kind === "text" && found) out.push({ type: "citation", block: open.block, citation: found });
    } else {
      for (const type of MEDIA) if (isObject(delta[type])) this.#media(index, delta[type]);
    }
  }

  #media(index: unknown, { source, error }: Loose): void {
    const open = this.#open.get(index);
    const bytes = string(object(source).bytes);
    if (open?.kind === "media" && bytes) open.pieces.push(bytes);
    if (isObject(error)) {
      this.#failed ??= clean(string(error.message) ?? "") || "The media could not be made.";
    }
  }

  #reasoning(index: unknown, { text, signature, redactedContent }: Loose, out: Part[]): void {
    const open = this.#opened(index, "reasoning", out);
    if (open?.kind !== "reasoning") return;
    if (typeof text === "string" && text !== "") {
      out.push({ type: "reasoning-delta", block: open.block, section: 0, text });
    }
    if (typeof signature === "string") open.signature += signature;
    if (typeof redactedContent === "string" && redactedContent !== "") open.redacted.push(redactedContent);
  }

  /** The block with this index; started if there is none, or if the kind of text changes. */
  #opened(index: unknown, kind: "text" | "reasoning", out: Part[]): Open | undefined {
    const open = this.#open.get(index);
    if (open && (open.kind === kind || (open.kind !== "text" && open.kind !== "reasoning"))) return open;
    this.closeBlock(index, out);
    const block = this.#blocks++;
    let made: Open;
    if (kind === "text") {
      out.push({ type: "text-start", block, choice: 0 });
      made = { kind, block };
    } else {
      out.push({ type: "reasoning-start", block, choice: 0, kind: "text" });
      made = { kind, block, signature: "", redacted: [] };
    }
    this.#open.set(index, made);
    return made;
  }

  closeBlock(index: unknown, out: Part[]): void {
    const open = this.#open.get(index);
    if (!open) return;
    this.#open.delete(index);
    switch (open.kind) {
      case "text":
        out.push({ type: "text-end", block: open.block });
        return;
      case "reasoning": {
        const proof = proofOf(open.signature, open.redacted);
        out.push({ type: "reasoning-end", block: open.block, ...(proof && { proof }) });
        return;
      }
      case "call":
        out.push({ type: "call-end", block: open.block });
        return;
      case "media": {
        const { mediaType, pieces } = open;
        if (pieces.length === 0) return;
        out.push({ type: "media", block: this.#blocks++, choice: 0, mediaType, data: joinBase64(pieces) });
      }
    }
  }

  /** `messageStop`, or the final fields of a complete answer. */
  stop({ stopReason, additionalModelResponseFields }: Loose, out: Part[]): void {
    if (!this.#started) this.start(out);
    this.stopped = true;
    this.#stop = stopReason;
    this.#more = additionalModelResponseFields;
    for (const index of [...this.#open.keys()]) this.closeBlock(index, out);
  }

  /** `metadata`. */
  count({ usage, serviceTier }: Loose, out: Part[]): void {
    this.#usage = usage ?? this.#usage;
    this.#service = string(object(serviceTier).type);
    if (this.stopped) this.finish(out);
  }

  /** Called at the end. */
  finish(out: Part[]): void {
    if (this.#finished) return;
    this.#finished = true;
    const usage = decodeUsage(this.#usage, this.gross);
    if (usage) {
      const estimated = misreports(object(this.#usage), TOTALS);
      const service = this.#service;
      out.push({
        type: "usage",
        usage,
        ...(estimated && { estimated }),
        ...(service !== undefined && { service }),
      });
    }
    out.push(decodeFinish(this.#stop, { more: this.#more, hasCalls: this.#calls, failed: this.#failed }));
  }

  get finished(): boolean {
    return this.#finished;
  }

  /** A block of a complete answer. */
  whole(index: number, value: Loose, out: Part[]): void {
    const { text, toolUse, reasoningContent, citationsContent } = value;
    if (isObject(toolUse)) this.openBlock(index, { toolUse }, out);
    else if (isObject(reasoningContent)) {
      const { reasoningText, redactedContent } = reasoningContent;
      this.delta(index, { reasoningContent: { ...object(reasoningText), redactedContent } }, out);
    } else if (isObject(citationsContent)) {
      const { content } = citationsContent;
      this.delta(index, { text: typeof content === "string" ? content : text }, out);
      for (const piece of array(content)) this.delta(index, { text: object(piece).text }, out);
      for (const citation of array(citationsContent.citations)) this.delta(index, { citation }, out);
    } else if (typeof text === "string") this.delta(index, { text }, out);
    else {
      this.openBlock(index, value, out);
      this.delta(index, value, out);
    }
    this.closeBlock(index, out);
  }
}

/** Generated media. Streams contain images only. */
const MEDIA = ["image", "audio", "video"] as const;

/** Default formats. */
const USUAL = { image: "png", audio: "wav", video: "mp4" } as const;

function proofOf(signature: string, redacted: readonly string[]): Proof | undefined {
  if (signature !== "") return { api: "converse", kind: "signature", data: signature };
  return redacted.length > 0 ? { api: "converse", kind: "redacted", data: joinBase64(redacted) } : undefined;
}
