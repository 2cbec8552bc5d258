/**
 * The upper bound of a call's usage, for its reservation: no provider may bill more than this, whatever the request asks for.
 *
 * If the request sets no maximum output, the model's maximum is reserved. If the budget does not suffice, the accounts may grant less,
 * down to {@link LEAST_UNCAPPED}; the granted number is then sent to the provider as the maximum.
 */
import { type Estimate, hasOutputPrice } from "../../accounts/mod.ts";
import { addFees, type Fees, mapFees } from "../../exchange/fees.ts";
import { isObject, type Loose, rounded } from "../../exchange/json.ts";
import { marksHour, type Prompt } from "../../exchange/prompt.ts";
import type { Model } from "../../models/catalog.ts";
import { compactsElsewhere } from "../../models/provider_additions.ts";
import { mostInput, type PromptSize, TOOL_ROUNDS } from "../../models/limits.ts";
import type { Call, Others } from "../call.ts";
import { isFree } from "./caller_credential.ts";
import { withLargestLimits } from "./other_models.ts";
import { USUAL_ATTACHMENT } from "../estimate.ts";
import { MOST_IDLE_ROUNDS, searchLimit, type Shape } from "../shape.ts";

/** Maximum output for models with an unknown maximum. It is sent to the provider. */
const UNKNOWN_OUTPUT = 16_384;
/** The longest context that there is, for models whose own is not known. */
const LONGEST_CONTEXT = 400_000;
/** Minimum grant for a request without a maximum output, and the output that rate limits count for such a request. */
const LEAST_UNCAPPED = 4096;
/** Some providers refuse a smaller maximum, so it is raised to this. */
const LEAST_CAP = 16;
/** Average characters per token, for rate limits, which count the actual usage once the call has ended. */
const CHARS_PER_TOKEN = 3;
/** Typical text that a search adds to the prompt. */
const SEARCH_RESULTS = 10_000;
/** Maximum that a search adds, in bytes: 20 results with title and URL, and their text with three bytes for each character. */
const MOST_RESULTS = 20 * 2600 + 16_000 * 3;
/** Output of a compaction (a summary). */
const SUMMARY = 16_384;
/** Search rounds that are reserved at the beginning; further rounds extend the reservation. */
const SEARCH_ROUNDS = 2;

/**
 * Limits the maximum output to that of the model, and sets one if the output has a price and no other limit.
 * @param others additional models that may answer with the same maximum; null: none
 */
export function capOutput(prompt: Prompt, model: Model, size: PromptSize, others: Others | null): void {
  const { maxCompletion, defaultOutput } = model;
  if (prompt.maxOutput === undefined) {
    const models = others === null ? [model] : [model, ...others.models];
    const known = models.map((one) => one.maxCompletion).filter((most) => most !== null);
    if (defaultOutput) prompt.maxOutput = defaultOutput;
    else if (known.length < models.length && models.some(mayCostOutput)) {
      const { contextLength } = withLargestLimits(model, others);
      const room = (contextLength ?? Infinity) - Math.ceil(size.chars / CHARS_PER_TOKEN);
      prompt.maxOutput = Math.min(
        Math.max(UNKNOWN_OUTPUT, ...known),
        Math.max(LEAST_UNCAPPED / 4, room),
      );
    }
  }
  if (prompt.maxOutput !== undefined && maxCompletion !== null) {
    prompt.maxOutput = Math.min(prompt.maxOutput, maxCompletion);
  }
}

/** Whether output has a price in any tier, at any time. */
function mayCostOutput({ pricing, sheets = [] }: Model): boolean {
  return hasOutputPrice(pricing) ||
    sheets.some(({ prices, tiers }) =>
      hasOutputPrice(prices) || tiers.some((tier) => hasOutputPrice(tier.prices))
    );
}

/** @param others additional models that may answer or be called; null: none */
export function upperBound(
  prompt: Prompt,
  asked: Model,
  size: PromptSize,
  { calls, search }: Shape,
  others: Others | null,
): Estimate {
  const model = withLargestLimits(asked, others);
  const { text, media } = mostInput(size, model.contextLength);
  const limits = limitsInUnknownFields(prompt, model);
  const n = Math.max(prompt.n ?? 1, limits.answers);
  const cap = Math.max(LEAST_CAP, prompt.maxOutput ?? model.maxCompletion ?? LEAST_UNCAPPED, limits.cap);
  const rounds = (search ? SEARCH_ROUNDS : 1) * readings(prompt);
  const elsewhere = size.rounds ?? 1;
  const beside = besideAnswer(prompt);
  const usual = Math.ceil(size.chars / CHARS_PER_TOKEN) + size.attachments * USUAL_ATTACHMENT;
  const estimate = {
    input: text * calls * rounds + (search ? SEARCH_RESULTS : 0),
    media: media * calls * rounds * elsewhere,
    ...(elsewhere > 1 && { leastMedia: media * calls * rounds }),
    output: cap * n + beside,
    ...(prompt.maxOutput === undefined &&
      { leastOutput: Math.max(Math.min(cap, LEAST_UNCAPPED), limits.cap) * n + beside }),
    searches: (search ? 1 : 0) + (elsewhere > 1 ? TOOL_ROUNDS : 0),
    ...(size.fees && { fees: mapFees(size.fees, (uses) => uses * calls * (search ? SEARCH_ROUNDS : 1)) }),
    requests: calls * (search ? SEARCH_ROUNDS : 1),
    hourCache: marksHour(prompt),
    usual: usual + Math.min(cap, LEAST_UNCAPPED) * n,
  };
  return others === null ? estimate : withOthers(estimate, cap, others);
}

/** The same for all rounds of a request with search, however many the model asks for. */
export function upperBoundOfAll(
  prompt: Prompt,
  asked: Model,
  size: PromptSize,
  shape: Shape,
  others: Others | null,
): Estimate {
  const first = upperBound(prompt, asked, size, shape, others);
  if (!shape.search) return first;
  const model = withLargestLimits(asked, others);
  const limit = searchLimit(prompt.search ?? {});
  const { output } = first;
  const cap = prompt.maxOutput ?? model.maxCompletion ?? 0;
  const rounds = limit + MOST_IDLE_ROUNDS + 2;
  let [input, media] = [0, 0];
  // The usage is highest if each search has its own round, followed by rounds without a search.
  for (let round = 0; round < rounds; round++) {
    const added = round === 0 ? 0 : Math.min(round, limit) * MOST_RESULTS + output;
    const next = nextRound({ prompt, model, size, others }, { added, output: cap, searches: 0, requests: 0 });
    input += next.input;
    media += next.media ?? 0;
  }
  return {
    ...first,
    input,
    media,
    searches: first.searches - 1 + limit,
    ...(size.fees && { fees: mapFees(size.fees, (uses) => uses * rounds) }),
    requests: rounds,
  };
}

/** Without the searches that the provider runs itself, if it is called with the caller's own credential on every route. */
export function withoutOwnSearches(
  estimate: Estimate,
  size: PromptSize,
  { routes, callerCredential }: Pick<Call, "routes" | "callerCredential">,
): Estimate {
  if (size.rounds === undefined || callerCredential === null || !isFree(routes, callerCredential)) {
    return estimate;
  }
  return { ...estimate, searches: estimate.searches - TOOL_ROUNDS };
}

/** Output of tools is granted as far as the budget suffices, since the number of their calls is unknown, but for one image at least. */
function withOthers(estimate: Estimate, cap: number, { tries, advice, image }: Others): Estimate {
  const { input, media = 0, leastMedia, output, leastOutput = output } = estimate;
  const times = 1 + tries.length;
  const more = tries.reduce((sum, own) => sum + Math.max(cap, own), 0);
  return {
    ...estimate,
    input: input * times,
    media: media * times,
    ...(leastMedia !== undefined && { leastMedia: leastMedia * times }),
    output: output + more + advice,
    ...((advice > 0 || leastOutput < output) && { leastOutput: leastOutput + more + image }),
  };
}

/** The maximum output of each answer if fewer tokens were granted than requested. */
export function grantedCap(prompt: Prompt, model: Model, granted: number): number {
  const answers = Math.max(prompt.n ?? 1, limitsInUnknownFields(prompt, model).answers);
  return Math.max(1, Math.floor((granted - besideAnswer(prompt)) / answers));
}

interface Round {
  prompt: Prompt;
  /** The one with the largest limits of all that may answer. */
  model: Model;
  size: PromptSize;
  others: Others | null;
}

/**
 * One more round of a request that has used so much.
 * @param added bytes that were added to the prompt
 * @param searches those of the whole request, as `requests`
 * @param fees those of the earlier rounds
 */
export function nextRound(
  { prompt, model, size, others }: Round,
  { added, output, searches, requests, fees }: {
    added: number;
    output: number;
    searches: number;
    requests: number;
    fees?: Fees;
  },
): Estimate {
  const { text, media } = mostInput({ ...size, bytes: size.bytes + added }, model.contextLength);
  const elsewhere = size.rounds ?? 1;
  const times = readings(prompt);
  const limits = limitsInUnknownFields(prompt, model);
  const estimate = {
    input: text * times,
    media: media * times * elsewhere,
    ...(elsewhere > 1 && { leastMedia: media * times }),
    output: Math.max(output, limits.cap) * limits.answers + besideAnswer(prompt),
    searches,
    fees: addFees(fees, size.fees),
    requests,
    hourCache: marksHour(prompt),
  };
  return others === null ? estimate : withOthers(estimate, output, others);
}

/** Names that other APIs have for the maximum output, and for the number of answers. */
const CAPS = /^max_?(?:completion_|output_|new_|gen_)?(?:tokens|length|len)$|^num_predict$/i;
const ANSWERS = /^(?:n|best_of|num_(?:generations|return_sequences)|candidate_?count)$/i;
/** Fields with further settings of a provider's own. */
const NESTS = /^(?:extra_body|options|generation_?config|parameters)$/i;
const MOST_ANSWERS = 128;

/** What the caller says by such names, which a lenient provider of the caller's format may heed although the format has others. */
function limitsInUnknownFields({ unknown }: Prompt, { contextLength, maxCompletion }: Model) {
  const limits = { cap: 0, answers: 1 };
  const read = (fields: Loose, depth: number) => {
    for (const name in fields) {
      const value = rounded(fields[name]);
      if (isObject(value)) {
        if (depth === 0 && NESTS.test(name)) read(value, depth + 1);
        continue;
      }
      if (typeof value !== "number" && typeof value !== "string") continue;
      const count = Math.ceil(Number(value));
      if (!(count > 0)) continue;
      if (CAPS.test(name)) limits.cap = Math.max(limits.cap, count);
      else if (ANSWERS.test(name)) limits.answers = Math.max(limits.answers, count);
    }
  };
  read(unknown, 0);
  // No model writes more.
  limits.cap = Math.min(limits.cap, Math.max(contextLength ?? LONGEST_CONTEXT, maxCompletion ?? 0));
  limits.answers = Math.min(limits.answers, MOST_ANSWERS);
  return limits;
}

/** How often a provider reads the prompt for one answer: to compact it, it does so once more. */
function readings(prompt: Prompt): number {
  return compactsElsewhere(prompt) ? 2 : 1;
}

/** Output that is billed beside the answer: a predicted one that it departs from, and the summary of a compaction. */
function besideAnswer(prompt: Prompt): number {
  const { prediction } = prompt.unknown;
  const predicted = prediction === undefined || prediction === null
    ? 0
    : JSON.stringify(prediction).length * 3;
  return predicted + (compactsElsewhere(prompt) ? SUMMARY : 0);
}
