/** The live view: what watchers are told, and what they are not. */
import { assert, assertEquals } from "@std/assert";
import { unrecordedView } from "../../src/accounts/live/live.ts";
import type { OtherProcesses } from "../../src/accounts/live/live_elsewhere.ts";
import { LiveSharing, type SharedCalls } from "../../src/accounts/live/live_sharing.ts";
import { beginningView, generationView } from "../../src/accounts/administration/views.ts";
import type { Beginning } from "../../src/accounts/ledger.ts";
import { ALONE, beginning, ended, liveOf, options, reading } from "./watching.ts";

Deno.test("Live looks up what to tell a crowd of watchers at first once, and misses nothing that happens meanwhile", async () => {
  let asked = 0;
  const recent = () => {
    asked++;
    return [ended("gen_0")];
  };
  const live = liveOf({ recent });
  const crowd = Array.from({ length: 1000 }, () => reading(live.watch(options())));
  assertEquals(asked, 1);
  live.began(beginning("gen_1"));
  const late = reading(live.watch(options()));
  const other = reading(live.watch(options({ account: "another" })));
  assertEquals(asked, 2);
  for (const watcher of [crowd[0], crowd[999], late]) {
    const [[, first]] = await watcher.next();
    assertEquals(first.recent.map((one: Beginning) => one.id), ["gen_0"]);
  }
  assertEquals((await other.next())[0][1].recent, []);
  for (let tick = 0; tick < 4; tick++) live.flush();
  assertEquals((await late.next())[0][1].id, "gen_1");
  const later = reading(live.watch(options()));
  assertEquals(asked, 3);
  for (const watcher of [...crowd, late, other, later]) await watcher.cancel();
});

Deno.test("Live tells of calls that run, that ended lately, that begin and that end", async () => {
  const running = [beginning("gen_1")];
  const live = liveOf({ running: () => running, recent: () => [ended("gen_0")] });
  const watcher = reading(live.watch(options()));
  const [[hello, first]] = await watcher.next();
  assertEquals(hello, "hello");
  assertEquals(first.running.map((one: Beginning) => one.id), ["gen_1"]);
  assertEquals(first.recent.map((one: Beginning) => one.id), ["gen_0"]);
  live.began(beginning("gen_2"));
  live.ended(ended("gen_1"));
  live.released(beginning("gen_2"), "provider_unavailable");
  live.flush();
  const told = await watcher.next();
  assertEquals(told.map(([event, { id, status }]) => [event, id, status]), [
    ["start", "gen_2", undefined],
    ["end", "gen_1", "interrupted"],
    ["end", "gen_2", "failed"],
  ]);
  assertEquals([told[2][1].error_code, told[2][1].recorded, told[2][1].latency_ms], [
    "provider_unavailable",
    false,
    4000,
  ]);
  await watcher.cancel();
  assertEquals(live.watchers, 0);
});

Deno.test("Live: each watcher gets what its filter lets through; a start does not tell the provider", async () => {
  const live = liveOf();
  const filters = [
    { key: "dev" },
    { key: "key_1" },
    { key: "other" },
    { tag: "env=prod" },
    { tag: "env" },
    {
      status: "interrupted",
    },
    { model: "c/d" },
    { provider: "p" },
  ];
  const watchers = filters.map((filter) => reading(live.watch(options(filter))));
  await Promise.all(watchers.map((watcher) => watcher.next()));
  live.began(beginning("gen_1", { tags: { env: "prod" } }));
  live.ended({ ...ended("gen_2", { model: "c/d", tags: { env: "dev" } }), provider: "p" });
  live.flush();
  const found = await Promise.all(watchers.map(async (watcher, i) => {
    if (i === 2) return [];
    return (await watcher.next()).map(([, { id }]) => id);
  }));
  assertEquals(found, [
    ["gen_1", "gen_2"],
    ["gen_1", "gen_2"],
    [],
    ["gen_1"],
    ["gen_1", "gen_2"],
    ["gen_2"],
    ["gen_2"],
    ["gen_2"],
  ]);
  for (const watcher of watchers) await watcher.cancel();
});

Deno.test("Live: who may not watch any more is told no more, and the end of the process ends all", async () => {
  const live = liveOf();
  let may = true;
  const one = reading(live.watch({ filter: {}, stillMay: () => may }));
  const other = reading(live.watch(options()));
  await Promise.all([one.next(), other.next()]);
  may = false;
  live.began(beginning("gen_1"));
  live.flush();
  assertEquals(await one.next(), []);
  assertEquals((await other.next()).length, 1);
  live.end();
  assertEquals(await other.next(), []);
  assertEquals(live.watchers, 0);
});

/** What each piece tells: events with the ids of calls. */
const idsOf = (events: [string, { id?: string }][]) =>
  events.filter(([event]) => event !== "seen").map(([event, { id }]) => [event, id]);

Deno.test("Live: calls that ended on other nodes are told of once each, those of before not at all", async () => {
  const store = [ended("gen_old")];
  const live = liveOf({ others: { ...ALONE, ended: () => Promise.resolve(store.toReversed()) } });
  const watcher = reading(live.watch(options()));
  await watcher.next();
  await live.look();
  // One that ended here is in the store later.
  live.ended(ended("gen_own"));
  store.push(ended("gen_own"), ended("gen_other"));
  await live.look();
  await live.look();
  live.flush();
  assertEquals(idsOf(await watcher.next()), [["end", "gen_own"], ["end", "gen_other"]]);
  await watcher.cancel();
});

Deno.test("Live: calls that run in other processes are told as they begin and end, and whose calls are seen", async () => {
  const elsewhere: SharedCalls = { running: [beginningView(beginning("gen_b"))], unrecorded: [] };
  const records = [ended("gen_before")];
  let noted = 0;
  const others: OtherProcesses = {
    count: () => 2,
    note: () => Promise.resolve(void noted++),
    running: () => Promise.resolve([{ node: "node_b", data: JSON.stringify(elsewhere) }]),
    ended: () => Promise.resolve(records.toReversed()),
  };
  const live = liveOf({ others });
  const watcher = reading(live.watch(options()));
  const [[, hello]] = await watcher.next();
  assertEquals([hello.running, hello.seen], [[], { nodes: 3, told: 1 }]);
  await live.look();
  assertEquals(await watcher.next(), [["seen", { nodes: 3, told: 2 }]]);
  live.flush();
  assertEquals(idsOf(await watcher.next()), [["start", "gen_b"]]);
  assertEquals(noted, 1, "who watches is told of rarely");
  // Another watcher hears of what runs at once.
  const later = reading(live.watch(options()));
  const [[, second]] = await later.next();
  assertEquals([second.running.length, second.seen], [1, { nodes: 3, told: 2 }]);
  await later.cancel();

  records.push(ended("gen_b"));
  elsewhere.unrecorded.push(unrecordedView(beginning("gen_c"), "provider_unavailable", 5000));
  await live.look();
  await live.look();
  live.flush();
  assertEquals(
    idsOf(await watcher.next()),
    [["end", "gen_b"], ["end", "gen_c"]],
    "each once, though it is still listed",
  );
  await watcher.cancel();
});

Deno.test("Live: other processes are looked after, and told, while the clock is set back and forward", async () => {
  let now = 1e12;
  const asked = { noted: 0, looks: 0 };
  const others: OtherProcesses = {
    count: () => 1,
    note: () => Promise.resolve(void asked.noted++),
    running: () => Promise.resolve(void asked.looks++).then(() => []),
    ended: () => Promise.resolve([]),
  };
  const live = liveOf({ others, now: () => now });
  const watcher = reading(live.watch(options()));
  await live.look();
  for (const [i, step] of [-3_600_000, 86_400_000, -86_400_000].entries()) {
    now += step;
    live.flush();
    await live.look();
    assertEquals(asked, { noted: i + 2, looks: i + 2 });
  }
  await watcher.cancel();
});

Deno.test("Live: a member is told of calls of own keys alone, and not of how much others do", async () => {
  const running = [beginning("gen_1"), beginning("gen_2", { keyId: "key_other" })];
  const live = liveOf({
    running: () => running,
    recent: () => [ended("gen_0", { keyId: "key_other" })],
    memberOf: (id) => id === "key_1" ? "ada" : id === "key_other" ? "bob" : null,
  });
  const watch = (member: string, filter = {}) => reading(live.watch({ ...options(filter), member }));
  const [ada, bob, nobody] = [watch("ada"), watch("bob", { key: "dev" }), watch("")];
  const first = await Promise.all([ada, bob, nobody].map(async (watcher) => {
    const [[, { running, recent }]] = await watcher.next();
    return [...running, ...recent].map(({ id }: { id: string }) => id);
  }));
  assertEquals(first, [["gen_1"], ["gen_2", "gen_0"], []]);
  for (let i = 0; i < 6000; i++) live.began(beginning(`gen_x${i}`, { keyId: "key_other" }));
  live.began(beginning("gen_dropped"));
  live.flush();
  const told = await bob.next();
  assert(told.some(([, { id }]) => id === "gen_x0"));
  running.length = 0;
  live.ended(ended("gen_1"));
  live.flush();
  assertEquals(await ada.next(), [["end", JSON.parse(JSON.stringify(generationView(ended("gen_1"))))]]);
  await Promise.all([ada, bob, nobody].map((watcher) => watcher.cancel()));
});

Deno.test("what runs here is told to the store while somebody watches elsewhere, and taken back afterwards", async () => {
  const told: (SharedCalls | null)[] = [];
  let now = 0;
  const running = [beginning("gen_1")];
  const sharing = new LiveSharing({
    store: {
      putRunningCalls: (_, data) => Promise.resolve(void told.push(data === null ? null : JSON.parse(data))),
    },
    node: "node_a",
    now: () => now,
    running: () => running,
    ready: () => true,
  });
  sharing.unrecorded(unrecordedView(beginning("gen_0"), null, 0));
  assertEquals([sharing.active, told], [false, []], "nobody watches");
  sharing.watched();
  await sharing.tell();
  await sharing.tell();
  assertEquals(
    told.map((one) => one?.running.map(({ id }) => id)),
    [["gen_1"]],
    "the same is not told twice",
  );
  running.pop();
  sharing.unrecorded(unrecordedView(beginning("gen_1"), "rate_limited", 0));
  await sharing.tell();
  assertEquals([told[1]?.running, told[1]?.unrecorded.map(({ id }) => id)], [[], ["gen_1"]]);
  now = 61_000;
  await sharing.tell();
  assertEquals([sharing.active, told.at(-1)], [false, null]);
});
