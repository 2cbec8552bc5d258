/**
 * Stage: counts what passes, and has the ledger write it whatever happens. The record is durable before this stage
 * ends, and the caller's stream is closed only after that.
 *
 * A failed call pays for its searches and not for its tokens. An answer whose provider never reported usage, though it
 * said something, is billed by an estimate, which the caller sees too.
 */
import { countOf } from "../exchange/printable.ts";
import { withLimit } from "../exchange/context_overflow.ts";
import { Failure, type FailureCode } from "../exchange/failure.ts";
import type { GenerationEnd } from "../exchange/generation.ts";
import type { Part } from "../exchange/part.ts";
import { keptSteps } from "../exchange/steps.ts";
import { addUsage, atLeast, NO_USAGE, type Usage } from "../exchange/usage.ts";
import { estimateUsage } from "./estimate.ts";
import { answeredBy, type Call, elapsed, type Parts } from "./call.ts";
import { CALLER_LEFT } from "../providers/refusals.ts";
import { addCharges, reportedOf } from "./charges.ts";
import type { Kit } from "./kit.ts";
import { MeteredParts } from "./metered_parts.ts";
import type { Took } from "./whole_parts.ts";

/** The call's parts as they pass. */
export function meter(parts: AsyncGenerator<readonly Part[]>, call: Call, kit: Kit): Parts {
  return new MeteredParts(parts, new Meter(call, kit));
}

/** The same with no stage in between: these are the parts of {@link generate}. */
export function meterPlain(parts: AsyncGenerator<readonly Part[]>, call: Call, kit: Kit): Parts {
  return new MeteredParts(parts, new Meter(call, kit), (onward) => call.onward = onward);
}

/** The same for an answer that nobody has before it is whole. @param ask tells of its parts as they come */
export async function meterWhole(
  ask: (took: Took) => Promise<void>,
  took: Took,
  { call, kit }: { call: Call; kit: Kit },
): Promise<void> {
  const meter = new Meter(call, kit);
  try {
    await ask((batch) => took(meter.take(batch)));
    const rest = meter.rest();
    if (rest !== null) took(rest);
    meter.finish();
  } catch (thrown) {
    throw meter.failed(thrown);
  } finally {
    await meter.settle();
  }
}

class Meter {
  readonly #call: Call;
  readonly #kit: Kit;
  #usage: Usage | null = null;
  #searches: number | undefined;
  #said = 0;
  #toolCalls = 0;
  #cut = false;
  #ttft: number | null = null;
  #finished = false;
  #failed: FailureCode | null = null;
  #estimated = false;
  #left = false;

  constructor(call: Call, kit: Kit) {
    this.#call = call;
    this.#kit = kit;
  }

  /** What goes on of these parts. */
  take(batch: readonly Part[]): readonly Part[] {
    const call = this.#call;
    this.#ttft ??= elapsed(call, this.#kit);
    let given = batch;
    for (let i = 0; i < batch.length; i++) {
      const part = batch[i];
      if (part.type === "text-delta" || part.type === "reasoning-delta" || part.type === "call-delta") {
        this.#said += part.text.length;
      } else if (part.type === "usage") {
        this.#usage = part.usage;
        this.#searches = part.searches ?? this.#searches;
        this.#estimated = part.estimated === true;
        if (!this.#estimated) continue;
        const usage = this.#usage = atLeast(part.usage, estimateUsage(call.size.chars, this.#said));
        given = given.with(i, { ...part, usage });
      } else if (part.type === "call-start") {
        this.#toolCalls++;
      } else if (part.type === "finish") {
        this.#cut ||= part.reason === "length" || part.reason === "content-filter";
      }
    }
    return given;
  }

  /** What the provider left out, at the end of its answer; null: nothing. */
  rest(): Part[] | null {
    if (this.#usage !== null || this.#said === 0 || this.#call.cut) return null;
    this.#estimated = true;
    const usage = this.#usage = estimateUsage(this.#call.size.chars, this.#said);
    return [{ type: "usage", usage, searches: this.#searches }];
  }

  finish(): void {
    this.#finished = !this.#call.cut;
  }

  failed(thrown: unknown): Failure {
    const { arrival, model } = this.#call;
    this.#left = thrown === CALLER_LEFT;
    const failure = withLimit(Failure.from(thrown), model.contextLength);
    this.#failed = failure.code;
    if (failure.operator) this.#kit.log(`${arrival.id} ${model.id}: ${failure.operator}`);
    return failure;
  }

  /** Resolves when the record is durable. */
  async settle(): Promise<void> {
    const call = this.#call;
    const kit = this.#kit;
    const failed = this.#failed;
    // The stream was ended from outside: its caller had left, and the time to finish without it was over.
    if (!this.#finished && !failed && this.#usage === null && this.#said > 0) {
      this.#estimated = true;
      this.#usage = estimateUsage(call.size.chars, this.#said);
    }
    const usage = failed ? null : this.#usage;
    const searches = this.#searches ? await this.#billedSearches(this.#searches, usage) : 0;
    const { steps } = call.arrival;
    const end: GenerationEnd = {
      status: failed ? "failed" : !this.#finished ? "interrupted" : this.#cut ? "incomplete" : "completed",
      provider: call.provider,
      model: answeredBy(call).id,
      errorCode: failed,
      usage: usage === null || call.lost.length === 0
        ? usage
        : reportedOf(call.lost).reduce((sum, one) => addUsage(sum, one.usage), usage),
      estimated: usage !== null &&
        (this.#estimated || call.lost.some(({ estimated }) => estimated === true)),
      searches,
      ttftMs: this.#ttft,
      latencyMs: elapsed(call, kit),
      clientGone: call.arrival.gone(),
      toolCalls: this.#toolCalls,
      dlp: call.screened && { mode: call.screened.mode, findings: call.screened.findings },
    };
    // Not spread into it: V8 would do that field by field, in its slow way.
    if (usage !== null) addCharges(end, usage, call);
    if (call.repaired > 0) end.repaired = call.repaired;
    if (steps.followed !== null) end.trace = steps.followed.traceId ?? undefined;
    if (steps.list !== null) end.steps = keptSteps(steps.list, call.began);
    if (failed && call.provider === null && searches === 0) {
      await call.reservation.release(this.#left ? undefined : failed);
    } else await call.reservation.settle(end);
    kit.metrics.generated(answeredBy(call).id, end);
    steps.followed?.ended(end, call.labels);
  }

  /**
   * Some models search though the request has no tool of their provider's, and nothing is reserved for that: what there is
   * no money for is not billed, so that a thousand such calls at once do not pass a limit.
   */
  async #billedSearches(searches: number, usage: Usage | null): Promise<number> {
    const { shape, size, reservation, arrival, model } = this.#call;
    if (shape.search || size.rounds !== undefined) return searches;
    const next = { input: 0, output: 0, searches };
    if (await reservation.extend(usage ?? NO_USAGE, next)) return searches;
    this.#kit.log(
      `${arrival.id} ${model.id}: the provider reports ${
        countOf(searches, "search", "searches")
      } of its own that no budget has room for; none of them is billed`,
    );
    return 0;
  }
}
