/** What the record of a call says, by how the call ends. */
import { assertEquals } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { GenerationEnd } from "../../src/exchange/generation.ts";
import type { Prompt } from "../../src/exchange/prompt.ts";
import type { Part } from "../../src/exchange/part.ts";
import { normalizeUsage, type Usage } from "../../src/exchange/usage.ts";
import type { Estimate } from "../../src/accounts/mod.ts";
import type { Model } from "../../src/models/catalog.ts";
import type { Arrival, Call, ProviderUse } from "../../src/pipeline/call.ts";
import type { Kit } from "../../src/pipeline/kit.ts";
import { meter } from "../../src/pipeline/meter.ts";
import { Metrics } from "../../src/pipeline/metrics.ts";
import { Steps } from "../../src/pipeline/steps.ts";
import { Ticker } from "../../src/timing/ticker.ts";
import { StoppedClock } from "../support/time.ts";

/** The fields that the stage reads. */
const some = <T>(fields: Partial<T>): T => fields as T;

const word = (text: string): Part => ({ type: "text-delta", block: 0, text });
const usage = (output: number, searches?: number): Part => ({
  type: "usage",
  usage: normalizeUsage({ input: 3, output }),
  searches,
});
const finish = (reason: "stop" | "length" | "content-filter"): Part => ({
  type: "finish",
  choice: 0,
  reason,
});

/**
 * Runs the stage over batches, of which each takes ten milliseconds; an Error among them is thrown.
 * @param taken how many batches are read before the run is given up
 */
async function record(
  batches: (Part[] | Error)[],
  { provider = "p", taken = Infinity, lost = [], uses = [], extend = () => true, wall = () => 0 }: {
    provider?: string | null;
    taken?: number;
    lost?: ProviderUse[];
    uses?: ProviderUse[];
    /** Whether the budgets have room for what was used. */
    extend?(spent: Readonly<Usage>, next: Estimate): boolean;
    wall?(): number;
  } = {},
): Promise<{ end: GenerationEnd | null; seen: Part[] }> {
  const clock = new StoppedClock();
  let end: GenerationEnd | null | undefined;
  const call = some<Call>({
    arrival: some<Arrival>({ id: "gen_0", disconnected: () => false, steps: new Steps(clock) }),
    model: some<Model>({ id: "p/m" }),
    size: { chars: 40, bytes: 40, attachments: 0, media: 0, frames: 0 },
    shape: { search: true, calls: 1 },
    created: 0,
    began: clock.now(),
    provider,
    screened: null,
    prompt: some<Prompt>({}),
    asked: 0,
    together: null,
    callerCredential: null,
    others: null,
    uses,
    lost,
    sheet: { source: "test", from: 0, hours: null, prices: {}, tiers: [] },
    reservation: {
      output: 0,
      extend: (spent, next) => Promise.resolve(extend(spent, next)),
      rates: null,
      settle: (ending) => Promise.resolve(void (end = ending)),
      release: () => Promise.resolve(void (end = null)),
    },
  });
  const kit = some<Kit>({ now: wall, ticker: new Ticker(clock), log: () => {}, metrics: new Metrics() });
  async function* said() {
    for (const batch of batches) {
      clock.move(10);
      if (batch instanceof Error) throw await Promise.resolve(batch);
      yield batch;
    }
  }
  const seen: Part[] = [];
  try {
    for await (const batch of meter(said(), call, kit)) {
      seen.push(...batch);
      if (--taken === 0) break;
    }
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
  }
  if (end === undefined) throw new Error("neither settled nor released");
  return { end, seen };
}

Deno.test("meter() records when the first part came and when all was over", async () => {
  const { end } = await record([[{ type: "start" }], [word("hi")], [usage(2), finish("stop")]]);
  assertEquals([end?.status, end?.ttftMs, end?.latencyMs], ["completed", 10, 30]);
  assertEquals([end?.usage?.output, end?.estimated, end?.searches], [2, false, 0]);
});

for (const step of [3_600_000, -3_600_000, -86_400_000]) {
  Deno.test(`meter() measures a call while the system's clock is set by ${step / 60_000} minutes`, async () => {
    let looks = 0;
    const wall = () => looks++ * step;
    const batches = [[{ type: "start" } as const], [word("hi")], [usage(2), finish("stop")]];
    const { end } = await record(batches, { wall });
    assertEquals([end?.ttftMs, end?.latencyMs], [10, 30]);
  });
}

Deno.test("meter() calls an answer incomplete that a cap or a filter cut", async () => {
  for (
    const [reason, status] of [["length", "incomplete"], ["content-filter", "incomplete"], [
      "stop",
      "completed",
    ]] as const
  ) {
    assertEquals((await record([[word("hi"), usage(1), finish(reason)]])).end?.status, status, reason);
  }
});

Deno.test("meter() bills a failed call for its searches and not for its tokens", async () => {
  const failure = new Failure("provider_unavailable", "gone");
  const { end } = await record([[word("hi"), usage(2, 3)], failure]);
  assertEquals([end?.status, end?.errorCode, end?.usage, end?.searches], [
    "failed",
    "provider_unavailable",
    null,
    3,
  ]);
  // Whom no provider served pays nothing, unless something was searched for.
  assertEquals((await record([failure], { provider: null })).end, null);
  assertEquals((await record([[usage(2, 1)], failure], { provider: null })).end?.searches, 1);
});

Deno.test("meter() estimates what no provider counted, at the end and when it is given up", async () => {
  const whole = await record([[word("x".repeat(80))], [finish("stop")]]);
  assertEquals([whole.end?.status, whole.end?.estimated, whole.end?.usage?.input, whole.end?.usage?.output], [
    "completed",
    true,
    10,
    20,
  ]);
  assertEquals(whole.seen.at(-1)?.type, "usage");
  const left = await record([[word("x".repeat(80))], [word("y")]], { taken: 1 });
  assertEquals([left.end?.status, left.end?.estimated, left.end?.usage?.output], ["interrupted", true, 20]);
  const silent = await record([[finish("stop")]]);
  assertEquals([silent.end?.usage, silent.end?.estimated], [null, false]);
});

Deno.test("meter() says of a record that it is estimated where what a cancelled call used is", async () => {
  for (const estimated of [true, false]) {
    const lost = [{ usage: normalizeUsage({ input: 10, output: 4 }), service: undefined, estimated }];
    const { end } = await record([[word("hi")], [usage(2), finish("stop")]], { lost });
    assertEquals([end?.usage?.input, end?.usage?.output, end?.estimated], [13, 6, estimated]);
    // There is nothing of a failed call that could be estimated.
    const failed = await record([[word("hi")], new Failure("provider_unavailable", "gone")], { lost });
    assertEquals([failed.end?.usage, failed.end?.estimated], [null, false]);
  }
});

Deno.test("meter() looks for room for all that is billed: also for what a cancelled call used", async () => {
  const asked: unknown[] = [];
  const extend = ({ input, output }: Readonly<Usage>, { searches, fees, requests }: Estimate) => {
    asked.push({ input, output, searches, fees, requests });
    return false;
  };
  const used = normalizeUsage({ input: 10, output: 4 });
  const lost = [{ usage: used, service: undefined, fees: { x_search: 1 } }];
  const uses = [{ usage: normalizeUsage({ input: 3, output: 2 }), service: undefined, searches: 2 }];
  const { end } = await record([[word("hi")], [usage(2, 2), finish("stop")]], { lost, uses, extend });
  assertEquals([end?.searches, end?.charges?.[1].fees], [0, { x_search: 0 }]);
  const whole = { input: 13, output: 6, searches: 2, requests: 2 };
  assertEquals(asked, [{ ...whole, fees: { x_search: 1 } }, { ...whole, fees: { x_search: 0 } }]);
});

Deno.test("meter() bills all uses of tools of a call that ended before all of its usage was passed on", async () => {
  const one = { usage: normalizeUsage({ input: 10, output: 4 }), service: undefined, fees: { x_search: 1 } };
  const { end } = await record([[word("hi")], [usage(2), finish("stop")]], { uses: [one, { ...one }] });
  assertEquals(end?.charges?.map(({ usage, fees }) => [usage.input, fees?.x_search]), [[3, 2]]);
});

Deno.test("meter() records the searches of a cancelled call, as it does its tokens", async () => {
  const lost = [{ usage: normalizeUsage({ input: 10, output: 4 }), service: undefined, searches: 3 }];
  for (const [own, searches] of [[undefined, 3], [2, 5]]) {
    const { end } = await record([[word("hi")], [usage(2, own), finish("stop")]], { lost });
    assertEquals(end?.searches, searches);
  }
  const failed = await record([[word("hi")], new Failure("provider_unavailable", "gone")], { lost });
  assertEquals([failed.end?.usage, failed.end?.searches], [null, 3]);
});
