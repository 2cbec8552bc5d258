/**
 * Passes an answer from its provider to its caller: the batch that was read last, without the gateway's secrets. Large batches are split
 * into portions that take a few milliseconds to encode, since a provider may send megabytes of text, or tens of thousands of parts, at
 * once.
 */
import type { Failure } from "../../exchange/failure.ts";
import type { Part } from "../../exchange/part.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import { newCallIds } from "../../exchange/call_ids.ts";
import type { Opened } from "../../providers/mod.ts";
import type { Reply } from "../../outgoing/reply.ts";
import { LARGE } from "../../timing/slices.ts";
import type { AnswerReader } from "./answer_reader.ts";
import { type Begun, isPreamble, isShort, read, take, TURN_BYTES } from "./begin_answer.ts";
import type { Call, ProviderUse } from "../call.ts";
import type { Change } from "./encode_call.ts";
import type { Kit } from "../kit.ts";
import { noteUsage } from "./note_usage.ts";
import { SplitSecrets } from "./split_secrets.ts";

export const NO_PARTS: readonly Part[] = [];
const NO_BYTES = new Uint8Array();

/**
 * How long the end of the bytes is waited for after the end marker of a stream, in milliseconds. Usage may follow the marker, and a
 * connection whose bytes have ended is used again; but some servers leave it open, and the caller waits for the end of the answer.
 */
const LINGER_MS = 1000;
/** The same for answers without an end marker that seem to be complete. Sources, usage and signatures may follow. */
const SETTLE_MS = 5000;

/** A call with the request to its provider. */
export interface Asked {
  call: Call;
  prompt: Prompt;
  kit: Kit;
  /** Called once the answer has content. */
  onContent?(): void;
}

/** An answer that has begun. */
export interface Answering {
  opened: Opened;
  begun: Begun;
  use: ProviderUse;
  /** Null: nothing of the request was changed for the provider. */
  restore: Change | null;
}

/** The state of an answer: the parts of the last read, and whether they were passed on. */
export class Delivery {
  /** Undefined: no failure. */
  failure: Failure | undefined;
  /** The provider's answer has ended. */
  ended: boolean;
  /** The batch has all parts of the last bytes. */
  isRead = false;
  readonly #answering: Answering;
  readonly #asked: Asked;
  /** Null: the whole answer arrived at once. */
  readonly #reader: AnswerReader | null;
  readonly #restore: Change | null;
  /** Null: no call of the answer can have the id of an earlier one. */
  readonly #newCallIds: Change | null;
  readonly #secrets: SplitSecrets | null;
  /** No batch before the current one had content. */
  #onlyPreamble = true;
  /** The caller got the start of the answer from another route. */
  #started: boolean;
  #batch: Part[];
  /** The batch without secrets; null: not computed yet. */
  #withoutSecrets: readonly Part[] | null = null;
  /** Since when nothing but the end of the bytes is expected and no part has come, on the ticker's clock; null: not yet. */
  #quietSince: number | null = null;
  /** A read waits for a shorter time than the idle timeout. */
  #isBounded = false;
  /** Bytes processed since other calls had their turn. */
  #unpaused = 0;

  /** @param started the caller got the start of the answer from another route */
  constructor(answering: Answering, asked: Asked, started: boolean) {
    const { opened, begun, restore } = answering;
    this.#started = started;
    const { secrets } = opened.withheld;
    this.#answering = answering;
    this.#asked = asked;
    this.#reader = begun.reader;
    this.#restore = restore;
    this.#newCallIds = newCallIds(asked.prompt);
    this.#secrets = secrets.length === 0 ? null : new SplitSecrets(secrets);
    this.#batch = begun.batch;
    this.failure = begun.failure;
    this.ended = begun.reader === null;
    // For as long as a stream goes on: it may be large.
    begun.batch = [];
    opened.first = NO_BYTES;
  }

  /** Nothing more is to be read. */
  get over(): boolean {
    return this.failure !== undefined || this.ended || this.#asked.call.cut;
  }

  /** The answer has had no content so far. */
  get isPreamble(): boolean {
    return this.#onlyPreamble && this.#batch.every(isPreamble);
  }

  /** The batch as the caller gets it. */
  given(): readonly Part[] {
    if (this.#batch.length === 0) return NO_PARTS;
    this.#withoutSecrets ??= this.#processBatch();
    return this.#restored(this.#withoutSecrets);
  }

  /** The batch is passed on in portions, between which other calls get their turn. */
  get isLarge(): boolean {
    return isLargeBatch(this.#batch);
  }

  /** A large batch as the caller gets it; each portion is processed when it is requested. */
  *portions(): Generator<readonly Part[]> {
    this.#note();
    for (const portion of portionsOf(this.#batch)) {
      const given = this.#restored(this.#secrets === null ? portion : this.#secrets.take(portion));
      if (given.length > 0) yield given;
    }
  }

  /** At the end: the text that was held back because it might have been the beginning of a secret. */
  rest(): readonly Part[] {
    return this.#secrets === null ? NO_PARTS : this.#secrets.end();
  }

  /** On to the next bytes. */
  next(): void {
    if (this.#onlyPreamble && !this.#batch.every(isPreamble)) {
      this.#onlyPreamble = false;
      this.#asked.onContent?.();
    }
    if (this.#batch.length > 0) this.#quietSince = null;
    this.#batch = [];
    this.#withoutSecrets = null;
    this.isRead = false;
  }

  /** The next bytes of the answer; null: its end, or the end marker was read long enough ago. */
  nextBytes(
    pass: (bytes: Uint8Array) => Promise<void> | null,
  ): Uint8Array | null | Promise<Uint8Array | null> {
    const { reply } = this.#answering.opened;
    const reader = this.#reader!;
    const wait = reader.marked ? LINGER_MS : reader.complete ? SETTLE_MS : Infinity;
    if (wait < Infinity ? this.#isQuiet(reply, wait) : this.#goesOn(reply)) return null;
    return reply.read(pass);
  }

  /** False: the answer has not ended, or goes on behind what seemed to be its end. */
  #goesOn(reply: Reply): false {
    if (this.#isBounded) reply.boundIdle?.(Infinity);
    return this.#isBounded = false;
  }

  #isQuiet(reply: Reply, wait: number): boolean {
    const now = this.#asked.kit.ticker.recently();
    if (this.#quietSince === null) {
      this.#quietSince = now;
      this.#isBounded = true;
      reply.boundIdle?.(wait);
    }
    return now - this.#quietSince > wait;
  }

  /** Fast path: passes the parts of these bytes directly to a waiting caller. Null: the bytes must be processed in the usual way. */
  pass(bytes: Uint8Array): Promise<void> | null {
    const { deltaSink, cut } = this.#asked.call;
    const reader = this.#reader!;
    if (deltaSink === null || cut || this.#isBounded) return null;
    if (this.#restore !== null || !isShort(reader, bytes)) return null;
    this.take(bytes);
    this.failure = reader.push(bytes, this.#batch);
    this.isRead = true;
    this.#unpaused += bytes.length;
    if (this.failure !== undefined || this.#unpaused >= TURN_BYTES || !this.#batch.every(isText)) return null;
    this.#withoutSecrets = this.#processBatch();
    const passed = this.#withoutSecrets.length === 0 ? null : deltaSink(this.#withoutSecrets);
    if (passed !== null) this.next();
    return passed;
  }

  /** Notes the usage that was reported so far, if the call was ended before its answer. */
  noteSoFar(): void {
    const { call, prompt, kit } = this.#asked;
    const { use } = this.#answering;
    // With several calls the usage of those that have ended is known, and is that of the record.
    if (!call.cut || call.uses.length !== 1 || use.usage !== null) return;
    const counted = this.#reader?.counted ?? null;
    if (counted !== null) noteUsage([counted], prompt, { call, use }, kit);
  }

  /** The connection was lost. True: the answer was not complete. */
  lost(): boolean {
    this.ended = true;
    return this.#reader!.end(this.#batch) !== undefined;
  }

  /** Resolves when there is memory for the bytes; null: at once. */
  take({ length }: Uint8Array): Promise<void> | null {
    return take(this.#reader!, length, this.#answering.begun.buffer, this.#asked.call);
  }

  /** Decodes bytes (null: the end) to parts. Returns the failure that they contain, if any. */
  read(bytes: Uint8Array | null): Promise<Failure | undefined> | Failure | undefined {
    const { kit, call } = this.#asked;
    this.#unpaused += bytes?.length ?? 0;
    return read(this.#reader!, bytes, this.#batch, call.arrival.key.id, kit);
  }

  /** Whether other calls should get their turn now. */
  isDue(): boolean {
    if (this.#unpaused < TURN_BYTES) return false;
    this.#unpaused = 0;
    return true;
  }

  #restored(parts: readonly Part[]): readonly Part[] {
    if (parts.length === 0) return parts;
    const restored = this.#restore === null ? parts : this.#restore(parts);
    return this.#newCallIds === null ? restored : this.#newCallIds(restored);
  }

  #processBatch(): readonly Part[] {
    this.#note();
    return this.#secrets === null ? this.#batch : this.#secrets.take(this.#batch);
  }

  #note(): void {
    const { call, prompt, kit } = this.#asked;
    const { opened: { followed }, use } = this.#answering;
    noteUsage(this.#batch, prompt, { call, use }, kit);
    followed?.take(this.#batch);
    if (this.#started) this.#batch = this.#batch.filter((part) => part.type !== "start");
  }
}

const CHARS = 1 << 18;
const PARTS = 2000;

type Delta = Extract<Part, { type: "text-delta" | "reasoning-delta" | "call-delta" }>;

function isLarge(part: Part): part is Delta {
  return (part.type === "text-delta" || part.type === "reasoning-delta" || part.type === "call-delta") &&
    part.text.length > LARGE;
}

/** Whether a batch is processed in portions. */
export function isLargeBatch(batch: readonly Part[]): boolean {
  return batch.length > PARTS || batch.some(isLarge);
}

/** The same parts, with large deltas split into several. */
export function* portionsOf(batch: readonly Part[]): Generator<readonly Part[]> {
  let portion: Part[] = [];
  for (const part of batch) {
    if (!isLarge(part)) {
      portion.push(part);
      if (portion.length < PARTS) continue;
      yield portion;
      portion = [];
      continue;
    }
    if (portion.length > 0) yield portion;
    portion = [];
    for (const piece of piecesOf(part)) yield [piece];
  }
  if (portion.length > 0) yield portion;
}

function* piecesOf(part: Delta): Generator<Delta> {
  const { text } = part;
  let piece = part;
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + CHARS);
    // Not between the halves of a surrogate pair.
    if ((text.charCodeAt(end) & 0xfc00) === 0xdc00) end--;
    yield { ...piece, text: text.slice(at, end) };
    at = end;
    if (!("logprobs" in piece)) continue;
    piece = { ...piece };
    delete piece.logprobs;
  }
}

function isText({ type }: Part): boolean {
  return type === "text-delta" || type === "reasoning-delta";
}
