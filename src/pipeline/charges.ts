/** What each call of a provider is billed by. */
import type { Charge, GenerationEnd } from "../exchange/generation.ts";
import { priceOf, versionOfModel } from "../exchange/prices.ts";
import { addUsage, NO_USAGE, subtractUsage, type Usage } from "../exchange/usage.ts";
import { type Model, sheetOf } from "../models/catalog.ts";
import { answeredBy, type Call, type ProviderUse } from "./call.ts";

/** A use with its usage. */
type Counted = Omit<ProviderUse, "usage"> & { usage: Usage };

/**
 * Adds what each call of a provider is billed by. What was estimated is billed as one call of the tier that was asked for. Calls
 * with the caller's own credential are not billed.
 */
export function addCharges(end: GenerationEnd, usage: Usage, call: Call): void {
  const { uses, lost, passing, others } = call;
  // As most calls are: one call of a provider.
  if (uses.length === 1 && lost.length === 0 && passing === null && others === null) {
    const { usage: told, service } = uses[0];
    const whole = told !== null && told.input === usage.input && told.output === usage.output;
    end.charges = [charge(whole ? told : usage, service, call)];
    return;
  }
  const reported = reportedOf(uses);
  const sum = reported.length === 1
    ? reported[0].usage
    : reported.reduce<Usage>((sum, { usage }) => addUsage(sum, usage), NO_USAGE);
  const whole = sum.input === usage.input && sum.output === usage.output;
  const last = uses.at(-1);
  const counted: Counted[] = whole
    ? reported
    : [{ usage, service: last?.service, own: last?.own, served: last?.served }];
  const priced = (use: Counted) => chargesOf(use, call);
  if (passing === null) {
    end.charges = [...counted, ...reportedOf(lost)].flatMap(priced);
    return;
  }
  end.charges = counted.filter(({ own }) => !own).flatMap(priced);
  end.unbilled = counted.filter(({ own }) => own).flatMap(priced);
}

function charge(usage: Usage, service: string | undefined, { sheet, prompt }: Call): Charge {
  const { prices, version } = priceOf(sheet, usage.input, service ?? prompt.serviceTier);
  return { usage, prices, version };
}

/** Several where other models had a part of it. */
function chargesOf({ usage, service, served, beside = [] }: Counted, call: Call): Charge[] {
  if (served === undefined && beside.length === 0) return [chargeAt(call.model, usage, service, call)];
  const rest = beside.reduce((left, one) => subtractUsage(left, one.usage), usage);
  return [
    chargeAt(served ?? call.model, rest, service, call),
    ...beside.map((one) => chargeAt(one.model, one.usage, service, call)),
  ];
}

/** At a model's prices. The version says the model, if it is another than the record's. */
function chargeAt(model: Model, usage: Usage, service: string | undefined, call: Call): Charge {
  const sheet = model === call.model ? call.sheet : sheetOf(model, call.created);
  const { prices, version } = priceOf(sheet, usage.input, service ?? call.prompt.serviceTier);
  return { usage, prices, version: model === answeredBy(call) ? version : versionOfModel(version, model.id) };
}

/** Those whose provider has said what they used. */
export function reportedOf(uses: readonly ProviderUse[]): Counted[] {
  return uses.filter((use): use is ProviderUse & { usage: Usage } => use.usage !== null);
}
