/** What becomes of an alert whose change is not written, whose notification is not taken, or whose value is not known. */
import { assertEquals } from "@std/assert";
import { ALERTS } from "../../src/alerts/config.ts";
import { Alerts, type AlertsOptions } from "../../src/alerts/engine.ts";
import { Judge } from "../../src/alerts/judge.ts";
import { MetricRegistry } from "../../src/metrics/registry.ts";
import { type AlertStore, type OpenAlert, StoreUnavailable } from "../../src/store/mod.ts";
import { eventually } from "../support/time.ts";
import { ROUND_MS, TO } from "./fleet.ts";
import { posts } from "./support.ts";

const RULE = {
  name: "errors",
  when: { metric: "error_rate", above: 0.4, over: "5s", least: 1 },
  for: "0s",
  to: TO,
};

/** One process over a store in memory, whose operations can be made to fail. */
function alone(rules: unknown[], more: Partial<AlertsOptions> = {}) {
  let now = Date.UTC(2026, 0, 1);
  const values = { storeUp: 1 };
  const registry = new MetricRegistry();
  registry.observe(() => values);
  const warned: string[] = [];
  const written: string[] = [];
  const failures: Error[] = [];
  let open: OpenAlert[] = [];
  let left = 0;
  let sample = "";
  const write = (event: string, { id, data, receivers }: Parameters<AlertStore["openAlert"]>[0]) => {
    const failure = failures.shift();
    if (failure !== undefined) return Promise.reject(failure);
    written.push(`${event} to ${receivers.length}`);
    open = open.filter((one) => one.id !== id);
    if (event === "opened") open.push({ id, since: now, data });
    return Promise.resolve(true);
  };
  const store: AlertStore = {
    putSample: (_, data) => Promise.resolve(void (sample = data)),
    takeJudgement: () => Promise.resolve(true),
    leaveJudgement: () => Promise.resolve(void left++),
    readAlerts: () => Promise.resolve({ samples: [sample], open }),
    openAlert: (change) => write("opened", change),
    closeAlert: (change) => write("closed", change),
  };
  let wakes = 0;
  const alerts = new Alerts({ rules: ALERTS.parse(rules), smtp: null }, {
    store,
    node: "node",
    machine: "machine",
    first: true,
    collect: () => registry.collect(),
    ready: () => true,
    wake: () => void wakes++,
    now: () => now,
    clock: { now: () => now },
    warn: (line) => void warned.push(line),
    ...more,
  });
  return {
    alerts,
    values,
    warned,
    written,
    failures,
    closeElsewhere: () => void (open = []),
    left: () => left,
    wakes: () => wakes,
    async round(status?: "completed" | "failed") {
      if (status !== undefined) registry.counter("generations", ["m", "p", status]).value += 100;
      await alerts.round();
      now += ROUND_MS;
    },
  };
}

Deno.test("the start and the end of an alert that could not be written are written in the next round", async () => {
  const { round, failures, written, warned, wakes } = alone([RULE]);
  await round("completed");
  failures.push(new StoreUnavailable("away"));
  await round("failed");
  assertEquals([written, wakes()], [[], 0]);
  await round("failed");
  await round("failed");
  assertEquals([written, wakes()], [["opened to 1"], 1]);
  failures.push(new StoreUnavailable("away"));
  await round("completed");
  assertEquals(written, ["opened to 1"]);
  await round("completed");
  await round("completed");
  assertEquals([written, wakes()], [["opened to 1", "closed to 1"], 2]);
  // The log tells once that the store is away, from where it is used most.
  assertEquals(warned, []);
});

Deno.test("why alerts could not be judged is logged once, and again after it worked", async () => {
  const { round, failures, warned } = alone([RULE]);
  const broken = () => new TypeError("broken");
  await round("completed");
  failures.push(broken(), broken());
  await round("failed");
  await round("failed");
  assertEquals(warned, ["alerts could not be judged: TypeError: broken"]);
  failures.push(new RangeError("other"));
  await round("failed");
  assertEquals(warned.at(-1), "alerts could not be judged: RangeError: other");
  await round("failed");
  failures.push(new RangeError("other"));
  await round("completed");
  assertEquals(warned.length, 3);
});

Deno.test("an alert that another process has closed starts anew if its value is still above the limit", async () => {
  const { round, written, closeElsewhere } = alone([RULE]);
  await round("completed");
  await round("failed");
  closeElsewhere();
  await round("failed");
  assertEquals(written, ["opened to 1", "opened to 1"]);
});

Deno.test("a process that ends lets another one judge at once, unless it does not leave or the store is away", async () => {
  for (const [leaves, ready, expected] of [[true, true, 1], [false, true, 0], [true, false, 0]] as const) {
    const { alerts, left } = alone([RULE], { ready: () => ready });
    await alerts.stop({ leaves });
    assertEquals(left(), expected);
  }
});

const DOWN = (webhook: string) => ({
  name: "store",
  when: { metric: "store_down" },
  for: "0s",
  to: [{ webhook, secret: "whsec" }],
});

Deno.test("an alert about the store is sent again until it is taken, and its end after it", async () => {
  const hook = posts((nth) => new Response(null, { status: nth < 2 ? 500 : 204 }));
  const { alerts, round, values, warned } = alone([DOWN(hook.url)], { retriesMs: [1, 1, 1] });
  try {
    await round();
    values.storeUp = 0;
    await round();
    // It ends before its start has been taken.
    values.storeUp = 1;
    await round();
    await eventually(() => hook.got.length === 4);
    values.storeUp = 0;
    // Longer than the five minutes over which other metrics count events.
    for (let i = 0; i < 100; i++) await round();
    await eventually(() => hook.got.length === 5);
    values.storeUp = 1;
    await round();
    await eventually(() => hook.got.length === 6);
    const events = hook.got.map(({ text }) => JSON.parse(text));
    assertEquals(events.map(({ type }) => type), [
      ...Array(3).fill("alert.firing"),
      "alert.recovered",
      "alert.firing",
      "alert.recovered",
    ]);
    assertEquals(new Set(events.map(({ id }) => id)).size, 4);
    assertEquals(warned, []);
  } finally {
    await alerts.stop();
    await hook.close();
  }
});

Deno.test("an alert about the store that nobody takes is given up with a warning, and left when the process ends", async () => {
  const hook = posts(() => new Response(null, { status: 500 }));
  const all = [
    alone([DOWN(hook.url)], { retriesMs: [1] }),
    alone([DOWN(hook.url)], { retriesMs: [3_600_000] }),
  ];
  try {
    for (const [i, { alerts, round, values, warned }] of all.entries()) {
      values.storeUp = 0;
      await round();
      const before = hook.got.length;
      if (i === 0) {
        await eventually(() => warned.length === 1);
        assertEquals(
          warned[0],
          "alerts[0].to[0] could not be notified of an alert: it answered with status 500",
        );
        assertEquals(hook.got.length, 2);
      } else {
        await eventually(() => hook.got.length > before || hook.got.length === 3);
        await alerts.stop();
        assertEquals([hook.got.length, warned], [3, []]);
      }
    }
  } finally {
    for (const { alerts } of all) await alerts.stop();
    await hook.close();
  }
});

Deno.test("an alert stays while its value is unknown, and ends when it has been unknown for ten minutes", () => {
  const judge = new Judge();
  const thresholds = { above: 5, clear: 3, forMs: 60_000 };
  const at = (minutes: number, value: number | null) => judge.judge("a", value, minutes * 60_000, thresholds);
  assertEquals([at(0, 6), at(1, 6)], [null, "fires"]);
  assertEquals([at(2, null), at(5, null), at(11.9, null)], [null, null, null]);
  // A value between both limits is no end either, and makes the time of the unknown begin anew.
  assertEquals([at(12, 4), at(13, null), at(22.9, null)], [null, null, null]);
  assertEquals([at(23, null), at(23.9, null), at(24, null)], [null, null, "recovers"]);
  // Nothing is kept of an alert that neither fires nor is about to.
  assertEquals([...judge.ids()], []);
  assertEquals([at(30, 6), at(30.5, 5)], [null, null]);
  assertEquals([...judge.ids()], []);
  assertEquals([at(31, null), [...judge.ids()].length], [null, 0]);
});
