import { assert, assertEquals } from "@std/assert";
import { Failure, type FailureCode, FAILURES } from "../../src/exchange/failure.ts";
import { isFault, pauseMs, RetryBudget } from "../../src/providers/retry.ts";

/** By hand: what the rows of the failure table must say. */
const FAULTS: readonly FailureCode[] = [
  "provider_timeout",
  "provider_unavailable",
  "provider_model_down",
];

Deno.test("RetryBudget gives a quiet gateway a few retries", () => {
  const budget = new RetryBudget();
  let given = 0;
  for (let i = 0; i < 30; i++) if (budget.take(0)) given++;
  assertEquals(given, 10);
  assert(!budget.take(9000));
  assert(budget.take(11_000));
});

Deno.test("RetryBudget holds retries to a tenth of the traffic when everything fails", () => {
  const budget = new RetryBudget();
  let calls = 0;
  let retries = 0;
  for (let now = 0; now < 60_000; now += 5) {
    budget.call(now);
    calls++;
    // Each call would like two.
    for (let i = 0; i < 2; i++) if (budget.take(now)) retries++;
  }
  assert(retries <= 0.1 * calls + 70, `${retries} of ${calls}`);
  assert(retries >= 0.09 * calls, `${retries} of ${calls}`);
});

Deno.test("pauseMs() does what the provider asks, if that is short", () => {
  const limited = (retryAfter?: number) => new Failure("provider_rate_limited", "", { retryAfter });
  assertEquals(pauseMs(limited(1), 0, () => 0), 1000);
  assertEquals(pauseMs(limited(2), 5, () => 0.5), 2050);
  assertEquals(pauseMs(limited(3), 0, () => 0), null);
  assertEquals([0, 1, 2, 9].map((n) => pauseMs(limited(), n, () => 1)), [100, 200, 400, 2000]);
  assertEquals(pauseMs(limited(), 3, () => 0), 0);
});

Deno.test("isFault() blames a provider for what it does, not for what it is asked", () => {
  for (const code of FAULTS) {
    assert(isFault(new Failure(code, "")), code);
    assert(!isFault(new Failure(code, "", { lasting: true })), code);
    assert(!isFault(new Failure(code, "", { local: true })), code);
  }
  const others = (Object.keys(FAILURES) as FailureCode[]).filter((code) => !FAULTS.includes(code));
  for (const code of others) assert(!isFault(new Failure(code, "")), code);
});
