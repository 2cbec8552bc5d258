/** Records the usage reported by provider calls, for billing. */
import { countOf } from "../../exchange/printable.ts";
import type { Part, UsedModels } from "../../exchange/part.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import type { Begun } from "./begin_answer.ts";
import type { Call, ProviderUse } from "../call.ts";
import { askedLength, mostOutput, Said } from "../estimate.ts";
import type { Kit } from "../kit.ts";
import { servedModel, withLargestLimits } from "../admission/other_models.ts";
import { plausible } from "./plausible.ts";

/** Bills a cancelled call for its output so far. */
export function bill(
  { batch, reader }: Begun,
  { prompt, provider }: { prompt: Prompt; provider: string },
  call: Call,
  kit: Kit,
): void {
  const use: ProviderUse = { usage: null, service: undefined, provider };
  noteUsage(batch, prompt, { call, use }, kit);
  const isWhole = use.usage !== null;
  const counted = isWhole ? null : reader?.counted ?? null;
  if (counted !== null) noteUsage([counted], prompt, { call, use }, kit);
  const said = new Said();
  for (const part of batch) said.take(part);
  use.estimated = !isWhole || batch.some((part) => part.type === "usage" && part.estimated);
  if (!isWhole) {
    const estimate = said.estimate(askedLength(call.size), mostOutput(call) * (prompt.n ?? 1));
    if (use.usage !== null) use.usage = { ...use.usage, output: Math.max(use.usage.output, estimate.output) };
    else if (!said.isNothing) use.usage = estimate;
  }
  if (use.usage !== null) call.lost.push(use);
}

/** Records billed usage. Implausible values in a report are limited; these and invalid counts are logged. */
export function noteUsage(
  batch: Part[],
  prompt: Prompt,
  { call, use }: { call: Call; use: ProviderUse },
  kit: Kit,
): void {
  for (let i = 0; i < batch.length; i++) {
    const part = batch[i];
    if (part.type !== "usage") {
      if (call.others !== null && part.type === "start") noteServed(part.model, call, use, kit);
      continue;
    }
    const bounded = plausible(
      part,
      prompt,
      call.others === null ? call.model : withLargestLimits(call.model, call.others),
    );
    use.usage = bounded.usage;
    if (call.others !== null) {
      noteModels(bounded.usage === part.usage ? part.models : undefined, call, use, kit);
    }
    use.service = part.service ?? use.service;
    if (bounded.searches !== undefined) use.searches = bounded.searches;
    if (bounded.fees !== undefined) use.fees = bounded.fees;
    if (bounded === part && !part.estimated) continue;
    batch[i] = bounded;
    const say = (what: string) => kit.log(`${call.arrival.id} ${call.model.id}: ${what}`, "warn");
    if (bounded.searches !== part.searches) {
      say(
        `the provider reports ${
          countOf(part.searches ?? 0, "search", "searches")
        } of its own; billed: ${bounded.searches}`,
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

/** @param name the provider's name of the model that answers */
function noteServed(name: string | undefined, call: Call, use: ProviderUse, kit: Kit): void {
  const model = name === undefined ? null : servedModel(name, askedOf(call, use), kit);
  use.served = model === null || model === call.model ? undefined : model;
}

function noteModels(models: UsedModels | undefined, call: Call, use: ProviderUse, kit: Kit): void {
  if (models === undefined) return;
  if (models.served !== undefined) noteServed(models.served, call, use, kit);
  use.beside = models.beside.flatMap(({ model: name, usage }) => {
    const model = servedModel(name, askedOf(call, use), kit);
    return model === null ? [] : [{ model, usage }];
  });
}

function askedOf({ model, others }: Call, { provider = "" }: ProviderUse) {
  return { provider, asked: model, others: others! };
}
