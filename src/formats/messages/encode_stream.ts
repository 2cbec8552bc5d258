/**
 * Encodes parts as events of a messages stream, for a caller.
 *
 * The format has one open block at a time. Parts of the first open block are sent at once; those of others wait until it
 * ends, and follow in order of their starts. A block without content is never opened.
 *
 * Claude Code makes a message of each block when it stops, and the last one is the answer of `claude -p` and of its agents:
 * so a proof after a text starts and stops before the text stops. Other clients, such as the Go SDK, require sequential
 * blocks.
 */
import type { Failure } from "../../exchange/failure.ts";
import { argumentsObject, type Loose } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import type { Extra } from "../../exchange/prompt.ts";
import type { Proof } from "../../exchange/proof.ts";
import type { Usage } from "../../exchange/usage.ts";
import { type EncodeAnswer, type FrameBytes, SHORT_TEXT, type StreamEncoder } from "../format.ts";
import { eventFrame } from "../wire/sse.ts";
import {
  callBlock,
  carried,
  comesBackAnywhere,
  dlpDetails,
  freeformInput,
  liveBlock,
  messageId,
  proofBlock,
  searchBlock,
  searchResultBlock,
  takesLastBlock,
  textBlock,
  thinkingBlock,
  wholeBlock,
  withoutLate,
} from "./encode_blocks.ts";
import { encodeCitation } from "./citations.ts";
import { encodeBreak } from "./failure.ts";
import { encodeFinish, type Ending } from "./finish.ts";
import { encodeMedia } from "./media.ts";
import {
  type Blocked,
  isEnd,
  isFreeform,
  NO_OBJECT,
  type Pending,
  pendingOf,
  UNKNOWN,
} from "./pending_block.ts";
import { encodeUsage, noUsageYet, saidOfRequest } from "./usage.ts";

export const KEEP_ALIVE = eventFrame("ping", '{"type": "ping"}');

export function encodeStream(context: EncodeAnswer): StreamEncoder {
  const writer = new Writer(context);
  return {
    encode(parts) {
      for (const part of parts) writer.add(part);
      return writer.take();
    },
    encodeText: (parts, out) => writer.addText(parts, out),
    end() {
      writer.finish();
      return writer.take();
    },
    fail(failure: Failure) {
      return writer.take() + encodeBreak(failure, context);
    },
  };
}

const encoder = new TextEncoder();
/** The text after that of a delta. */
const DELTA_END = "}}\n\n";
const DELTA_END_BYTES = encoder.encode(DELTA_END);

class Writer {
  readonly #context: EncodeAnswer;
  #out = "";
  #started = false;
  /** Index of the open block, or of the next one. */
  #index = 0;
  /** The text before that of a delta of the open block. */
  #prefix = "";
  /** The same as bytes; null: not needed yet. */
  #prefixBytes: Uint8Array | null = null;
  #current: Pending | undefined;
  /** Blocks in order of their starts; those before `#next` are written or being written. */
  #queue: Pending[] = [];
  #next = 0;
  readonly #pending = new Map<number, Pending>();
  #usage: Usage | null = null;
  #searches: number | undefined;
  #service: Extra | undefined;
  /** Ids of current searches, by block. */
  readonly #searching = new Map<number, string>();
  /** Announced blocks whose complete part has not come. */
  readonly #live = new Set<number>();
  #ending: Ending = { reason: "stop" };
  readonly #textLast: boolean;
  /** Index of a text that has ended, whose stop event waits for a proof after it, at most until the end of the batch. */
  #unstopped: number | undefined;

  constructor(context: EncodeAnswer) {
    this.#context = context;
    this.#textLast = takesLastBlock(context.prompt);
  }

  take(): string {
    this.#stop();
    const out = this.#out;
    this.#out = "";
    return out;
  }

  /** As {@link StreamEncoder.encodeText}. */
  addText(parts: readonly Part[], out: FrameBytes): boolean {
    const open = this.#current;
    if (open?.opened !== true || open.start.type !== "text-start") return false;
    for (const part of parts) {
      if (part.type !== "text-delta" || part.block !== open.start.block) return false;
      if (part.text === "" || part.text.length > SHORT_TEXT) return false;
    }
    const prefix = this.#prefixBytes ??= encoder.encode(this.#prefix);
    for (const part of parts) if ("text" in part) out.addString(prefix, part.text, DELTA_END_BYTES);
    return parts.length > 0;
  }

  add(part: Part): void {
    if (part.type === "text-delta" && this.#current?.start.block === part.block) {
      return this.#write(this.#current, part);
    }
    switch (part.type) {
      case "start":
        this.#service = part.extra;
        return this.#start();
      case "usage":
        this.#usage = part.usage;
        this.#service = part.extra ?? this.#service;
        if (part.searches !== undefined) this.#searches = part.searches;
        return;
      case "finish":
        if (part.choice === 0) this.#ending = part;
        return;
      case "sound-delta":
        return;
    }
    // Query and result are separate blocks, so that parallel searches are shown as they start and finish.
    if (part.type === "search-end") {
      const id = this.#searching.get(part.block);
      if (id === undefined) return;
      this.#searching.delete(part.block);
      const value = searchResultBlock(id, part.hits, part.failed === true, part.extra);
      part = { type: "opaque", block: part.block, choice: 0, format: "messages", value };
    }
    if ("choice" in part) {
      // The format has one choice.
      if (part.choice !== 0) return;
      if (part.type === "search-start") this.#searching.set(part.block, part.id);
      // The complete part of an announced block only ends it.
      if (!this.#live.delete(part.block)) {
        if (part.type === "live-start" && part.format !== "messages") return;
        if (part.type === "live-start") this.#live.add(part.block);
        const pending = pendingOf(part);
        this.#pending.set(part.block, pending);
        this.#queue.push(pending);
      }
    }
    const pending = this.#pending.get(part.block);
    if (!pending) return;
    if (pending === this.#current) this.#write(pending, part);
    else pending.waiting.push(part);
    if (isEnd(part)) {
      pending.ended = true;
      this.#pending.delete(part.block);
    }
    this.#advance();
  }

  /** Writes the next blocks, as far as the preceding ones have ended. */
  #advance(): void {
    while (!this.#current || this.#current.ended) {
      this.#current = this.#queue[this.#next];
      if (!this.#current) {
        this.#queue = [];
        this.#next = 0;
        return;
      }
      this.#next++;
      this.#start();
      for (const part of this.#current.waiting) this.#write(this.#current, part);
      this.#current.waiting = [];
    }
  }

  finish(): void {
    this.#start();
    this.#stop();
    const { delta, event } = encodeFinish(this.#ending);
    this.#event("message_delta", {
      delta,
      usage: encodeUsage(this.#usage, this.#searches, this.#service),
      ...event,
      ...dlpDetails(this.#context.dlp),
    });
    this.#event("message_stop", {});
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#event("message_start", {
      message: {
        id: messageId(this.#context.id),
        type: "message",
        role: "assistant",
        model: this.#context.model(),
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        container: null,
        ...saidOfRequest(this.#service),
        usage: noUsageYet(this.#service),
        ...dlpDetails(this.#context.dlp),
      },
    });
  }

  #write(pending: Pending, part: Blocked): void {
    const { seal } = this.#context;
    switch (part.type) {
      case "text-delta":
        if (part.text === "") return;
        if (!pending.opened) this.#openText(pending);
        this.#out += this.#prefix + JSON.stringify(part.text) + DELTA_END;
        return;
      case "citation": {
        const citation = encodeCitation(part.citation);
        if (citation === undefined) return;
        if (!pending.opened) this.#openText(pending);
        return this.#delta({ type: "citations_delta", citation });
      }
      case "text-end":
        if (pending.opened && this.#textLast) this.#unstopped = this.#index++;
        else if (pending.opened) this.#close();
        if (part.proof) this.#proof(part.proof);
        return;
      case "reasoning-delta": {
        if (part.text === "" && part.estimate === undefined) return;
        const paragraph = pending.opened && part.section !== pending.section ? "\n\n" : "";
        if (!pending.opened) {
          const extra = pending.start.type === "reasoning-start" ? pending.start.extra : undefined;
          this.#open(pending, thinkingBlock("", "", extra), "thinking_delta", "thinking");
        }
        pending.section = part.section;
        if (part.estimate !== undefined) {
          const thinking = paragraph + part.text;
          return this.#delta({ type: "thinking_delta", thinking, estimated_tokens: part.estimate });
        }
        this.#out += this.#prefix + JSON.stringify(paragraph + part.text) + DELTA_END;
        return;
      }
      case "reasoning-end": {
        if (pending.opened) {
          if (part.proof) this.#delta({ type: "signature_delta", signature: carried(part.proof, seal) });
          return this.#close();
        }
        const extra = pending.start.type === "reasoning-start" ? pending.start.extra : undefined;
        if (part.proof) this.#proof(part.proof, extra);
        return;
      }
      case "call-start":
        if (part.proof) this.#proof(part.proof);
        return this.#open(pending, callBlock(part, {}), "input_json_delta", "partial_json");
      case "call-delta":
        if (part.text === "") return;
        if (pending.section === 0) this.#out += this.#prefix + JSON.stringify(part.text) + DELTA_END;
        else this.#beginInput(pending, part.text);
        return;
      case "call-end":
        if (pending.section !== 0) {
          this.#input((isFreeform(pending.start) ? freeformInput : argumentsObject)(pending.input));
        }
        return this.#close();
      case "media":
        if (part.transcript) this.#wholeText(part.transcript);
        this.#wholeText(encodeMedia(part.mediaType, part.data));
        if (part.proof) this.#proof(part.proof);
        return;
      case "live-start":
        return this.#open(pending, liveBlock(part.value), "input_json_delta", "partial_json");
      case "live-delta":
        this.#out += this.#prefix + JSON.stringify(part.text) + DELTA_END;
        return;
      case "live-event":
        return this.#close();
      case "search-start":
        if (pending.opened) return this.#close();
        this.#open(pending, searchBlock(part, {}), "input_json_delta", "partial_json");
        this.#input({ query: part.query });
        return this.#close();
      case "opaque":
        if (pending.opened) return this.#close();
        if (part.format === "messages") this.#opaque(wholeBlock(part.value), part.late ?? []);
        return;
    }
  }

  /** Clients parse the concatenated pieces and require an object: other text is sent at the end, wrapped in an object. */
  #beginInput(pending: Pending, text: string): void {
    pending.input += text;
    if (pending.section !== UNKNOWN) return;
    const first = /\S/.exec(text)?.[0];
    if (first === "{" && !isFreeform(pending.start)) {
      this.#out += this.#prefix + JSON.stringify(pending.input) + DELTA_END;
      pending.section = 0;
    } else if (first !== undefined) pending.section = NO_OBJECT;
  }

  #openText(pending: Pending): void {
    const extra = pending.start.type === "text-start" ? pending.start.extra : undefined;
    this.#open(pending, textBlock("", extra), "text_delta", "text");
  }

  #open(pending: Pending, block: Loose, delta: string, field: string): void {
    pending.opened = true;
    this.#begin(block);
    this.#prefix = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},` +
      `"delta":{"type":"${delta}","${field}":`;
    this.#prefixBytes = null;
  }

  #delta(delta: Loose): void {
    this.#event("content_block_delta", { index: this.#index, delta });
  }

  #input(input: Loose): void {
    this.#out += this.#prefix + JSON.stringify(JSON.stringify(input)) + DELTA_END;
  }

  #begin(block: Loose, beforeStop = false): void {
    if (!beforeStop) this.#stop();
    this.#event("content_block_start", { index: this.#index, content_block: block });
  }

  #close(): void {
    this.#event("content_block_stop", { index: this.#index });
    this.#index++;
  }

  #stop(): void {
    if (this.#unstopped === undefined) return;
    this.#event("content_block_stop", { index: this.#unstopped });
    this.#unstopped = undefined;
  }

  #whole(block: Loose, beforeStop = false): void {
    this.#begin(block, beforeStop);
    this.#close();
  }

  /** Clients read fields that their API sends after a block's start from deltas only. */
  #opaque(block: Loose, deltaFields: readonly string[]): void {
    // Screening may have changed a field's name: then it is in the start.
    const late = deltaFields.filter((name) => Object.hasOwn(block, name));
    if (late.length === 0) return this.#whole(block);
    const { start, brought } = withoutLate(block, late);
    this.#begin(start);
    if (late.includes("input")) {
      const { input } = block;
      const partial_json = typeof input === "string" ? input : JSON.stringify(input);
      this.#delta({ type: "input_json_delta", partial_json });
    }
    if (Object.keys(brought).length > 0) this.#delta({ type: "compaction_delta", ...brought });
    this.#close();
  }

  /** Clients take a signature from its delta; some ignore one in the start. */
  #proof(proof: Proof, extra?: Extra): void {
    const block = proofBlock(proof, this.#context.seal, extra);
    if (block.type !== "thinking") return this.#whole(block, comesBackAnywhere(proof));
    this.#begin({ ...block, signature: "" });
    this.#delta({ type: "signature_delta", signature: block.signature });
    this.#close();
  }

  /** Clients build text from deltas only. */
  #wholeText(text: string): void {
    this.#begin(textBlock(""));
    this.#delta({ type: "text_delta", text });
    this.#close();
  }

  #event(type: string, fields: Loose): void {
    this.#out += eventFrame(type, JSON.stringify({ type, ...fields }));
  }
}
