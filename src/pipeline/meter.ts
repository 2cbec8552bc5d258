/**
 * Stage: counts what passes, and has the ledger write it whatever happens. The record is durable before this stage
 * ends, and the caller's stream is closed only after that.
 *
 * A failed call pays for its searches and not for its tokens. An answer whose provider never reported usage, though it
 * said something, is billed by an estimate, which the caller sees too.
 */
import { withLimit } from "../exchange/context_overflow.ts";
import { Failure, type FailureCode } from "../exchange/failure.ts";
import type { Charge, GenerationEnd } from "../exchange/generation.ts";
import type { Part } from "../exchange/part.ts";
import { priceOf } from "../exchange/prices.ts";
import { keptSteps } from "../exchange/steps.ts";
import { addUsage, atLeast, NO_USAGE, type Usage } from "../exchange/usage.ts";
import { estimateUsage } from "./estimate.ts";
import type { Call, ProviderUse } from "./call.ts";
import type { Kit } from "./kit.ts";

export async function* meter(
  parts: AsyncGenerator<readonly Part[]>,
  call: Call,
  kit: Kit,
): AsyncGenerator<readonly Part[]> {
  let usage: Usage | null = null;
  let searches: number | undefined;
  let said = 0;
  let toolCalls = 0;
  let cut = false;
  let ttft: number | null = null;
  let finished = false;
  let failed: FailureCode | null = null;
  let estimated = false;
  try {
    for await (let batch of parts) {
      ttft ??= kit.now() - call.created;
      for (const part of batch) {
        if (part.type === "text-delta" || part.type === "reasoning-delta" || part.type === "call-delta") {
          said += part.text.length;
        } else if (part.type === "usage") {
          usage = part.usage;
          searches = part.searches ?? searches;
          estimated = part.estimated === true;
          if (estimated) {
            usage = atLeast(usage, estimateUsage(call.size.chars, said));
            batch = batch.with(batch.indexOf(part), { ...part, usage });
          }
        } else if (part.type === "call-start") {
          toolCalls++;
        } else if (part.type === "finish") {
          cut ||= part.reason === "length" || part.reason === "content-filter";
        }
      }
      yield batch;
    }
    if (usage === null && said > 0 && !call.cut) {
      estimated = true;
      usage = estimateUsage(call.size.chars, said);
      yield [{ type: "usage", usage, searches }];
    }
    finished = !call.cut;
  } catch (thrown) {
    const failure = withLimit(Failure.from(thrown), call.model.contextLength);
    failed = failure.code;
    if (failure.operator) kit.log(`${call.arrival.id} ${call.model.id}: ${failure.operator}`);
    throw failure;
  } finally {
    // The stream was ended from outside: its caller had left, and the time to finish without it was over.
    if (!finished && !failed && usage === null && said > 0) {
      estimated = true;
      usage = estimateUsage(call.size.chars, said);
    }
    const { steps } = call.arrival;
    const end: GenerationEnd = {
      status: failed ? "failed" : !finished ? "interrupted" : cut ? "incomplete" : "completed",
      provider: call.provider,
      model: call.model.id,
      errorCode: failed,
      usage: failed || usage === null
        ? null
        : call.lost.length === 0
        ? usage
        : reportedOf(call.lost).reduce((sum, one) => addUsage(sum, one.usage), usage),
      ...(failed || usage === null ? undefined : charges(usage, call)),
      estimated,
      searches: searches ?? 0,
      ttftMs: ttft,
      latencyMs: kit.now() - call.created,
      clientGone: call.arrival.gone(),
      toolCalls,
      ...(call.repaired > 0 && { repaired: call.repaired }),
      ...(steps.followed !== null && { trace: steps.followed.traceId ?? undefined }),
      ...(steps.list !== null && { steps: keptSteps(steps.list, call.created) }),
      dlp: call.screened && { mode: call.screened.mode, findings: call.screened.findings },
    };
    if (failed && call.provider === null && !searches) await call.reservation.release(failed);
    else await call.reservation.settle(end);
    kit.metrics.generated(call.model.id, end);
    steps.followed?.ended(end, call.labels);
  }
}

/**
 * What each call of a provider is billed by. What was estimated is billed as one call of the tier that was asked for. Calls
 * with the caller's own credential are not billed.
 */
function charges(
  usage: Usage,
  { uses, lost, sheet, prompt, passing }: Call,
): Pick<GenerationEnd, "charges" | "unbilled"> {
  const priced = ({ usage, service }: { usage: Usage; service: string | undefined }): Charge => {
    const { prices, version } = priceOf(sheet, usage.input, service ?? prompt.serviceTier);
    return { usage, prices, version };
  };
  // As most calls are: one call of a provider.
  if (uses.length === 1 && lost.length === 0 && passing === null) {
    const { usage: told, service } = uses[0];
    const whole = told !== null && told.input === usage.input && told.output === usage.output;
    return { charges: [priced({ usage: whole ? told : usage, service })] };
  }
  const reported = reportedOf(uses);
  const sum = reported.length === 1
    ? reported[0].usage
    : reported.reduce<Usage>((sum, { usage }) => addUsage(sum, usage), NO_USAGE);
  const whole = sum.input === usage.input && sum.output === usage.output;
  const last = uses.at(-1);
  const counted = whole ? reported : [{ usage, service: last?.service, own: last?.own }];
  if (passing === null) return { charges: [...counted, ...reportedOf(lost)].map(priced) };
  return {
    charges: counted.filter(({ own }) => !own).map(priced),
    unbilled: counted.filter(({ own }) => own).map(priced),
  };
}

function reportedOf(uses: readonly ProviderUse[]) {
  return uses.filter((use): use is ProviderUse & { usage: Usage } => use.usage !== null);
}
