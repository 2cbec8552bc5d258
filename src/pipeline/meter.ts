/**
 * Stage: counts the usage of an answer and writes its record to the ledger, whatever the outcome. The record is durable before this stage
 * ends, and the caller's stream is closed only after that.
 *
 * A failed call is billed for its searches, but not for its tokens. An answer whose provider reported no usage is billed by an estimate,
 * which is also sent to the caller.
 */
import { countOf } from "../exchange/printable.ts";
import { withLimit } from "../exchange/context_overflow.ts";
import type { Fees } from "../exchange/fees.ts";
import { Failure, type FailureCode } from "../exchange/failure.ts";
import type { GenerationEnd } from "../exchange/generation.ts";
import type { Part } from "../exchange/part.ts";
import { keptSteps } from "../exchange/steps.ts";
import { atLeast, NO_USAGE, type Usage } from "../exchange/usage.ts";
import { TOOL_ROUNDS } from "../models/limits.ts";
import { askedLength, mostOutput, Said } from "./estimate.ts";
import { answeredBy, type Call, elapsed, type Parts } from "./call.ts";
import { CALLER_LEFT } from "../providers/refusals.ts";
import {
  addCharges,
  billedFees,
  capFees,
  exceedFees,
  ownSearches,
  searchesOf,
  searchPrice,
  withLost,
} from "./charges.ts";
import type { Kit } from "./kit.ts";
import { MeteredParts } from "./metered_parts.ts";
import type { BatchSink } from "./generation/whole_parts.ts";

/** The parts of the call, metered. */
export function meter(parts: AsyncGenerator<readonly Part[]>, call: Call, kit: Kit): Parts {
  return new MeteredParts(parts, new Meter(call, kit));
}

/** The same for a call without other stages, whose parts come directly from {@link generate}. */
export function meterPlain(parts: AsyncGenerator<readonly Part[]>, call: Call, kit: Kit): Parts {
  return new MeteredParts(parts, new Meter(call, kit), (deltaSink) => call.deltaSink = deltaSink);
}

/** The same for an answer that is not streamed. @param ask calls the provider and passes on the parts */
export async function meterWhole(
  ask: (took: BatchSink) => Promise<void>,
  took: BatchSink,
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
  readonly #said = new Said();
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

  /** The parts to pass on. */
  take(batch: readonly Part[]): readonly Part[] {
    const call = this.#call;
    this.#ttft ??= elapsed(call, this.#kit);
    let given = batch;
    for (let i = 0; i < batch.length; i++) {
      const part = batch[i];
      if (part.type === "usage") {
        this.#usage = part.usage;
        this.#searches = part.searches ?? this.#searches;
        this.#estimated = part.estimated === true;
        if (!this.#estimated) continue;
        const usage = this.#usage = atLeast(part.usage, this.#estimate());
        given = given.with(i, { ...part, usage });
      } else if (part.type === "finish") {
        this.#cut ||= part.reason === "length" || part.reason === "content-filter";
      } else {
        this.#said.take(part);
        if (part.type === "call-start") this.#toolCalls++;
      }
    }
    return given;
  }

  /** Parts to add at the end because the provider did not send them; null: none. */
  rest(): Part[] | null {
    if (this.#usage !== null || this.#said.isNothing || this.#call.cut) return null;
    this.#estimated = true;
    const usage = this.#usage = this.#estimate();
    return [{ type: "usage", usage, searches: this.#searches }];
  }

  #estimate(): Usage {
    const { size, prompt } = this.#call;
    return this.#said.estimate(askedLength(size), mostOutput(this.#call) * (prompt.n ?? 1));
  }

  /** Of an answer that was ended: its input as far as it was reported, and the output until then. Null: there was nothing. */
  #usageSoFar(): Usage | null {
    const reported = this.#call.uses.at(-1)?.usage ?? null;
    if (reported === null && this.#said.isNothing) return null;
    this.#estimated = true;
    const estimate = this.#estimate();
    return reported === null ? estimate : { ...reported, output: Math.max(reported.output, estimate.output) };
  }

  finish(): void {
    this.#finished = !this.#call.cut;
  }

  failed(thrown: unknown): Failure {
    const { arrival, model } = this.#call;
    this.#left = thrown === CALLER_LEFT;
    const failure = withLimit(Failure.from(thrown), model.contextLength);
    this.#failed = failure.code;
    if (failure.operator) this.#kit.log(`${arrival.id} ${model.id}: ${failure.operator}`, "warn");
    return failure;
  }

  /** Resolves when the record is durable. */
  async settle(): Promise<void> {
    const call = this.#call;
    const kit = this.#kit;
    const failed = this.#failed;
    // The stream was ended from outside: the caller had disconnected, and the time limit for abandoned calls was over.
    if (!this.#finished && !failed && this.#usage === null) this.#usage = this.#usageSoFar();
    const usage = failed ? null : this.#usage;
    let searches = (this.#searches ?? 0) + searchesOf(call.lost);
    const unbilledSearches = searches > 0 ? Math.min(searches, ownSearches(call)) : 0;
    const whole = usage === null ? null : withLost(usage, call);
    const fees = whole === null ? undefined : billedFees(call);
    if (whole !== null && fees !== undefined) await this.#coverFees(fees, whole, searches - unbilledSearches);
    if (searches > unbilledSearches) searches -= await this.#unaffordable(searches, unbilledSearches, whole);
    const { steps } = call.arrival;
    const end: GenerationEnd = {
      status: failed ? "failed" : !this.#finished ? "interrupted" : this.#cut ? "incomplete" : "completed",
      provider: call.provider,
      model: answeredBy(call).id,
      errorCode: failed,
      usage: whole,
      estimated: usage !== null &&
        (this.#estimated || call.lost.some(({ estimated }) => estimated === true)),
      searches,
      ttftMs: this.#ttft,
      latencyMs: elapsed(call, kit),
      clientGone: call.arrival.disconnected(),
      toolCalls: this.#toolCalls,
      dlp: call.screened && { mode: call.screened.mode, findings: call.screened.findings },
    };
    // No spread: V8 would copy the fields one by one on its slow path.
    if (usage !== null) addCharges(end, usage, call);
    if (searches > 0) end.searchPrice = searchPrice(call);
    if (unbilledSearches > 0) end.unbilledSearches = unbilledSearches;
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
   * Uses of a provider's tools beyond those that were reserved are billed only if the budgets have room for them.
   * @param searches those that are billed beside them
   */
  async #coverFees(fees: Fees, usage: Usage, searches: number): Promise<void> {
    const call = this.#call;
    const { size, reservation, arrival, model, uses, lost, provider } = call;
    const next = { input: 0, output: 0, searches, fees, requests: uses.length + lost.length };
    const isBilled = !exceedFees(call, size.fees) || await reservation.extend(usage, next);
    arrival.steps.add("provider_tools", provider ?? "", 0, isBilled ? "ok" : "unbilled", fees);
    if (isBilled) return;
    capFees(call, size.fees);
    const reported = Object.entries(fees).map(([kind, count]) => `${kind} ${count}`).join(", ");
    this.#kit.log(
      `${arrival.id} ${model.id}: the provider reports uses of its own tools (${reported}) that no budget has room for; ` +
        "only those that were reserved are billed",
      "warn",
    );
  }

  /**
   * The number of searches that the budget does not cover.
   *
   * Some models run searches although the request has no provider tool, so nothing was reserved for them, and with provider tools there
   * may be more than were reserved. If the budget does not cover these searches, they are not billed; otherwise many such calls at once
   * could exceed a limit.
   * @param unbilled searches with the caller's own credential
   */
  async #unaffordable(searches: number, unbilled: number, usage: Usage | null): Promise<number> {
    const { shape, size, reservation, arrival, model, uses, lost } = this.#call;
    const billed = searches - unbilled;
    const provided = shape.search
      ? Math.min(billed, searchesOf(uses.filter(({ own }) => !own)))
      : size.rounds === undefined
      ? billed
      : Math.max(0, billed - TOOL_ROUNDS);
    if (provided === 0) return 0;
    const next = {
      input: 0,
      output: 0,
      searches: billed,
      fees: billedFees(this.#call),
      requests: uses.length + lost.length,
    };
    if (await reservation.extend(usage ?? NO_USAGE, next)) return 0;
    this.#kit.log(
      `${arrival.id} ${model.id}: the provider reports ${
        countOf(provided, "search", "searches")
      } of its own that no budget has room for; none of them is billed`,
      "warn",
    );
    return provided;
  }
}
