/** Sums of calls by span of time: what is counted, how it gets into the store, and what there is without it. */
import { assert, assertEquals } from "@std/assert";
import { Histogram, OTHERS, Rollup } from "../../src/accounts/live/rollup.ts";
import { decodeRollup, encodeRollup } from "../../src/accounts/live/rollup.ts";
import { interruptedGeneration } from "../../src/accounts/ledger.ts";
import { Timeline } from "../../src/accounts/live/timeline.ts";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import { type Generation, openStore } from "../../src/store/mod.ts";
import { onBothEngines } from "../support/cluster.ts";

const MINUTE = 60_000;
const NOON = Date.UTC(2026, 10, 22, 12);

const call = (more: Partial<Generation> = {}): Generation => ({
  ...interruptedGeneration({
    id: "gen_1",
    created: NOON,
    keyId: "key_1",
    key: "dev",
    account: "default",
    format: "messages",
    requestedModel: "a/b",
    model: "a/b",
    stream: true,
    tags: { env: "prod", feature: "search" },
    session: null,
    team: "search",
  }),
  provider: "p",
  status: "completed",
  usage: { ...NO_USAGE, input: 100, cached: 40, output: 10 },
  cost: 5_000_000n,
  cacheSaved: 1_000_000n,
  ttftMs: 120,
  latencyMs: 900,
  ...more,
});

async function memoryStore() {
  const store = openStore("sqlite::memory:");
  await store.prepare();
  return store;
}

Deno.test("Histogram tells percentiles to within 8 per cent, over six orders of magnitude", () => {
  for (const scale of [1, 20, 400, 9000, 250_000]) {
    const histogram = new Histogram();
    for (let i = 1; i <= 1000; i++) histogram.add(scale * i / 1000 + scale);
    for (const share of [.5, .95, .99]) {
      const exact = scale * share + scale;
      assert(Math.abs(histogram.percentile(share)! / exact - 1) < .08, `${scale} ${share}`);
    }
  }
  assertEquals(new Histogram().percentile(.5), null);
});

Deno.test("Rollup keeps all of a call apart by each dimension, and survives being written down", () => {
  const rollup = new Rollup();
  rollup.add(call());
  rollup.add(call({ status: "failed", usage: null, cost: 0n, cacheSaved: null, team: null, tags: null }));
  rollup.addFailed(call({ model: "c/d" }));
  rollup.addFailed(call({ model: "" }));
  const again = decodeRollup(encodeRollup(rollup));
  assertEquals(encodeRollup(again), encodeRollup(rollup));
  const { all, by } = again;
  assertEquals(
    [all.requests, all.errors, all.unrecorded, all.input, all.cached, all.output, all.cost, all.saved],
    [4, 3, 2, 100, 40, 10, 5_000_000n, 1_000_000n],
  );
  assertEquals(all.ttft.total, 2);
  assertEquals([...by.model].map(([name, cell]) => [name, cell.requests]), [["a/b", 2], ["c/d", 1]]);
  assertEquals(by.team.get("search")!.requests, 3);
  assertEquals([...by.tag.keys()], ["env=prod", "feature=search"]);
  assertEquals([...by.provider.keys()], ["p"]);
});

Deno.test("decodeRollup() reads what releases wrote that did not tell calls without a record apart", () => {
  const cell = '[3,2,100,40,10,1,"5","1",[1,2],[3,1]]';
  const { all, by } = decodeRollup([cell, `[["a/b",${cell}]]`, "[]", "[]", "[]", "[]"].join("\n"));
  for (const { requests, errors, unrecorded, cost, latency } of [all, by.model.get("a/b")!]) {
    assertEquals([requests, errors, unrecorded, cost, latency.total], [3, 2, 0, 5n, 1]);
  }
});

Deno.test("Rollup tells a bounded number of values apart, and adds the others up", () => {
  const rollup = new Rollup();
  for (let i = 0; i < 1000; i++) rollup.add(call({ tags: { user: `u${i}` } }));
  assert(rollup.by.tag.size <= 51);
  assertEquals(rollup.by.tag.get(OTHERS)!.requests, 950);
  assertEquals(rollup.all.requests, 1000);
});

Deno.test("Timeline: two nodes write, either reads the sums of both, and nothing is counted twice", async () => {
  const store = await memoryStore();
  let now = NOON + 1000;
  const node = (name: string) => new Timeline({ store, node: name, now: () => now, ready: () => true });
  const [one, other] = [node("node_1"), node("node_2")];
  one.add([call(), call()], []);
  other.add([call()], []);
  assertEquals(await one.write(), false);
  await other.write();
  one.add([call()], [call()]);
  const day = { span: MINUTE, from: NOON, to: NOON + 60 * MINUTE };
  const requests = async (timeline: Timeline, of = day) =>
    [...(await timeline.read(of)).rollups].map(([at, { all }]) => [at - NOON, all.requests, all.errors]);
  assertEquals(await requests(one), [[0, 5, 1]]);
  assertEquals(await requests(other), [[0, 3, 0]]);
  now += 2 * MINUTE;
  one.add([call()], []);
  await one.write();
  await one.write();
  assertEquals(await requests(other), [[0, 5, 1], [2 * MINUTE, 1, 0]]);
  const hours = { span: 120 * MINUTE, from: NOON, to: NOON + 120 * MINUTE };
  assertEquals(await requests(one, hours), [[0, 6, 1]]);
  assertEquals(await requests(other, hours), [[0, 6, 1]]);
  await store.close();
});

Deno.test("Timeline: while the store is away the last hour is here, and it is written once the store is back", async () => {
  const store = await memoryStore();
  let now = NOON + 1000;
  let up = false;
  const timeline = new Timeline({ store, node: "node_1", now: () => now, ready: () => up });
  for (let minute = 0; minute < 5; minute++) {
    timeline.add([call()], []);
    assertEquals(await timeline.write(), true);
    now += MINUTE;
  }
  const of = { span: MINUTE, from: NOON, to: NOON + 60 * MINUTE };
  const found = await timeline.read(of);
  assertEquals([found.store, found.rollups.size], [false, 5]);
  up = true;
  assertEquals(await timeline.write(), false);
  assertEquals((await store.rollups(of)).length, 5);
  const again = await timeline.read(of);
  assertEquals([again.store, [...again.rollups.values()].map(({ all }) => all.requests)], [true, [
    1,
    1,
    1,
    1,
    1,
  ]]);
  await store.close();
});

Deno.test("Timeline leaves out what a node of another release wrote in another way", async () => {
  const store = await memoryStore();
  const one = new Timeline({ store, node: "node_1", now: () => NOON, ready: () => true });
  one.add([call()], []);
  await one.write();
  await store.putRollups([{ span: MINUTE, starts: NOON, node: "node_2", data: '{"requests":7}' }]);
  const { rollups } = await one.read({ span: MINUTE, from: NOON, to: NOON + MINUTE });
  assertEquals([...rollups.values()].map(({ all }) => all.requests), [1]);
  await store.close();
});

Deno.test("Timeline deletes spans that nobody can ask for any more", async () => {
  const store = await memoryStore();
  const old = {
    span: MINUTE,
    starts: NOON - 7 * 60 * MINUTE,
    node: "node_0",
    data: encodeRollup(new Rollup()),
  };
  await store.putRollups([old, { ...old, span: 120 * MINUTE }]);
  const timeline = new Timeline({ store, node: "node_1", now: () => NOON, ready: () => true });
  timeline.add([call()], []);
  await timeline.write();
  assertEquals((await store.rollups({ span: MINUTE, from: 0, to: NOON })).length, 0);
  assertEquals((await store.rollups({ span: 120 * MINUTE, from: 0, to: NOON })).length, 1);
  await store.close();
});

onBothEngines(({ name, place }) => {
  Deno.test(`${name}: Timeline counts each call once while the clock is set forward and back`, async () => {
    const here = place();
    const store = here.open();
    try {
      await store.prepare();
      let now = NOON;
      const timeline = new Timeline({ store, node: "node_1", now: () => now, ready: () => true });
      const added = new Map<number, number>();
      // Between two steps the store is told now and then.
      for (
        const [step, told] of [[0, 1], [2, 0], [-1, 0], [1, 1], [-3, 1], [1, 0], [60, 0], [-60, 1], [2, 1]]
      ) {
        now += step * MINUTE;
        timeline.add([call()], []);
        added.set(now, (added.get(now) ?? 0) + 1);
        if (told) assertEquals(await timeline.write(), false);
      }
      assertEquals(await timeline.write(), false);
      const other = new Timeline({ store, node: "node_2", now: () => now, ready: () => true });
      const { rollups } = await other.read({ span: MINUTE, from: NOON - 9 * MINUTE, to: NOON + 99 * MINUTE });
      const sorted = (entries: Iterable<[number, number]>) => [...entries].sort(([a], [b]) => a - b);
      assertEquals(sorted([...rollups].map(([at, { all }]) => [at, all.requests])), sorted(added));
    } finally {
      await store.close();
      here.remove();
    }
  });
});
