/**
 * Stage: one provider call. Encodes the prompt for the provider that takes it, and decodes what comes back, a stream and
 * a whole answer alike, into batches of parts: one batch for what one network read brought.
 */
import { Failure } from "../exchange/failure.ts";
import { jsonPieces } from "../exchange/json_pieces.ts";
import type { Part } from "../exchange/part.ts";
import type { Prompt } from "../exchange/prompt.ts";
import { flattenTools, restoreTools, type ToolNames } from "../exchange/tools.ts";
import { openHedged } from "../providers/hedge.ts";
import type { ProviderRequest } from "../formats/format.ts";
import type { Outgoing } from "../providers/exchange.ts";
import type { Opened, Opening } from "../providers/mod.ts";
import type { Door, Route } from "../providers/provider.ts";
import { estimateUsage } from "./estimate.ts";
import { upperBound } from "./upper_bound.ts";
import { NO_USAGE } from "../exchange/usage.ts";
import { versionInForce } from "../providers/provider.ts";
import { readBody } from "../providers/reply_body.ts";
import { LARGE } from "../timing/slices.ts";
import { AnswerBounds } from "./answer_bounds.ts";
import { AnswerMemory, Intake } from "./answer_memory.ts";
import { AnswerReader, readWhole, readWholeInSlices } from "./answer_reader.ts";
import type { Call, ProviderUse } from "./call.ts";
import { conversationOf } from "./conversation.ts";
import type { Kit } from "./kit.ts";
import { isLargeBatch, portionsOf } from "./portions.ts";
import { SplitSecrets } from "./split_secrets.ts";
import { plausible } from "./plausible.ts";

/** Bytes of a stream that are worked on before others have their turn, where all are there at once. */
const TURN_BYTES = 65_536;

/** Bytes of one read whose conversion may take more than a millisecond. */
const WORTH_MEASURING = 16_384;

/** Pieces of a large request that are written before others have their turn. */
const PIECES = 16;

const decoder = new TextDecoder();

/** Of this process. */
const memory = new AnswerMemory();

/** Clients and proxies give up on headers of some kilobytes. */
const MOST_LISTED = 40;
/** What a record keeps of them, in characters. */
const MOST_DROPPED = 400;

/** Another way to a provider than a plain call of its API. */
export interface Way extends Required<Pick<Opening<unknown>, "through" | "missing">> {
  routes: readonly Route[];
}

/** @param way absent: to any route of the model, by a plain call */
export async function* generate(
  call: Call,
  prompt: Prompt,
  kit: Kit,
  way?: Way,
): AsyncGenerator<readonly Part[]> {
  const { model, arrival: { key, large } } = call;
  const { passing } = call;
  const routes = way?.routes ?? call.routes;
  const through = passing === null
    ? way?.through
    : (door: Door) => way === undefined ? passing.through(door) : way.through(passing.through(door));
  const made = { first: notMade(), second: notMade() };
  const openingOf = (which: "first" | "second", signal?: AbortSignal): Opening<Begun> => ({
    prepare(door, providersModel) {
      const { api } = door;
      const encode = (): Pick<ProviderRequest, "body" | "headers"> => {
        const flat = flattenTools(prompt, api.toolForms(prompt.format));
        made[which].names = flat.names;
        const encoded = bounded(() =>
          api.format.encodeRequest(flat.prompt, {
            model: providersModel,
            stream: prompt.stream,
            maxOutput: model.maxCompletion,
            features: model.features,
            efforts: model.efforts,
            parameters: model.parameters,
            apiVersion: versionInForce(door, prompt.headers),
          })
        );
        const request = api.finish ? api.finish(encoded, providersModel) : encoded;
        made[which].dropped = request.dropped;
        return request;
      };
      if (large) return kit.slices.run(key.id, writtenInSlices(encode), "convert");
      return kit.metrics.holding("convert", () => {
        const { body, headers } = encode();
        return { body: bounded(() => wellFormed(JSON.stringify(body))), headers };
      });
    },
    async begin(opened) {
      try {
        return await begin(opened, call, kit);
      } catch (thrown) {
        const failure = opened.withheld.failure(Failure.from(thrown));
        // It may charge for what it began.
        if (failure.begun) call.provider = opened.provider.name;
        throw failure;
      }
    },
    stream: prompt.stream,
    key: key.id,
    model: model.id,
    conversation: conversationOf(call),
    order: model.order,
    through,
    missing: way?.missing,
    signal,
    watch: call.arrival.steps,
  });
  const { opened, begun, which } = way === undefined && hedges(call)
    ? await openHedged(kit.providers, routes, {
      opening: openingOf,
      affords: () => affordsTwo(call),
      lost({ begun }) {
        begun.intake.passed();
        bill(begun, prompt, call, kit);
      },
    })
    : { ...await kit.providers.open(routes, openingOf("first")), which: "first" as const };
  const { followed } = opened;
  const { names, dropped } = made[which];
  call.provider = opened.provider.name;
  const use: ProviderUse = { usage: null, service: undefined, own: call.provider === passing?.provider };
  call.uses.push(use);
  if (dropped.length > 0) {
    const fields = headerList(dropped);
    call.headers["x-svc-dropped"] = fields;
    call.arrival.steps.add("admission", "dropped", 0, "ok", { fields: fields.slice(0, MOST_DROPPED) });
  }

  const restore = names === null ? null : restoreTools(names);
  let { batch, failure } = begun;
  const { reader, intake } = begun;
  // For as long as a stream goes on: it may be large.
  begun.batch = [];
  let ended = reader === null;
  const end = () => opened.close();
  const { secrets: credentials } = opened.withheld;
  const secrets = credentials.length === 0 ? null : new SplitSecrets(credentials);
  let unpaused = 0;
  call.answers.add(end);
  try {
    while (true) {
      if (batch.length > 0) {
        noteUsage(batch, prompt, { call, use }, kit);
        followed?.take(batch);
        const told = secrets === null ? batch : secrets.take(batch);
        if (told.length > 0) {
          const given = restore ? restore(told) : told;
          if (!prompt.stream || !isLargeBatch(given)) yield given;
          else {
            for (const portion of portionsOf(given)) {
              yield portion;
              await kit.slices.pause(key.id);
            }
          }
        }
      }
      const over = failure !== undefined || ended || call.cut;
      const rest = over && secrets !== null ? secrets.end() : null;
      if (rest !== null && rest.length > 0) yield rest;
      if (failure) throw failure;
      if (over) return;
      batch = [];
      let bytes: Uint8Array | null;
      try {
        const reading = opened.reply.read();
        bytes = reading instanceof Promise ? await reading : reading;
      } catch (thrown) {
        if (call.cut) return;
        // The whole answer may have come all the same, and only the connection not have been ended well.
        ended = true;
        if (reader!.end(batch)) throw thrown;
        continue;
      }
      ended = bytes === null;
      const room = bytes === null ? null : take(reader!, bytes.length, intake, call);
      if (room !== null) await room;
      const reading = read(reader!, bytes, batch, key.id, kit);
      failure = reading instanceof Promise ? await reading : reading;
      // A provider that sends faster than others get their turn.
      unpaused += bytes?.length ?? 0;
      if (unpaused < TURN_BYTES) continue;
      unpaused = 0;
      await kit.slices.pause(key.id);
    }
  } catch (thrown) {
    const said = opened.withheld.failure(Failure.from(thrown));
    followed?.failed(said);
    opened.failed(said);
    throw said;
  } finally {
    call.answers.delete(end);
    opened.close();
    // A whole answer is collected, and then written for its caller.
    if (prompt.stream) intake.passed();
  }
}

/** What is known of a request once it is made. */
interface Made {
  names: ToolNames | null;
  dropped: readonly string[];
}

const notMade = (): Made => ({ names: null, dropped: [] });

/** Only what is one call of a provider is asked twice. */
export function hedges({ arrival, routes, passing, shape }: Call): boolean {
  return arrival.key.hedge && routes.length > 1 && passing === null && !shape.search && shape.calls === 1;
}

function affordsTwo({ reservation, prompt, model, size, shape }: Call): Promise<boolean> {
  const { input, media = 0, output, ...rest } = upperBound(prompt, model, size, shape);
  return reservation.extend(NO_USAGE, { ...rest, input: 2 * input, media: 2 * media, output: 2 * output });
}

/** A cancelled call is billed for what it had said. */
function bill({ batch }: Begun, prompt: Prompt, call: Call, kit: Kit): void {
  const use: ProviderUse = { usage: null, service: undefined };
  noteUsage(batch, prompt, { call, use }, kit);
  const said = batch.reduce((sum, part) => sum + ("text" in part ? part.text.length : 0), 0);
  if (use.usage === null && said > 0) use.usage = estimateUsage(call.size.chars, said);
  if (use.usage !== null) call.lost.push(use);
}

/** The first parts of an answer. */
interface Begun {
  batch: Part[];
  /** What came after the parts. */
  failure?: Failure;
  /** Reads on; null: that was all. */
  reader: AnswerReader | null;
  intake: Intake;
}

/**
 * Reads an answer up to its first parts. What fails before the answer has said anything fails as if the status had said so;
 * a provider may well say under a good one that it is overloaded.
 */
async function begin({ api, reply, first, withheld }: Opened, call: Call, kit: Kit): Promise<Begun> {
  const { format, framing } = api;
  const { slices } = kit;
  const { id } = call.arrival.key;
  const intake = new Intake(() => call.held ??= memory.open(id));
  if (!framing.isStream(reply.header("content-type") ?? "")) {
    let unpaused = 0;
    const came = async (bytes: number) => {
      const room = intake.more(bytes);
      if (room !== null) await room;
      unpaused += bytes;
      if (unpaused < LARGE) return;
      unpaused = 0;
      await slices.pause(id);
    };
    try {
      let bytes: Uint8Array | Promise<Uint8Array> | null = readBody(reply, first, came);
      if (bytes instanceof Promise) bytes = await bytes;
      const { length } = bytes;
      const text = () => {
        const decoded = decoder.decode(bytes as Uint8Array);
        // The text takes their place.
        bytes = null;
        return withheld.answer(decoded);
      };
      if (length <= LARGE) {
        const batch = kit.metrics.holding("convert", () => readWhole(text(), format));
        return { batch, reader: null, intake };
      }
      call.large = true;
      const decoded = await slices.step(id, "convert", text);
      const batch = await slices.run(id, readWholeInSlices(decoded, format), "convert");
      return { batch, reader: null, intake };
    } catch (thrown) {
      intake.passed();
      throw thrown;
    }
  }
  const { prompt, arrival: { gone } } = call;
  const bounds = new AnswerBounds({ whole: !prompt.stream, left: gone, lately: () => kit.ticker.lately });
  const reader = new AnswerReader(format, framing, (text) => withheld.answer(text), bounds);
  const batch: Part[] = [];
  let unpaused = 0;
  try {
    for (let bytes: Uint8Array | null = first;; bytes = await reply.read()) {
      const room = bytes === null ? null : take(reader, bytes.length, intake, call);
      if (room !== null) await room;
      const reading = read(reader, bytes, batch, id, kit);
      const failure = reading instanceof Promise ? await reading : reading;
      unpaused += bytes?.length ?? 0;
      if (unpaused >= TURN_BYTES) {
        unpaused = 0;
        await slices.pause(id);
      }
      if (failure && batch.every(isPreamble)) throw failure;
      if (failure || batch.length > 0 || bytes === null) {
        return { batch, failure, reader: bytes === null ? null : reader, intake };
      }
    }
  } catch (thrown) {
    intake.passed();
    throw thrown;
  }
}

/** Bytes of a stream have come. Of a whole answer all of them stay; else those that complete no frame yet. */
function take(reader: AnswerReader, bytes: number, intake: Intake, call: Call): Promise<void> | null {
  if (call.prompt.stream) return intake.holds(reader.pending + bytes);
  const room = intake.more(bytes);
  if (intake.isLarge) call.large = true;
  return room;
}

/** Reads on; in slices where much has come. Null: that was all. */
function read(
  reader: AnswerReader,
  bytes: Uint8Array | null,
  out: Part[],
  key: string,
  { slices, metrics }: Kit,
): Failure | undefined | Promise<Failure | undefined> {
  if (reader.isLarge) {
    return slices.run(
      key,
      bytes === null ? reader.endInSlices(out) : reader.pushInSlices(bytes, out),
      "convert",
    );
  }
  if (bytes === null) return reader.end(out);
  // Fewer bytes are never worth a look at the clock.
  return bytes.length < WORTH_MEASURING
    ? reader.push(bytes, out)
    : metrics.holding("convert", () => reader.push(bytes, out));
}

/**
 * Notes what is billed. Reports of usage that the model cannot have had are cut, and the operator is told of these and of what is
 * no count.
 */
function noteUsage(
  batch: Part[],
  prompt: Prompt,
  { call, use }: { call: Call; use: ProviderUse },
  kit: Kit,
): void {
  for (let i = 0; i < batch.length; i++) {
    const part = batch[i];
    if (part.type !== "usage") continue;
    const bounded = plausible(part, prompt, call.model);
    use.usage = bounded.usage;
    use.service = part.service ?? use.service;
    if (bounded === part && !part.estimated) continue;
    batch[i] = bounded;
    const say = (what: string) => kit.log(`${call.arrival.id} ${call.model.id}: ${what}`);
    if (bounded.searches !== part.searches) {
      say(
        `the provider reports ${part.searches} searches of its own; ${bounded.searches ?? 0} of them can be`,
      );
    }
    if (bounded.usage === part.usage && !part.estimated) continue;
    const { input, output } = part.usage;
    say(
      "the provider's report of its tokens " +
        (bounded.usage === part.usage
          ? "holds values that are no counts"
          : `(${input} of input, ${output} of output) is more than the model can hold`) +
        "; the record is marked as estimated",
    );
  }
}

/** Parts that a caller loses nothing by never seeing. */
function isPreamble(part: Part): boolean {
  return part.type === "start" || part.type === "usage";
}

/** Names that a caller chose, as a header may hold them. */
function headerList(names: readonly string[]): string {
  const listed = names.slice(0, MOST_LISTED).map((name) => name.slice(0, 80).replace(/[^ -+\--~]/g, "?"));
  return (names.length > listed.length ? [...listed, "..."] : listed).join(", ");
}

/** A large request as it is sent. */
function* writtenInSlices(
  encode: () => Pick<ProviderRequest, "body" | "headers">,
): Generator<void, Outgoing> {
  const { body, headers } = encode();
  const pieces: string[] = [];
  for (const piece of jsonPieces(body)) {
    pieces.push(wellFormed(piece));
    if (pieces.length % PIECES === 0) yield;
  }
  yield;
  return { body: pieces.join(""), headers };
}

/**
 * JSON text without halves of surrogate pairs, which clients leave where they cut a text in the middle of a character.
 * JSON.stringify escapes nothing else above ASCII; APIs refuse such a body as no JSON.
 */
export function wellFormed(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replace(
    /\\(?:\\|ud[89a-f][0-9a-f]{2})/g,
    (found) => found.startsWith("\\u") ? "\\ufffd" : found,
  );
}

/** A request nested so deeply that walking it needs more stack than there is must not look like a fault of ours. */
function bounded<T>(walk: () => T): T {
  try {
    return walk();
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    throw new Failure("validation_error", "Cannot read the request: it is nested too deeply.");
  }
}
