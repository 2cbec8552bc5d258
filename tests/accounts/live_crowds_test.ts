/** The live view of many calls and many watchers: what is shared, left out, counted and bounded. */
import { assert, assertEquals } from "@std/assert";
import { beginning, ended, liveOf, options, reading } from "./watching.ts";

Deno.test("Live: a watcher who does not read loses events, is told how many, and holds bounded memory", async () => {
  const live = liveOf();
  const slow = reading(live.watch(options()));
  const quick = reading(live.watch(options()));
  await Promise.all([slow.next(), quick.next()]);
  let told = 0, made = 0;
  const one = { ...beginning("gen_x"), requestedModel: "m".repeat(200) };
  for (let round = 0; round < 40; round++) {
    for (let i = 0; i < 100; i++, made++) live.began(one);
    live.flush();
    told += (await quick.next()).length;
  }
  assertEquals(told, made);
  let seen = 0, lost = 0;
  live.began(one);
  made++;
  const last = (async () => {
    while (seen + lost < made) {
      const events = await slow.next();
      for (const [event, data] of events) {
        if (event === "lost") lost += data.events;
        else seen++;
      }
      live.flush();
    }
  })();
  await last;
  assertEquals(seen + lost, made);
  assert(lost > 0 && seen < 2000, `${seen} kept for a watcher who does not read`);
  await Promise.all([slow.cancel(), quick.cancel()]);
});

Deno.test("Live: many watchers share the encoded events, and get a bounded number of bytes", async () => {
  const live = liveOf();
  const watchers = Array.from({ length: 1000 }, () => reading(live.watch(options())));
  await Promise.all(watchers.map((watcher) => watcher.next()));
  for (let i = 0; i < 1000; i++) live.began(beginning(`gen_${i}`));
  // With so many watchers each is served in every fourth turn.
  for (let i = 0; i < 4; i++) live.flush();
  const told = await Promise.all(watchers.slice(0, 3).map((watcher) => watcher.next()));
  assertEquals(told[0][0][0], "lost");
  assertEquals(told[0][0][1].events + told[0].length - 1, 1000);
  assertEquals(told[1], told[0]);
  await Promise.all(watchers.map((watcher) => watcher.cancel()));
});

Deno.test("Live: of more than can be told, calls whose beginning was told are told to their end", async () => {
  const live = liveOf();
  const watchers = Array.from({ length: 1000 }, () => reading(live.watch(options())));
  const filtered = reading(live.watch(options({ key: "rare" })));
  await Promise.all([...watchers, filtered].map((watcher) => watcher.next()));
  /** Each watcher is served in every fifth turn or sooner, those who are told a part in every twelfth. */
  const turns = () => {
    for (let i = 0; i < 12; i++) live.flush();
  };
  for (let i = 0; i < 1000; i++) live.began(beginning(`gen_${i}`));
  turns();
  const [[lost, first], ...begun] = await watchers[0].next();
  assertEquals([lost, first], ["lost", { events: 1000 - begun.length, ended: 0 }]);
  // Others end first.
  for (let i = 999; i >= 0; i--) live.ended(ended(`gen_${i}`));
  live.began(beginning("gen_rare", { key: "rare" }));
  turns();
  const [[, second], ...told] = await watchers[0].next();
  const ends = told.filter(([event]) => event === "end");
  assertEquals(second, { events: 1001 - told.length, ended: 1000 - ends.length });
  const ids = new Set(ends.map(([, { id }]) => id));
  assert(begun.length > 0 && begun.slice(0, ends.length).every(([, { id }]) => ids.has(id)), [...ids].join());
  assertEquals((await filtered.next()).map(([, { id }]) => id), ["gen_rare"], "a filter leaves nothing out");
  await Promise.all([...watchers, filtered].map((watcher) => watcher.cancel()));
});

Deno.test("Live: who watches own calls is told of them within half a second, beside a thousand who are told a part", async () => {
  const live = liveOf();
  const watchers = Array.from({ length: 1000 }, () => reading(live.watch(options())));
  const own = reading(live.watch(options({ key: "own" })));
  await Promise.all([...watchers, own].map((watcher) => watcher.next()));
  const crowd = () => {
    for (let i = 0; i < 250; i++) live.ended(ended(`gen_${Math.random()}`));
  };
  // Until it is known that not all can be told.
  for (let i = 0; i < 8; i++) crowd(), live.flush();
  for (const made of ["own_1", "own_2", "own_3"]) {
    live.began(beginning(made, { key: "own" }));
    live.ended(ended(made, { key: "own" }));
    // Two ticks of 250 ms.
    for (let i = 0; i < 2; i++) crowd(), live.flush();
    assertEquals((await own.next()).map(([event, { id }]) => [event, id]), [["start", made], ["end", made]]);
  }
  const [[lost]] = await watchers[0].next();
  assertEquals(lost, "lost");
  await Promise.all([...watchers, own].map((watcher) => watcher.cancel()));
});

Deno.test("Live: where everybody wants everything and it is too much, what cannot be told is counted and not kept", async () => {
  const live = liveOf();
  const watchers = Array.from({ length: 1000 }, () => reading(live.watch(options())));
  await Promise.all(watchers.map((watcher) => watcher.next()));
  let made = 0, told = 0, lost = 0;
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 1000; i++, made += 2) {
      live.began(beginning(`gen_${round}_${i}`));
      live.ended(ended(`gen_${round}_${i}`));
    }
    for (let i = 0; i < 12; i++) live.flush();
    for (const [event, data] of await watchers[0].next()) {
      if (event === "lost") lost += data.events;
      else told++;
    }
  }
  assertEquals(told + lost, made, "none is forgotten");
  // Less happens: all of it is told again.
  for (let round = 0; round < 2; round++) {
    live.began(beginning(`gen_last_${round}`));
    for (let i = 0; i < 12; i++) live.flush();
    assertEquals((await watchers[0].next()).map(([, { id }]) => id), [`gen_last_${round}`]);
  }
  await Promise.all(watchers.map((watcher) => watcher.cancel()));
});

Deno.test("Live: a watcher whose filter lets nothing through is sent comments while others are told of calls", async () => {
  let now = 0;
  const live = liveOf({ now: () => now });
  const [all, none] = [{}, { key: "other" }].map((filter) => reading(live.watch(options(filter))));
  await Promise.all([all.next(), none.next()]);
  let comments = 0;
  const silent = none.next().then(() => comments++);
  for (; now < 14_000; now += 1000) {
    live.began(beginning(`gen_${now}`));
    live.flush();
    assertEquals((await all.next()).length, 1);
  }
  assertEquals(comments, 0);
  now = 15_000;
  live.flush();
  await silent;
  assertEquals(comments, 1);
  await Promise.all([all.cancel(), none.cancel()]);
});
