/**
 * Usage as a provider reports it, bounded by what a model can hold: a report beyond that is a fault of the provider's, which
 * must neither be billed nor make sums that no database can hold.
 */
import type { Part } from "../exchange/part.ts";
import type { Prompt } from "../exchange/prompt.ts";
import { normalizeUsage } from "../exchange/usage.ts";
import type { Model } from "../models/catalog.ts";

/** The longest context that there is, for models whose own is not known. */
const LONGEST_CONTEXT = 10_000_000;
/** Rounds that a provider's own tools may take within one call. */
const TOOL_ROUNDS = 20;

type UsagePart = Extract<Part, { type: "usage" }>;

/** The part itself, or one whose counts are cut and which is marked as an estimate. */
export function plausible(part: UsagePart, prompt: Prompt, model: Model): UsagePart {
  const rounds = prompt.tools.some((tool) => tool.kind === "opaque") ? TOOL_ROUNDS : 1;
  const context = model.contextLength ?? LONGEST_CONTEXT;
  const input = context * rounds;
  const output = Math.max(context, model.maxCompletion ?? 0) * (prompt.n ?? 1) * rounds;
  const { usage } = part;
  if (usage.input <= input && usage.output <= output) return part;
  return {
    ...part,
    usage: normalizeUsage({
      ...usage,
      input: Math.min(usage.input, input),
      output: Math.min(usage.output, output),
    }),
    estimated: true,
  };
}
