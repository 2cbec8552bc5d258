/** The charges of provider calls. */
import type { Charge, GenerationEnd } from "../exchange/generation.ts";
import { addFees, exceedsFees, type Fees, mapFees } from "../exchange/fees.ts";
import { priceOf, searchPriceOf, versionOfModel } from "../exchange/prices.ts";
import { addUsage, NO_USAGE, subtractUsage, type Usage } from "../exchange/usage.ts";
import { type Model, sheetOf } from "../models/catalog.ts";
import { answeredBy, type Call, type ProviderUse } from "./call.ts";

/** A use with its usage. */
interface Counted extends Omit<ProviderUse, "usage"> {
  usage: Usage;
  /** Input tokens of each call, where it is that of several. Absent: the usage's. */
  each?: number;
  /** Number of calls. Absent: one. */
  requests?: number;
}

/**
 * Adds the charge of each provider call. Estimated usage is billed in the requested service tier. Calls with the caller's own
 * credential are not billed.
 */
export function addCharges(end: GenerationEnd, usage: Usage, call: Call): void {
  const { uses, lost, callerCredential, others } = call;
  // Fast path: most calls make one provider call.
  if (uses.length === 1 && lost.length === 0 && callerCredential === null && others === null) {
    const { usage: reportedUsage, service, fees } = uses[0];
    const whole = reportedUsage !== null && reportedUsage.input === usage.input &&
      reportedUsage.output === usage.output;
    const only = charge(whole ? reportedUsage : usage, service, call);
    if (fees !== undefined) only.fees = fees;
    end.charges = [only];
    return;
  }
  const reported = reportedOf(uses);
  const sum = reported.length === 1
    ? reported[0].usage
    : reported.reduce<Usage>((sum, { usage }) => addUsage(sum, usage), NO_USAGE);
  const whole = sum.input === usage.input && sum.output === usage.output;
  const counted: Counted[] = whole ? reported : withEstimated(reported, usage, sum, uses);
  const priced = (use: Counted) => chargesOf(use, call);
  if (callerCredential === null) {
    end.charges = [...counted, ...reportedOf(lost)].flatMap(priced);
    return;
  }
  end.charges = counted.filter(({ own }) => !own).flatMap(priced);
  end.unbilled = counted.filter(({ own }) => own).flatMap(priced);
}

/** What was reported, and the rest of what was used. */
function withEstimated(
  reported: Counted[],
  usage: Usage,
  sum: Usage,
  uses: readonly ProviderUse[],
): Counted[] {
  const silent = uses.filter((use) => use.usage === null);
  const { service, own, served } = silent.at(-1) ?? uses.at(-1) ?? { service: undefined };
  // A call was ended before all that it has used was passed on.
  if (usage.input < sum.input || usage.output < sum.output) {
    const fees = reported.reduce<Fees | undefined>((sum, use) => addFees(sum, use.fees), undefined);
    return [{ usage, service, own, served, requests: uses.length, fees }];
  }
  const rest = subtractUsage(usage, sum);
  const each = silent.length > 0 ? rest.input / silent.length : uses.at(-1)?.usage?.input;
  return [...reported, { usage: rest, service, own, served, each, requests: silent.length }];
}

function charge(usage: Usage, service: string | undefined, { sheet, prompt }: Call): Charge {
  const { prices, version } = priceOf(sheet, usage.input, service ?? prompt.serviceTier);
  return { usage, prices, version };
}

/** Several charges, if other models generated a part of it. */
function chargesOf(use: Counted, call: Call): Charge[] {
  const { usage, service, served, beside = [] } = use;
  if (served === undefined && beside.length === 0) return [chargeAt(call.model, usage, use, call)];
  const rest = beside.reduce((left, one) => subtractUsage(left, one.usage), usage);
  return [
    chargeAt(served ?? call.model, rest, use, call),
    // Within the same request.
    ...beside.map((one) => chargeAt(one.model, one.usage, { service, requests: 0 }, call)),
  ];
}

/** A charge at a model's prices. The price version names the model if it differs from the record's. */
function chargeAt(
  model: Model,
  usage: Usage,
  { service, each = usage.input, requests, fees }: Pick<Counted, "service" | "each" | "requests" | "fees">,
  call: Call,
): Charge {
  const sheet = model === call.model ? call.sheet : sheetOf(model, call.created);
  const { prices, version } = priceOf(sheet, each, service ?? call.prompt.serviceTier);
  return {
    usage,
    prices,
    version: model === answeredBy(call) ? version : versionOfModel(version, model.id),
    ...(requests !== undefined && { requests }),
    ...(fees !== undefined && { fees }),
  };
}

/** The uses with reported usage. */
function reportedOf(uses: readonly ProviderUse[]): Counted[] {
  return uses.filter((use): use is ProviderUse & { usage: Usage } => use.usage !== null);
}

/** The usage with that of cancelled calls. */
export function withLost(usage: Usage, { lost }: Pick<Call, "lost">): Usage {
  return lost.length === 0 ? usage : reportedOf(lost).reduce((sum, one) => addUsage(sum, one.usage), usage);
}

/**
 * The price of a search: that of the tier in which the last provider call was served, of the model, or of the gateway at the
 * time of the admission. Undefined: there is none.
 */
export function searchPrice(call: Call): string | undefined {
  const { uses, model: asked, prompt, created } = call;
  const { served: model = asked, usage, service } = uses.at(-1) ?? { usage: null, service: undefined };
  const sheet = model === asked ? call.sheet : sheetOf(model, created);
  return searchPriceOf(sheet, usage?.input ?? 0, service ?? prompt.serviceTier) ?? call.searchPrice;
}

/** The uses of provider's tools that have a fee, without those with the caller's own credential. */
export function billedFees({ uses, lost }: Pick<Call, "uses" | "lost">): Fees | undefined {
  let sum: Fees | undefined;
  for (const { fees, own } of uses) if (!own) sum = addFees(sum, fees);
  for (const { fees } of lost) sum = addFees(sum, fees);
  return sum;
}

/** Whether some provider call reports more of them than `most`. */
export function exceedFees({ uses, lost }: Pick<Call, "uses" | "lost">, most: Fees | undefined): boolean {
  return [...uses, ...lost].some(({ own, fees }) => !own && fees !== undefined && exceedsFees(fees, most));
}

/** Bills no more of them than `most` for each provider call. */
export function capFees({ uses, lost }: Pick<Call, "uses" | "lost">, most: Fees | undefined): void {
  for (const use of [...uses, ...lost]) {
    if (use.own || use.fees === undefined) continue;
    use.fees = mapFees(use.fees, (count, kind) => Math.min(count, most?.[kind] ?? 0));
  }
}

/** Number of searches that providers ran themselves. */
export function searchesOf(uses: readonly ProviderUse[]): number {
  return uses.reduce((sum, { searches = 0 }) => sum + searches, 0);
}

/** Number of searches that providers ran with the caller's own credential. */
export function ownSearches({ uses, callerCredential }: Pick<Call, "uses" | "callerCredential">): number {
  return callerCredential === null ? 0 : searchesOf(uses.filter(({ own }) => own));
}
