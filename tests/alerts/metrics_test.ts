/** What each metric of alerts measures while something happens, after the window of the rule, and by group. */
import { assertEquals } from "@std/assert";
import { ALERTS } from "../../src/alerts/config.ts";
import { alertMetric } from "../../src/alerts/metrics.ts";
import { receiverId } from "../../src/alerts/receivers.ts";
import { joined, RuleWindow } from "../../src/alerts/window.ts";
import { MetricRegistry } from "../../src/metrics/registry.ts";

interface Values {
  storeUp: number;
  recordsPending: number;
  attempts: number;
  failed: number;
  /** State of each circuit breaker: 0 closed, 1 half-open, 2 open. */
  breakers: number[];
}

/** The values of a rule in all its groups: during the events, and when the window is over while states stay. */
function measured(when: Record<string, unknown>, happen: (registry: MetricRegistry, values: Values) => void) {
  const [rule] = ALERTS.parse([{
    name: "a",
    when: { least: 1, ...when },
    to: [{ slack: "https://a.test/b" }],
  }]);
  const metric = alertMetric(rule.when.metric);
  const registry = new MetricRegistry();
  const values: Values = { storeUp: 1, recordsPending: 0, attempts: 0, failed: 0, breakers: [] };
  registry.observe(() => ({
    storeUp: values.storeUp,
    recordsPending: values.recordsPending,
    providerAttempts: [{ labels: ["p", "m0"], value: values.attempts }],
    providerFailedAttempts: [{ labels: ["p", "m0"], value: values.failed }],
    breakerState: values.breakers.map((value, i) => ({ labels: ["p", `m${i}`], value })),
  }));
  const window = new RuleWindow(rule, { atStart: true });
  const at = (ms: number) => {
    const numbers = joined([window.take(ms, registry.collect())], metric.joined);
    return Object.fromEntries(
      [...numbers].map(([group, found]) => [
        Object.values(JSON.parse(group)).join() || "all",
        metric.value(found, { least: rule.when.least, overMs: rule.when.over }),
      ]),
    );
  };
  at(0);
  happen(registry, values);
  const during = at(5000);
  return [during, at(5000 + rule.when.over)];
}

const generations = (registry: MetricRegistry, provider: string, completed: number, failed: number) => {
  registry.counter("generations", ["a/m", provider, "completed"]).value += completed;
  registry.counter("generations", ["a/m", provider, "failed"]).value += failed;
};

Deno.test("events count in the window of a rule, and states as long as they last", () => {
  const cases: [
    when: Record<string, unknown>,
    happen: Parameters<typeof measured>[1],
    during: unknown,
    after: unknown,
  ][] = [
    [{ metric: "error_rate" }, (of) => generations(of, "p", 30, 10), { all: 0.25 }, { all: null }],
    [
      { metric: "error_rate", by: "provider" },
      (of) => {
        generations(of, "p", 1, 1);
        generations(of, "q", 9, 1);
      },
      { p: 0.5, q: 0.1 },
      { p: null, q: null },
    ],
    [{ metric: "error_rate", least: 11 }, (of) => generations(of, "p", 5, 5), { all: null }, { all: null }],
    [{ metric: "error_rate", least: 10 }, (of) => generations(of, "p", 5, 5), { all: 0.5 }, { all: null }],
    [
      { metric: "provider_down" },
      (_, values) => Object.assign(values, { attempts: 20, failed: 19 }),
      { p: 0.95 },
      { p: null },
    ],
    // All breakers are open or half-open: it is down without a call.
    [{ metric: "provider_down" }, (_, values) => values.breakers = [2, 1], { p: 1 }, { p: 1 }],
    [
      { metric: "provider_down" },
      (_, values) => Object.assign(values, { attempts: 20, failed: 5, breakers: [2, 0] }),
      { p: 0.25 },
      { p: null },
    ],
    [{ metric: "breaker_open" }, (_, values) => values.breakers = [2, 1, 0], { p: 2 }, { p: 2 }],
    [{ metric: "breaker_open", by: "all" }, (_, values) => values.breakers = [2, 0], { all: 1 }, { all: 1 }],
    [
      { metric: "budget", percent: 80 },
      (of) => [50, 80, 100].forEach((percent) => of.counter("budgetWarnings", ["key", percent]).value++),
      { all: 2 },
      { all: 0 },
    ],
    [
      { metric: "dlp_findings", by: "type" },
      (of) => of.counter("findings", ["EMAIL_ADDRESS", "alert", "request"]).value += 3,
      { EMAIL_ADDRESS: 3 },
      { EMAIL_ADDRESS: 0 },
    ],
    // Half a dollar in five minutes.
    [
      { metric: "spend_rate", above: 1 },
      (of) => of.counter("cost", ["a/m"]).value += 0.5,
      { all: 6 },
      { all: 0 },
    ],
    [{ metric: "store_lag" }, (_, values) => values.recordsPending = 7, { all: 7 }, { all: 7 }],
    [{ metric: "store_down" }, (_, values) => values.storeUp = 0, { all: 1 }, { all: 1 }],
  ];
  for (const [when, happen, during, after] of cases) {
    assertEquals(measured(when, happen), [during, after], JSON.stringify(when));
  }
});

Deno.test("95 of 100 durations are within the value that is compared, between the bounds of their bucket", () => {
  const p95 = (seconds: number[], least = 1) =>
    measured({ metric: "latency_p95", least }, (registry) => {
      const times = registry.histogram("generationTime", ["a/m"]);
      for (const one of seconds) times.observe(one);
    })[0].all;
  const of = (fast: number, slow: number) => [...Array(fast).fill(0.01), ...Array(slow).fill(20)];
  assertEquals(p95(of(95, 5)), 0.05);
  // Half of the ten values between 10 and 30 seconds are below it.
  assertEquals(p95(of(90, 10)), 20);
  assertEquals(p95(of(0, 100)), 29);
  // Above the last bound nothing is known.
  assertEquals(p95(Array(10).fill(1000)), 120);
  assertEquals([p95(of(0, 9), 10), p95(of(0, 10), 10)], [null, 29]);
});

Deno.test("the ids of receivers stay the same: their notifications are stored under them", () => {
  assertEquals(
    [
      receiverId({ webhook: "https://a.test/b", secret: "s" }),
      receiverId({ webhook: "https://a.test/b", secret: "another" }),
      receiverId({ slack: "https://a.test/b" }),
      receiverId({ email: ["a@b.test", "c@d.test"] }),
    ],
    ["alert-be3d91a1d91bbb48", "alert-be3d91a1d91bbb48", "alert-5292997119e38c64", "alert-08119037662d6518"],
  );
});
