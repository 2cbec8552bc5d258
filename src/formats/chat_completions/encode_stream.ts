/**
 * Encodes parts as chunks of a stream for a caller.
 *
 * Every choice starts with its role, which clients need. The last chunk before `[DONE]` contains usage,
 * whether requested or not. If requested (`stream_options.include_usage`), it is on a chunk without choices,
 * as in the API. Otherwise it is beside an empty delta, since most example code reads `choices[0]` of every
 * chunk.
 */
import type { Loose } from "../../exchange/json.ts";
import { object } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import type { Usage } from "../../exchange/usage.ts";
import { type Extra, extraOf } from "../../exchange/prompt.ts";
import { type EncodeAnswer, type FrameBytes, SHORT_TEXT, type StreamEncoder } from "../format.ts";
import { dataFrame, DONE } from "../wire/sse.ts";
import { type ChunkEnd, DeltaWriter } from "./encode_blocks.ts";
import type { Failure } from "../../exchange/failure.ts";
import { encodeFailure } from "./failure.ts";
import { encodeUsage } from "./usage.ts";

const TEXT_END = '},"logprobs":null,"finish_reason":null}]}\n\n';
const encoder = new TextEncoder();
const TEXT_END_BYTES = encoder.encode(TEXT_END);

type TextDelta = Extract<Part, { type: "text-delta" }>;

export function encodeStream(context: EncodeAnswer): StreamEncoder {
  return new ChunkEncoder(context);
}

class ChunkEncoder implements StreamEncoder {
  readonly #context: EncodeAnswer;
  readonly #writer: DeltaWriter;
  /** Choices that have started. */
  readonly #opened = new Set<number>();
  /** The beginning of every chunk, up to its choices. */
  #head: string;
  /** Per choice: a text chunk up to its text. */
  readonly #heads: (string | undefined)[] = [undefined];
  /**
   * The same as bytes, for choices that have started. Initialized with one element: most answers have one
   * choice, and V8 would reserve 17.
   */
  readonly #headBytes: (Uint8Array | undefined)[] = [undefined];
  #usage: Usage | undefined;
  #usageExtra: Extra | undefined;
  #searches: number | undefined;
  /** The output of the current call. */
  #text = "";
  readonly #emit = (choice: number, delta: Loose, end?: ChunkEnd) => this.#write(choice, delta, end);

  constructor(context: EncodeAnswer) {
    this.#context = context;
    this.#writer = new DeltaWriter(context);
    this.#head = headOf(context, undefined);
  }

  encode(parts: readonly Part[]): string {
    this.#text = "";
    for (const part of parts) {
      if (part.type === "text-delta" && !part.logprobs && this.#plainText(part)) continue;
      if (part.type === "usage") {
        this.#usage = part.usage;
        this.#usageExtra = part.extra ?? this.#usageExtra;
        this.#searches = part.searches ?? this.#searches;
      } else if (part.type === "start") this.#start(part.extra);
      else this.#writer.write(part, this.#emit);
    }
    // Not kept while the next parts are awaited.
    const encoded = this.#text;
    this.#text = "";
    return encoded;
  }

  encodeText(parts: readonly Part[], out: FrameBytes): boolean {
    for (const part of parts) {
      if (
        part.type !== "text-delta" || part.logprobs || part.text === "" || part.text.length > SHORT_TEXT
      ) {
        return false;
      }
      const choice = this.#writer.choiceOf(part.block);
      if (choice === undefined || !this.#opened.has(choice)) return false;
    }
    for (const { block, text } of parts as TextDelta[]) {
      const choice = this.#writer.plainChoice(block, text.length)!;
      out.addString(this.#headBytes[choice] ??= encoder.encode(this.#headFor(choice)), text, TEXT_END_BYTES);
    }
    return parts.length > 0;
  }

  end(): string {
    const { dlp } = this.#context;
    const usage = this.#usage;
    if (!usage && !dlp) return DONE;
    const asked = object(this.#context.prompt.verbatim.stream_options).include_usage === true;
    const last = {
      ...base(this.#context),
      choices: asked ? [] : [{ index: 0, delta: {}, logprobs: null, finish_reason: null }],
      ...(usage && { usage: encodeUsage(usage, this.#searches, this.#usageExtra) }),
      ...(dlp && { extra: { dlp: dlp.findings, findings_count: dlp.count } }),
    };
    return dataFrame(JSON.stringify(last)) + DONE;
  }

  fail(failure: Failure): string {
    return encodeBreak(failure);
  }

  /** Official fields are in every chunk, others (Azure's filter results, Perplexity's sources) in the first. */
  #start(extra: Extra | undefined): void {
    const fields = extraOf(extra, "chat_completions");
    this.#head = headOf(this.#context, fields);
    this.#open(0);
    if (fields === undefined) return;
    const { service_tier, system_fingerprint } = fields;
    this.#head = headOf(this.#context, { service_tier, system_fingerprint });
  }

  /** False: the delta is not of plain text. */
  #plainText({ block, text }: TextDelta): boolean {
    const choice = this.#writer.plainChoice(block, text.length);
    if (choice === undefined) return false;
    if (text === "") return true;
    this.#open(choice);
    this.#text += this.#headFor(choice) + JSON.stringify(text) + TEXT_END;
    return true;
  }

  #headFor(choice: number): string {
    return this.#heads[choice] ??= `${this.#head}"choices":[{"index":${choice},"delta":{"content":`;
  }

  #open(choice: number): void {
    if (this.#opened.has(choice)) return;
    this.#opened.add(choice);
    this.#write(choice, { role: "assistant", content: "", refusal: null });
  }

  #write(choice: number, delta: Loose, end?: ChunkEnd): void {
    this.#open(choice);
    const { answer, ...extra } = end?.extra ?? {};
    const { moderation, ...beside } = object(answer);
    const wire: Loose = {
      index: choice,
      delta,
      logprobs: end?.logprobs ?? null,
      finish_reason: end?.finish_reason ?? null,
      ...extra,
    };
    const fields = JSON.stringify({ choices: [wire], ...beside });
    this.#text += `${this.#head}${fields.slice(1)}\n\n`;
    // OpenAI sends it after the finish reason.
    if (moderation !== undefined) {
      this.#text += `${this.#head}"choices":[],"moderation":${JSON.stringify(moderation)}}\n\n`;
    }
  }
}

/** The output for a stream that cannot be continued. */
export function encodeBreak(failure: Failure): string {
  return dataFrame(JSON.stringify(encodeFailure(failure))) + DONE;
}

function base(context: EncodeAnswer): Loose {
  return {
    id: context.id,
    object: "chat.completion.chunk",
    created: context.created,
    model: context.model(),
  };
}

/** The beginning of a chunk, up to its choices. */
function headOf(context: EncodeAnswer, extra: Loose | undefined): string {
  return `data: ${JSON.stringify({ ...base(context), ...extra }).slice(0, -1)},`;
}
