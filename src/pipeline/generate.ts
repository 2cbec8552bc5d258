/**
 * Stage: one provider call. Encodes the prompt for the provider's API, and decodes the answer, streamed or not, into batches of parts. A
 * batch contains the parts of one network read.
 */
import { Failure } from "../exchange/failure.ts";
import type { FormatName } from "../exchange/format_name.ts";
import { wellFormed } from "../exchange/json.ts";
import type { Part } from "../exchange/part.ts";
import type { Prompt } from "../exchange/prompt.ts";
import { newCallIds } from "../exchange/call_ids.ts";
import { restoreTools } from "../exchange/tools.ts";
import { lazy } from "../exchange/lazy.ts";
import { withoutProofs } from "../exchange/without_proofs.ts";
import type { Opened, Opening } from "../providers/mod.ts";
import type { Route, Upstream } from "../providers/provider.ts";
import { CALLER_LEFT } from "../providers/refusals.ts";
import { isTransient, mayFitElsewhere } from "../providers/retry.ts";
import { upperBound } from "./upper_bound.ts";
import { NO_USAGE } from "../exchange/usage.ts";
import { begin, type Begun } from "./begin_answer.ts";
import type { Call, ProviderUse } from "./call.ts";
import { conversationOf } from "./conversation.ts";
import { type Answering, type Asked, Delivery, isLargeBatch, NO_PARTS, portionsOf } from "./delivery.ts";
import { bounded, encodeFor, type Made, notMade, writtenInSlices } from "./encode_call.ts";
import type { Kit } from "./kit.ts";
import { bill, noteUsage } from "./note_usage.ts";
import { SplitSecrets } from "./split_secrets.ts";
import type { BatchSink } from "./whole_parts.ts";

/** Maximum length of the header with dropped fields: clients and proxies reject headers of some kilobytes. */
const MOST_LISTED = 40;
/** Maximum length of the dropped fields in a record, in characters. */
const MOST_DROPPED = 400;

/** Where callers send the proofs of reasoning. */
const PROOF_FIELDS: Readonly<Partial<Record<FormatName, string>>> = {
  chat_completions: "messages.reasoning_details",
  messages: "messages.content.signature",
  responses: "input.encrypted_content",
};

// Loaded on first use: few keys use hedging.
const hedging = lazy(() => import("../providers/hedge.ts"));

/** A provider call that is not a plain generation, for example a compaction. */
export interface CallVariant extends Required<Pick<Opening<unknown>, "adaptUpstream" | "missing">> {
  routes: readonly Route[];
}

interface Asking extends Asked {
  /** Absent: a plain call to any route of the model. */
  variant?: CallVariant;
  /** Absent: the routes of the call, or of its variant. */
  routes?: readonly Route[];
  /** How often the same route was asked again after the start of an answer. Absent: not yet. */
  retries?: number;
}

/** Calls the provider and reads up to the first parts of the answer. */
async function ask(asking: Asking): Promise<Answering> {
  const { call, prompt, kit, variant } = asking;
  const routes = asking.routes ?? variant?.routes ?? call.routes;
  const made = { first: notMade(), second: notMade() };
  const { together } = call;
  const further = call.asked++ > 0;
  if (together !== null && further) {
    await together.placed.promise;
    if (together.over) throw CALLER_LEFT;
  }
  let which: "first" | "second" = "first";
  let answer: { opened: Opened; begun: Begun };
  if (asking.routes === undefined && variant === undefined && hedges(call)) {
    const { openHedged } = await hedging.open();
    const hedged = await openHedged(kit.providers, routes, {
      opening: (which, signal) => openingOf(asking, made[which], { further, signal }),
      affords: () => affordsTwo(call),
      lost({ opened, begun }) {
        begun.buffer.passed();
        bill(begun, { prompt, provider: opened.provider.name }, call, kit);
      },
    });
    which = hedged.which;
    answer = hedged;
  } else answer = await kit.providers.open(routes, openingOf(asking, made.first, { further }));
  const { opened, begun } = answer;
  const { names, dropped } = made[which];
  call.provider = opened.provider.name;
  // Only this provider can read the proof of its reasoning, and it has the prompt in its cache.
  if (call.shape.search) call.previous = opened.route;
  const use: ProviderUse = {
    usage: null,
    service: undefined,
    own: call.provider === call.callerCredential?.provider,
    provider: call.provider,
  };
  call.uses.push(use);
  const unread = call.prompt.search?.unread;
  reportDropped(unread ? [...dropped, ...unread] : dropped, call);
  return { opened, begun, use, names };
}

/** The parameters of a provider call. @param made is called with the encoded request */
function openingOf(
  asking: Asking,
  made: Made,
  { further, signal }: { further: boolean; signal?: AbortSignal },
): Opening<Begun> {
  const { call, prompt, kit, variant } = asking;
  const { model, callerCredential, arrival, together } = call;
  const adaptUpstream = callerCredential === null
    ? variant?.adaptUpstream
    : (upstream: Upstream) =>
      variant === undefined
        ? callerCredential.applyTo(upstream)
        : variant.adaptUpstream(callerCredential.applyTo(upstream));
  let sent = prompt;
  return {
    prepare(upstream, format, providersModel) {
      together?.placed.resolve();
      const encode = () => {
        const request = encodeFor(upstream, format, { providersModel, prompt: sent, model, made });
        if (sent !== prompt) made.dropped = [...made.dropped, PROOF_FIELDS[prompt.format] ?? "reasoning"];
        return request;
      };
      if (arrival.large) return kit.slices.run(arrival.key.id, writtenInSlices(encode), "convert");
      return kit.metrics.holding("convert", () => {
        const { body, headers } = encode();
        const lost = (fields: readonly string[]) => {
          made.dropped = [...new Set([...made.dropped, ...fields])];
        };
        return { body: bounded(() => wellFormed(JSON.stringify(body))), headers, lost };
      });
    },
    withoutReasoning() {
      const less = withoutProofs(sent);
      sent = less ?? sent;
      return less !== null;
    },
    begin(opened) {
      const failed = (thrown: unknown): never => {
        const failure = opened.withheld.failure(Failure.from(thrown));
        // The provider may charge for an answer that it began.
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
    key: arrival.key.id,
    model: model.id,
    contextLength: model.contextLength,
    conversation: conversationOf(call),
    order: model.order,
    previous: call.previous,
    adaptUpstream,
    missing: variant?.missing,
    signal,
    further,
    // Once one of several parallel calls has begun, the others are made even if the caller has disconnected.
    abandoned: call.uses.length === 0 && (together === null || !further) && !arrival.joinable
      ? arrival.disconnected
      : undefined,
    over: further || together !== null ? () => call.cut || together?.over === true : undefined,
    tried: asking.retries,
    watch: arrival.steps,
  };
}

/** Lists the dropped fields in the header `x-svc-dropped` and in the record. */
function reportDropped(dropped: readonly string[], call: Call): void {
  if (dropped.length === 0) return;
  const fields = headerList(dropped);
  call.headers["x-svc-dropped"] = fields;
  call.arrival.steps.add("admission", "dropped", 0, "ok", { fields: fields.slice(0, MOST_DROPPED) });
}

/** @param variant absent: a plain call to any route of the model */
export function generate(
  call: Call,
  prompt: Prompt,
  kit: Kit,
  variant?: CallVariant,
): AsyncGenerator<readonly Part[]> {
  const asking = { call, prompt, kit, variant };
  return deliver(() => ask(asking), asking);
}

/**
 * The parts of a call with only one provider call. Once the answer has content, so that nothing is asked again, the prompt's messages are
 * released from memory: a stream may last for an hour, and the history of an agent has hundreds of kilobytes.
 */
export function generateOnce(call: Call, kit: Kit): AsyncGenerator<readonly Part[]> {
  const { prompt } = call;
  const onContent = () => {
    if (prompt.stream) prompt.turns = prompt.turns.filter(({ top }) => top);
  };
  const asking = { call, prompt, kit, onContent };
  return deliver(() => ask(asking), asking);
}

/** Passes the parts of an answer that is not streamed to a callback. */
export async function generateWhole(call: Call, kit: Kit, took: BatchSink): Promise<void> {
  const { prompt } = call;
  const answering = await ask({ call, prompt, kit });
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
    const restore = names === null ? null : restoreTools(names);
    const newIds = newCallIds(prompt);
    const pass = (portion: readonly Part[]) => {
      const parts = secrets === null ? portion : secrets.take(portion);
      if (parts.length === 0) return;
      const restored = restore === null ? parts : restore(parts);
      took(newIds === null ? restored : newIds(restored));
    };
    if (isLargeBatch(batch)) {
      for (const portion of portionsOf(batch)) {
        pass(portion);
        await kit.slices.pause(call.arrival.key.id);
      }
    } else pass(batch);
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

/** Whether a failure before any content is handled as if the provider had refused the request. */
function mayAskAgain(failure: Failure, { call, variant }: Asking): boolean {
  return variant === undefined && !call.cut && !failure.begun &&
    (isTransient(failure) || mayFitElsewhere(failure, call.model.contextLength));
}

/**
 * The answer of another route, or else of the same one after a pause, in place of an answer that failed before it had any content. The
 * caller may have its start, which names no provider. Throws the failure if the routes and retries are used up.
 */
async function askAgain({ opened, use }: Answering, failure: Failure, asking: Asking): Promise<Answering> {
  const { call, kit } = asking;
  const routes = asking.routes ?? call.routes;
  const isSame = ({ provider, model }: Route) => provider === opened.provider.name && model === opened.model;
  const others = routes.filter((route) => !isSame(route));
  if (others.length === 0) {
    if (mayFitElsewhere(failure, call.model.contextLength)) throw failure;
    const tries = asking.retries ?? 0;
    const same = routes.find(isSame);
    if (same === undefined || !(await kit.providers.mayRetry(same, failure, tries))) throw failure;
    asking.retries = tries + 1;
  } else asking.routes = others;
  call.uses.splice(call.uses.indexOf(use), 1);
  call.provider = call.uses.at(-1)?.provider ?? null;
  return await ask(asking);
}

/** @param asked called when the parts are first requested */
async function* deliver(
  asked: () => Answering | Promise<Answering>,
  asking: Asking,
): AsyncGenerator<readonly Part[]> {
  const { call, prompt, kit } = asking;
  let answering: Answering;
  try {
    answering = await asked();
  } catch (thrown) {
    // The call was ended while a further provider call waited for capacity: its usage so far is billed.
    if (thrown === CALLER_LEFT && call.cut && call.uses.length > 0) return;
    throw thrown;
  }
  const { key } = call.arrival;
  let delivery = new Delivery(answering, asking, false);
  const pass = (bytes: Uint8Array) => delivery.pass(bytes);
  const end = () => answering.opened.close();
  call.answers.add(end);
  let started = false;
  let failed = false;
  try {
    while (true) {
      if (delivery.failure && delivery.isPreamble && mayAskAgain(delivery.failure, asking)) {
        failed = true;
        const said = failedIn(answering.opened, delivery.failure);
        answering.opened.close();
        answering.begun.buffer.passed();
        answering = await askAgain(answering, said, asking);
        failed = false;
        delivery = new Delivery(answering, asking, started);
        continue;
      }
      if (delivery.isLarge) {
        for (const portion of delivery.portions()) {
          started = true;
          yield portion;
          await kit.slices.pause(key.id);
        }
      } else {
        const given = delivery.given();
        if (given.length > 0) {
          started = true;
          yield given;
        }
      }
      const { over } = delivery;
      const rest = over ? delivery.rest() : NO_PARTS;
      if (rest.length > 0) yield rest;
      if (delivery.failure) throw delivery.failure;
      if (over) return;
      delivery.next();
      let bytes: Uint8Array | null;
      try {
        const reading = answering.opened.reply.read(pass);
        bytes = reading instanceof Promise ? await reading : reading;
      } catch (thrown) {
        if (call.cut) return;
        if (delivery.lost()) throw thrown;
        continue;
      }
      delivery.ended = bytes === null;
      if (!delivery.isRead) {
        const room = bytes === null ? null : delivery.take(bytes);
        if (room !== null) {
          await room;
          // The connection and its read buffer may be in use by another call by now.
          if (call.cut) return;
        }
        const reading = delivery.read(bytes);
        delivery.failure = reading instanceof Promise ? await reading : reading;
      }
      // A provider that sends very fast must not block the event loop for other calls.
      if (delivery.isDue()) await kit.slices.pause(key.id);
    }
  } catch (thrown) {
    throw failed ? thrown : failedIn(answering.opened, thrown);
  } finally {
    call.answers.delete(end);
    answering.opened.close();
    // A whole answer is collected, and then written for its caller.
    if (prompt.stream) answering.begun.buffer.passed();
  }
}

/** Whether the call is hedged: only if it makes a single provider call. */
export function hedges({ arrival, routes, callerCredential, shape }: Call): boolean {
  return arrival.key.hedge && routes.length > 1 && callerCredential === null && !shape.search &&
    shape.calls === 1;
}

function affordsTwo({ reservation, prompt, model, size, shape, others }: Call): Promise<boolean> {
  const { input, media = 0, output, ...rest } = upperBound(prompt, model, size, shape, others);
  return reservation.extend(NO_USAGE, { ...rest, input: 2 * input, media: 2 * media, output: 2 * output });
}

/** A list of names chosen by callers, in a form that is valid in a header. */
function headerList(names: readonly string[]): string {
  const listed = names.slice(0, MOST_LISTED).map((name) => name.slice(0, 80).replace(/[^ -+\--~]/g, "?"));
  return (names.length > listed.length ? [...listed, "..."] : listed).join(", ");
}
