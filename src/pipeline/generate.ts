/**
 * Stage: one provider call. Encodes the prompt for the provider that takes it, and decodes what comes back, a stream and
 * a whole answer alike, into batches of parts: one batch for what one network read brought.
 */
import { Failure } from "../exchange/failure.ts";
import { wellFormed } from "../exchange/json.ts";
import { jsonBytes } from "../exchange/json_bytes.ts";
import type { Part } from "../exchange/part.ts";
import type { Prompt } from "../exchange/prompt.ts";
import { flattenTools, restoreTools, type ToolNames } from "../exchange/tools.ts";
import type { ProviderRequest } from "../formats/format.ts";
import { late } from "../formats/late.ts";
import type { Outgoing } from "../providers/exchange.ts";
import type { Opened, Opening } from "../providers/mod.ts";
import type { Door, Route } from "../providers/provider.ts";
import { upperBound } from "./upper_bound.ts";
import { NO_USAGE } from "../exchange/usage.ts";
import { versionInForce } from "../providers/provider.ts";
import { begin, type Begun, isShort, read, take, TURN_BYTES } from "./begin_answer.ts";
import type { Call, ProviderUse } from "./call.ts";
import { conversationOf } from "./conversation.ts";
import type { Kit } from "./kit.ts";
import { bill, noteUsage } from "./note_usage.ts";
import { isLargeBatch, portionsOf } from "./portions.ts";
import { SplitSecrets } from "./split_secrets.ts";
import type { Took } from "./whole_parts.ts";

const NO_BYTES = new Uint8Array();

/** Clients and proxies give up on headers of some kilobytes. */
const MOST_LISTED = 40;
/** What a record keeps of them, in characters. */
const MOST_DROPPED = 400;

// Few keys want it.
const hedging = late(() => import("../providers/hedge.ts"));

/** Another way to a provider than a plain call of its API. */
export interface Way extends Required<Pick<Opening<unknown>, "through" | "missing">> {
  routes: readonly Route[];
}

/** An answer that has begun. */
interface Answering {
  opened: Opened;
  begun: Begun;
  use: ProviderUse;
  /** Those of tools that the provider's API cannot have; null: there are none. */
  names: ToolNames | null;
}

/** Asks, up to the first parts of the answer. @param way absent: any route of the model, by a plain call */
async function ask(call: Call, prompt: Prompt, kit: Kit, way?: Way): Promise<Answering> {
  const { model, arrival: { key, large } } = call;
  const { passing } = call;
  const routes = way?.routes ?? call.routes;
  const through = passing === null
    ? way?.through
    : (door: Door) => way === undefined ? passing.through(door) : way.through(passing.through(door));
  const made = { first: notMade(), second: notMade() };
  const further = call.asked++ > 0;
  const openingOf = (which: "first" | "second", signal?: AbortSignal): Opening<Begun> => ({
    prepare(door, format, providersModel) {
      const { api } = door;
      const encode = (): Pick<ProviderRequest, "body" | "headers"> => {
        const flat = flattenTools(prompt, api.toolForms(prompt.format));
        made[which].names = flat.names;
        const encoded = blaming(prompt, () =>
          format.encodeRequest(flat.prompt, {
            model: providersModel,
            stream: prompt.stream,
            maxOutput: model.maxCompletion,
            features: model.features,
            efforts: model.efforts,
            parameters: model.parameters,
            apiVersion: versionInForce(door, prompt.headers),
          }));
        const request = api.finish ? api.finish(encoded, providersModel, flat.prompt) : encoded;
        made[which].dropped = request.dropped;
        return request;
      };
      if (large) return kit.slices.run(key.id, writtenInSlices(encode), "convert");
      return kit.metrics.holding("convert", () => {
        const { body, headers } = encode();
        return { body: bounded(() => wellFormed(JSON.stringify(body))), headers };
      });
    },
    begin(opened) {
      const failed = (thrown: unknown): never => {
        const failure = opened.withheld.failure(Failure.from(thrown));
        // It may charge for what it began.
        if (failure.begun) call.provider = opened.provider.name;
        throw failure;
      };
      try {
        const begun = begin(opened, call, kit);
        return begun instanceof Promise ? begun.catch(failed) : begun;
      } catch (thrown) {
        return failed(thrown);
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
    further,
    // Once one of several calls has been answered, the others are asked for all the same.
    gone: call.uses.length === 0 && call.shape.calls === 1 && !call.arrival.joinable
      ? call.arrival.gone
      : undefined,
    watch: call.arrival.steps,
  });
  let which: "first" | "second" = "first";
  let answer: { opened: Opened; begun: Begun };
  if (way === undefined && hedges(call)) {
    const { openHedged } = await hedging.open();
    const hedged = await openHedged(kit.providers, routes, {
      opening: openingOf,
      affords: () => affordsTwo(call),
      lost({ opened, begun }) {
        begun.intake.passed();
        bill(begun, { prompt, provider: opened.provider.name }, call, kit);
      },
    });
    which = hedged.which;
    answer = hedged;
  } else answer = await kit.providers.open(routes, openingOf("first"));
  const { opened, begun } = answer;
  const { names } = made[which];
  const unread = call.prompt.search?.unread;
  const dropped = unread ? [...made[which].dropped, ...unread] : made[which].dropped;
  call.provider = opened.provider.name;
  const use: ProviderUse = {
    usage: null,
    service: undefined,
    own: call.provider === passing?.provider,
    provider: call.provider,
  };
  call.uses.push(use);
  if (dropped.length > 0) {
    const fields = headerList(dropped);
    call.headers["x-svc-dropped"] = fields;
    call.arrival.steps.add("admission", "dropped", 0, "ok", { fields: fields.slice(0, MOST_DROPPED) });
  }
  return { opened, begun, use, names };
}

/** @param way absent: to any route of the model, by a plain call */
export function generate(call: Call, prompt: Prompt, kit: Kit, way?: Way): AsyncGenerator<readonly Part[]> {
  return deliver(() => ask(call, prompt, kit, way), { call, prompt, kit });
}

/**
 * The parts of a call of which one answer is wanted. Once it has begun, nobody needs the prompt's messages any more, and they are
 * given up: a stream may last for an hour, and the history of an agent has hundreds of kilobytes.
 */
export function generateOnce(call: Call, kit: Kit): AsyncGenerator<readonly Part[]> {
  const { prompt } = call;
  const asked = async () => {
    const answering = await ask(call, prompt, kit);
    if (prompt.stream) prompt.turns = prompt.turns.filter(({ top }) => top);
    return answering;
  };
  return deliver(asked, { call, prompt, kit });
}

/** The parts of a call that wants its answer whole: nobody waits for them one by one. */
export async function generateWhole(call: Call, kit: Kit, took: Took): Promise<void> {
  const { prompt } = call;
  const answering = await ask(call, prompt, kit);
  const { begun: { batch, reader, failure }, opened, use, names } = answering;
  if (reader !== null || failure !== undefined) {
    for await (const more of deliver(() => answering, { call, prompt, kit })) took(more);
    return;
  }
  const { followed, withheld } = opened;
  const secrets = withheld.secrets.length === 0 ? null : new SplitSecrets(withheld.secrets);
  try {
    noteUsage(batch, prompt, { call, use }, kit);
    followed?.take(batch);
    const told = secrets === null ? batch : secrets.take(batch);
    if (told.length > 0) took(names === null ? told : restoreTools(names)(told));
    const rest = secrets === null ? [] : secrets.end();
    if (rest.length > 0) took(rest);
  } catch (thrown) {
    throw failedIn(opened, thrown);
  } finally {
    opened.close();
  }
}

function failedIn(opened: Opened, thrown: unknown): Failure {
  const said = opened.withheld.failure(Failure.from(thrown));
  const { followed } = opened;
  followed?.failed(said);
  opened.failed(said);
  return said;
}

/** @param asked called when the parts are first asked for */
async function* deliver(
  asked: () => Answering | Promise<Answering>,
  { call, prompt, kit }: { call: Call; prompt: Prompt; kit: Kit },
): AsyncGenerator<readonly Part[]> {
  const { opened, begun, use, names } = await asked();
  const { key } = call.arrival;
  const { followed } = opened;
  const restore = names === null ? null : restoreTools(names);
  let { batch, failure } = begun;
  const { reader, intake } = begun;
  // For as long as a stream goes on: it may be large.
  begun.batch = [];
  opened.first = NO_BYTES;
  let ended = reader === null;
  const end = () => opened.close();
  const { secrets: credentials } = opened.withheld;
  const secrets = credentials.length === 0 ? null : new SplitSecrets(credentials);
  let unpaused = 0;
  /** What of the batch may be told; null: nobody has looked yet. */
  let told: readonly Part[] | null = null;
  /** The batch has all parts of the last bytes. */
  let isRead = false;
  const tell = (): readonly Part[] => {
    noteUsage(batch, prompt, { call, use }, kit);
    followed?.take(batch);
    return secrets === null ? batch : secrets.take(batch);
  };
  const pass = (bytes: Uint8Array): Promise<void> | null => {
    const { onward } = call;
    if (onward === null || call.cut || restore !== null || !isShort(reader!, bytes)) return null;
    take(reader!, bytes.length, intake, call);
    failure = reader!.push(bytes, batch);
    isRead = true;
    unpaused += bytes.length;
    if (failure !== undefined || unpaused >= TURN_BYTES || !batch.every(isText)) return null;
    told = tell();
    const passed = told.length === 0 ? null : onward(told);
    if (passed === null) return null;
    batch = [];
    told = null;
    isRead = false;
    return passed;
  };
  call.answers.add(end);
  try {
    while (true) {
      if (batch.length > 0) {
        told ??= tell();
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
      told = null;
      isRead = false;
      let bytes: Uint8Array | null;
      try {
        const reading = opened.reply.read(pass);
        bytes = reading instanceof Promise ? await reading : reading;
      } catch (thrown) {
        if (call.cut) return;
        // The whole answer may have come all the same, and only the connection not have been ended well.
        ended = true;
        if (reader!.end(batch)) throw thrown;
        continue;
      }
      ended = bytes === null;
      if (!isRead) {
        const room = bytes === null ? null : take(reader!, bytes.length, intake, call);
        if (room !== null) {
          await room;
          // The connection may be another call's by now, and the bytes that were read from it with it.
          if (call.cut) return;
        }
        const reading = read(reader!, bytes, batch, key.id, kit);
        failure = reading instanceof Promise ? await reading : reading;
        unpaused += bytes?.length ?? 0;
      }
      // A provider that sends faster than others get their turn.
      if (unpaused < TURN_BYTES) continue;
      unpaused = 0;
      await kit.slices.pause(key.id);
    }
  } catch (thrown) {
    throw failedIn(opened, thrown);
  } finally {
    call.answers.delete(end);
    opened.close();
    // A whole answer is collected, and then written for its caller.
    if (prompt.stream) intake.passed();
  }
}

function isText({ type }: Part): boolean {
  return type === "text-delta" || type === "reasoning-delta";
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

function affordsTwo({ reservation, prompt, model, size, shape, others }: Call): Promise<boolean> {
  const { input, media = 0, output, ...rest } = upperBound(prompt, model, size, shape, others);
  return reservation.extend(NO_USAGE, { ...rest, input: 2 * input, media: 2 * media, output: 2 * output });
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
  return { body: yield* jsonBytes(body), headers };
}

/** What a provider's API has no form for stands in the field that the caller's format has for a conversation. */
function blaming<T>(prompt: Prompt, encode: () => T): T {
  try {
    return bounded(encode);
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== "feature_not_supported") throw thrown;
    const param = prompt.format === "responses" ? "input" : "messages";
    throw new Failure(thrown.code, thrown.message, { param, details: thrown.details });
  }
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
