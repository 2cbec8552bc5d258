/**
 * The calls of a provider for one answer: to the routes of the model, hedged ones, and those after a failure before any content. Encodes
 * the prompt for the provider's API, and reads up to the first parts of the answer.
 */
import { Failure, type FailureCode } from "../../exchange/failure.ts";
import type { FormatName } from "../../exchange/format_name.ts";
import { mapFees } from "../../exchange/fees.ts";
import { wellFormed } from "../../exchange/json.ts";
import { lazy } from "../../exchange/lazy.ts";
import { NO_USAGE } from "../../exchange/usage.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import { withoutProofs } from "../../exchange/without_proofs.ts";
import { leastTokens } from "../../models/limits.ts";
import type { Opened, Opening } from "../../providers/mod.ts";
import type { Route, Upstream } from "../../providers/provider.ts";
import { CALLER_LEFT } from "../../providers/refusals.ts";
import { isTransient, mayFitElsewhere } from "../../providers/retry.ts";
import { begin, type Begun } from "./begin_answer.ts";
import type { Call, ProviderUse } from "../call.ts";
import { conversationOf } from "../conversation.ts";
import type { Answering, Asked } from "./delivery.ts";
import { bounded, encodeFor, type Made, notMade, restoring, writtenInSlices } from "./encode_call.ts";
import type { Kit } from "../kit.ts";
import { bill } from "./note_usage.ts";
import { upperBound } from "../admission/upper_bound.ts";

/** Maximum number of fields in the header that lists dropped ones: clients and proxies reject headers of some kilobytes. */
const MOST_LISTED = 40;
/** Maximum length of the dropped fields in a record, in characters. */
const MOST_DROPPED = 400;

/** Where callers send the proofs of reasoning. */
const PROOF_FIELDS: Readonly<Partial<Record<FormatName, string>>> = {
  chat_completions: "messages.reasoning_details",
  messages: "messages.content.signature",
  responses: "input.encrypted_content",
};

/** Failures that concern the routes of one model, though they are no failures of providers. */
const OF_THE_MODEL: ReadonlySet<string> = new Set(
  [
    "circuit_breaker_open",
    "feature_not_supported",
    "service_unavailable",
  ] satisfies FailureCode[],
);

// Loaded on first use: few keys use hedging.
const hedging = lazy(() => import("../../providers/hedge.ts"));
/** Needed only if a model of `svc/auto` does not answer. */
const anotherModel = lazy(() => import("./another_model.ts"));

/** A provider call that is not a plain generation, for example a compaction. */
export interface CallVariant extends Required<Pick<Opening<unknown>, "adaptUpstream" | "missing">> {
  routes: readonly Route[];
}

export interface Asking extends Asked {
  /** Absent: a plain call to any route of the model. */
  variant?: CallVariant;
  /** Absent: the routes of the call, or of its variant. */
  routes?: readonly Route[];
  /** How often the same route was asked again after the start of an answer. Absent: not yet. */
  retries?: number;
}

/** Calls the provider and reads up to the first parts of the answer. */
export async function ask(asking: Asking): Promise<Answering> {
  const { call, prompt, kit, variant } = asking;
  let made = notMade();
  const { together } = call;
  const further = call.asked++ > 0;
  if (together !== null && further) {
    await together.placed.promise;
    if (together.over) throw CALLER_LEFT;
  }
  let answer: { opened: Opened; begun: Begun } | undefined;
  while (answer === undefined) {
    const routes = asking.routes ?? variant?.routes ?? call.routes;
    try {
      if (asking.routes === undefined && variant === undefined && hedges(call)) {
        const both = { first: notMade(), second: notMade() };
        const { openHedged } = await hedging.open();
        const hedged = await openHedged(kit.providers, routes, {
          opening: (which, signal) => openingOf(asking, both[which], { further, signal }),
          affords: () => affordsTwo(call),
          lost({ opened, begun }) {
            begun.buffer.passed();
            bill(begun, { prompt, provider: opened.provider.name }, call, kit);
          },
        });
        made = both[hedged.which];
        answer = hedged;
      } else answer = await kit.providers.open(routes, openingOf(asking, made, { further }));
    } catch (thrown) {
      if (!mayChangeModel(asking) || !await changesModel(call, prompt, thrown, kit)) throw thrown;
    }
  }
  const { opened, begun } = answer;
  const { dropped } = made;
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
  return { opened, begun, use, restore: restoring(made) };
}

/** Whether another model of `svc/auto` may answer instead: the request has got nothing yet. */
function mayChangeModel({ call, variant, routes, retries }: Asking): boolean {
  // The caller may have the start of the answer, which names the model.
  return call.asked <= 1 && call.together === null && variant === undefined && routes === undefined &&
    retries === undefined;
}

/**
 * Chooses another model of `svc/auto` for a request that has got nothing yet. False: the request is at fault, or no other model can answer.
 * @param thrown by the calls of the model
 */
export async function changesModel(call: Call, prompt: Prompt, thrown: unknown, kit: Kit): Promise<boolean> {
  if (call.auto === null || call.cut || call.others !== null) return false;
  const isOfTheModel = thrown instanceof Failure && thrown !== CALLER_LEFT && !thrown.begun &&
    (isTransient(thrown) || thrown.elsewhere || thrown.overflow !== undefined ||
      OF_THE_MODEL.has(thrown.code));
  return isOfTheModel && await (await anotherModel.open()).chooseAnother(call, prompt, kit);
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
    prepare(upstream, format, providersModel, fit) {
      together?.placed.resolve();
      const encode = () => {
        const request = encodeFor(upstream, format, { providersModel, prompt: sent, model, made });
        if (sent !== prompt) made.dropped = [...made.dropped, PROOF_FIELDS[prompt.format] ?? "reasoning"];
        if (fit === undefined) return request;
        const { body, lost } = fit(request.body, request.headers);
        made.dropped = [...new Set([...made.dropped, ...lost])];
        return { body, headers: request.headers };
      };
      if (arrival.large) return kit.slices.run(arrival.key.id, writtenInSlices(encode), "convert");
      return kit.metrics.holding("convert", () => {
        const { body, headers } = encode();
        return { body: bounded(() => wellFormed(JSON.stringify(body))), headers };
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
    leastTokens: leastTokens(call.size),
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

/** Whether a failure before any content is handled as if the provider had refused the request. */
export function mayAskAgain(failure: Failure, { call, variant }: Asking): boolean {
  return variant === undefined && !call.cut && !failure.begun &&
    (isTransient(failure) || mayFitElsewhere(failure, call.model.contextLength));
}

/**
 * The answer of another route, or else of the same one after a pause, in place of an answer that failed before it had any content. The
 * caller may have its start, which names no provider. Throws the failure if the routes and retries are used up.
 */
export async function askAgain(
  { opened, use }: Answering,
  failure: Failure,
  asking: Asking,
): Promise<Answering> {
  const { call, kit } = asking;
  const routes = asking.routes ?? call.routes;
  const isSame = ({ provider, model, api }: Route) =>
    provider === opened.provider.name && model === opened.model && api === opened.route.api;
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

/** Whether the call is hedged: only if it makes a single provider call. */
export function hedges({ arrival, routes, callerCredential, shape }: Call): boolean {
  return arrival.key.hedge && routes.length > 1 && callerCredential === null && !shape.search &&
    shape.calls === 1;
}

function affordsTwo({ reservation, prompt, model, size, shape, others }: Call): Promise<boolean> {
  const { input, media = 0, output, fees, ...rest } = upperBound(prompt, model, size, shape, others);
  const twice = {
    input: 2 * input,
    media: 2 * media,
    output: 2 * output,
    fees: fees && mapFees(fees, (uses) => 2 * uses),
    requests: 2,
  };
  return reservation.extend(NO_USAGE, { ...rest, ...twice });
}

/** A list of names chosen by callers, in a form that is valid in a header. */
function headerList(names: readonly string[]): string {
  const listed = names.slice(0, MOST_LISTED).map((name) => name.slice(0, 80).replace(/[^ -+\--~]/g, "?"));
  return (names.length > listed.length ? [...listed, "..."] : listed).join(", ");
}
