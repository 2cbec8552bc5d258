/**
 * Limits the usage that a provider reports to what the model can process. A larger report is an error of the provider, which must not be
 * billed and could overflow the sums in the database.
 */
import { exceedsFees, FEE_KINDS, type Fees, mapFees } from "../../exchange/fees.ts";
import type { UsagePart } from "../../exchange/part.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import { normalizeUsage } from "../../exchange/usage.ts";
import type { Model } from "../../models/catalog.ts";
import { compactsElsewhere, roundsElsewhere } from "../../models/provider_additions.ts";
import { TOOL_ROUNDS } from "../../models/limits.ts";

/** The longest existing context, for models with an unknown context length. */
const LONGEST_CONTEXT = 10_000_000;

/** More searches than a provider runs within one call: models for research run a hundred. */
const MOST_SEARCHES = 1000;
const MOST_FEES: Fees = Object.fromEntries(FEE_KINDS.map((kind) => [kind, MOST_SEARCHES]));

/** A count that cannot be true says nothing; so many are reserved for a call with tools of the provider. */
const believable = (uses: number) => uses <= MOST_SEARCHES ? uses : TOOL_ROUNDS;

/**
 * Returns the part, or a copy with limited counts that is marked as an estimate. Searches in the provider's report are the provider's own,
 * since the gateway counts the searches that it runs. Some models search without a search tool in the request.
 */
export function plausible(part: UsagePart, prompt: Prompt, model: Model): UsagePart {
  const several = roundsElsewhere(prompt) || compactsElsewhere(prompt);
  const rounds = several ? TOOL_ROUNDS : 1;
  const context = model.contextLength ?? LONGEST_CONTEXT;
  const input = context * rounds;
  const output = Math.max(context, model.maxCompletion ?? 0) * (prompt.n ?? 1) * rounds;
  const { usage, searches: reported, fees, ...rest } = part;
  const few = (reported === undefined || reported <= MOST_SEARCHES) &&
    (fees === undefined || !exceedsFees(fees, MOST_FEES));
  const fits = usage.input <= input && usage.output <= output;
  if (few && fits) return part;
  return {
    ...rest,
    ...(reported !== undefined && { searches: believable(reported) }),
    ...(fees && { fees: mapFees(fees, believable) }),
    usage: fits ? usage : normalizeUsage({
      ...usage,
      input: Math.min(usage.input, input),
      output: Math.min(usage.output, output),
    }),
    ...(!fits && { estimated: true }),
  };
}
