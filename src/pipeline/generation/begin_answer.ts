/** Reads the beginning of an answer: the first parts of a stream, or all of an answer that is not streamed. */
import { decodedInSlices } from "../../exchange/decode_in_slices.ts";
import { Failure } from "../../exchange/failure.ts";
import type { Part } from "../../exchange/part.ts";
import type { ProviderFormat } from "../../formats/format.ts";
import type { Opened } from "../../providers/mod.ts";
import { readBody } from "../../providers/reply_body.ts";
import { LARGE } from "../../timing/slices.ts";
import { AnswerBounds } from "./answer_bounds.ts";
import { AnswerBuffer, AnswerMemory } from "../answer_memory.ts";
import { AnswerReader, readWhole, readWholeInSlices } from "./answer_reader.ts";
import type { Call } from "../call.ts";
import type { Kit } from "../kit.ts";

/** Bytes of a stream that are processed before other calls get their turn. */
export const TURN_BYTES = 65_536;

/** Reads of at least this size, in bytes, may take more than a millisecond to convert. */
const WORTH_MEASURING = 16_384;

const decoder = new TextDecoder();

/** Of this process. */
const memory = new AnswerMemory();

/** The first parts of an answer. */
export interface Begun {
  batch: Part[];
  /** The outcome of reading the first parts. */
  failure?: Failure;
  /** Reads the next bytes; null: the end. */
  reader: AnswerReader | null;
  buffer: AnswerBuffer;
}

/**
 * Reads an answer up to its first parts. A failure before any content is treated like an error status, because some providers report an
 * overload in the body of a 200.
 */
export function begin(opened: Opened, call: Call, kit: Kit): Begun | Promise<Begun> {
  const { api: { framing }, format, reply, first, withheld } = opened;
  const buffer = answerBufferOf(call);
  // Fast path: most answers that are not streamed are short and arrive together with their headers.
  if (
    reply.ended === true && first.length <= LARGE &&
    !framing.isStream(reply.header("content-type") ?? "", first)
  ) {
    const batch = kit.metrics.holding(
      "convert",
      () => wholeOf(withheld.answer(decoder.decode(first)), format),
    );
    return { batch, reader: null, buffer };
  }
  return beginLater(opened, call, kit, buffer);
}

/** Throws a failure after which the request may be sent again if the body is not even the beginning of JSON: no model has written it. */
function wholeOf(text: string, format: ProviderFormat): Part[] {
  try {
    return readWhole(text, format);
  } catch (thrown) {
    throw /^[\s\ufeff]*[[{]/.test(text) ? thrown : notBegun(Failure.from(thrown));
  }
}

/** The same failure of an answer of which no part has come: if the request is sent again, nothing is billed twice. */
function notBegun(failure: Failure): Failure {
  return failure.begun
    ? new Failure(failure.code, failure.message, { ...failure, cause: failure.cause, begun: false })
    : failure;
}

/** A separate function, because a closure in {@link begin} would keep its variables in memory, including the first bytes. */
function answerBufferOf(call: Call): AnswerBuffer {
  return new AnswerBuffer(() => call.memory ??= memory.open(call.arrival.key.id));
}

async function beginLater(
  { api: { framing }, format, model, reply, first, withheld }: Opened,
  call: Call,
  kit: Kit,
  buffer: AnswerBuffer,
): Promise<Begun> {
  const { slices } = kit;
  const { id } = call.arrival.key;
  if (!framing.isStream(reply.header("content-type") ?? "", first)) {
    let unpaused = 0;
    const came = async (bytes: number) => {
      const room = buffer.more(bytes);
      if (room !== null) await room;
      unpaused += bytes;
      if (unpaused < LARGE) return;
      unpaused = 0;
      await slices.pause(id);
    };
    try {
      const reading = readBody(reply, first, came);
      const body: WholeBody = { bytes: reading instanceof Promise ? await reading : reading };
      if (body.bytes!.length <= LARGE) {
        const batch = kit.metrics.holding(
          "convert",
          () => wholeOf(withheld.answer(decoder.decode(body.bytes!)), format),
        );
        return { batch, reader: null, buffer };
      }
      call.large = true;
      const decoded = await slices.run(id, decoding(body, withheld), "convert");
      const batch = await slices.run(id, readWholeInSlices(decoded, format), "convert");
      return { batch, reader: null, buffer };
    } catch (thrown) {
      buffer.passed();
      throw thrown;
    }
  }
  const { prompt, arrival: { disconnected } } = call;
  const bounds = new AnswerBounds({
    whole: !prompt.stream,
    left: disconnected,
    lately: () => kit.ticker.lately,
  });
  const reader = new AnswerReader(format, framing, (text) => withheld.answer(text), bounds, model);
  const batch: Part[] = [];
  let unpaused = 0;
  let size = 0;
  try {
    for (let bytes: Uint8Array | null = first;; bytes = await reply.read()) {
      const room = bytes === null ? null : take(reader, bytes.length, buffer, call);
      if (room !== null) await room;
      const isCut = bytes === null && reader.pending > 0 && !reader.isForeign;
      const reading = read(reader, bytes, batch, id, kit);
      const failure = reading instanceof Promise ? await reading : reading;
      unpaused += bytes?.length ?? 0;
      if (unpaused >= TURN_BYTES) {
        unpaused = 0;
        await slices.pause(id);
      }
      size += bytes?.length ?? 0;
      if (failure && batch.length === 0 && !isCut && size <= TURN_BYTES) throw notBegun(failure);
      if (failure && batch.every(isPreamble)) throw failure;
      if (failure || batch.length > 0 || bytes === null) {
        return { batch, failure, reader: bytes === null ? null : reader, buffer };
      }
    }
  } catch (thrown) {
    buffer.passed();
    throw thrown;
  }
}

interface WholeBody {
  /** Null: the decoded text has replaced them. */
  bytes: Uint8Array | null;
}

function* decoding(body: WholeBody, withheld: Opened["withheld"]): Generator<void, string> {
  const text = yield* decodedInSlices(body.bytes!);
  body.bytes = null;
  return withheld.answer(text);
}

/** Counts received bytes that stay in memory: all bytes of a JSON body, or those of an incomplete frame. */
export function take(
  reader: AnswerReader,
  bytes: number,
  buffer: AnswerBuffer,
  call: Call,
): Promise<void> | null {
  if (call.prompt.stream) return buffer.holds(reader.pending + bytes);
  const room = buffer.more(bytes);
  if (buffer.isLarge) call.large = true;
  return room;
}

/** Decodes bytes, in slices if there are many. Null: the end of the answer. */
export function read(
  reader: AnswerReader,
  bytes: Uint8Array | null,
  out: Part[],
  key: string,
  { slices, metrics }: Kit,
): Failure | undefined | Promise<Failure | undefined> {
  if (reader.isLarge) {
    return slices.run(
      key,
      // A copy: until its turn, the caller may disconnect, and the connection with its buffer may be reused by another call.
      bytes === null ? reader.endInSlices(out) : reader.pushInSlices(new Uint8Array(bytes), out),
      "convert",
    );
  }
  if (bytes === null) return reader.end(out);
  // For fewer bytes, reading the clock is not worth its cost.
  return bytes.length < WORTH_MEASURING
    ? reader.push(bytes, out)
    : metrics.holding("convert", () => reader.push(bytes, out));
}

/** Whether these bytes, with those buffered, are so few that {@link read} equals {@link AnswerReader.push} and {@link take} never waits. */
export function isShort(reader: AnswerReader, bytes: Uint8Array): boolean {
  return reader.pending + bytes.length < WORTH_MEASURING;
}

/** Parts without content: after them another route can still give the answer. */
export function isPreamble(part: Part): boolean {
  return part.type === "start" || part.type === "usage";
}
