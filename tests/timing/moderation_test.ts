import { assertEquals } from "@std/assert";
import { cpuUsage } from "node:process";
import { type Go, Moderation } from "../../src/timing/moderation.ts";

const NOT_LATE = { lag: 0 };

/** A process whose time and use of its core are told, and whose timers and turns end when they are told to. */
function busyProcess() {
  let time = 0;
  let used = 0;
  let timers: { call: () => void; ms: number }[] = [];
  let turns: (() => void)[] = [];
  const moderation = new Moderation({
    now: () => time,
    used: () => used,
    later: (call, ms) => void timers.push({ call, ms }),
    turnEnd: (call) => void turns.push(call),
  });
  return {
    moderation,
    get timers() {
      return timers.length;
    },
    get turns() {
      return turns.length;
    },
    passes(ms: number, share: number) {
      time += ms;
      used += ms * share;
    },
    /** So many reads, of which nothing waits. */
    reads(count: number, lateness = NOT_LATE): Go[] {
      return Array.from({ length: count }, () => moderation.again(lateness)).filter((go) => go !== null);
    },
    async tick() {
      const due = timers;
      timers = [];
      for (const { call } of due) call();
      await Promise.resolve();
    },
    async turn() {
      const due = turns;
      turns = [];
      for (const call of due) call();
      await Promise.resolve();
    },
  };
}

function watch(count: number, ask: () => Go) {
  const gone: number[] = [];
  for (let i = 0; i < count; i++) {
    const go = ask();
    if (go === null) gone.push(i);
    else void go.then(() => gone.push(i));
  }
  return gone;
}

function made(share: number) {
  const process = busyProcess();
  process.passes(1000, share);
  process.reads(64);
  return process;
}

Deno.test("nothing waits, and no timer runs, while a process has time to spare", () => {
  const process = made(0.6);
  assertEquals(process.reads(1000), []);
  assertEquals(process.moderation.pass(), null);
  assertEquals(process.timers, 0);
});

Deno.test("streams of a busy process wait for one tick on one timer, in the order in which they came", async () => {
  const process = made(0.9);
  assertEquals(process.timers, 1);
  const again = watch(3, () => process.moderation.again(NOT_LATE));
  const passed = watch(2, () => process.moderation.pass());
  await Promise.resolve();
  assertEquals([again, passed, process.timers], [[], [], 1]);
  await process.tick();
  assertEquals([again, passed, process.timers], [[0, 1, 2], [0, 1], 0]);
});

Deno.test("what is read in a tick is passed on at once, and is read again in the next", async () => {
  const process = made(0.9);
  await process.tick();
  assertEquals(process.moderation.pass(), null);
  await process.turn();
  assertEquals(process.moderation.pass(), null);
  const again = watch(1, () => process.moderation.again(NOT_LATE));
  await process.turn();
  const passed = watch(1, () => process.moderation.pass());
  assertEquals([process.turns, process.timers, again, passed], [0, 1, [], []]);
  await process.tick();
  assertEquals([again, passed], [[0], [0]]);
});

Deno.test("of many a turn serves some, and those of the next tick come behind them", async () => {
  const process = made(0.9);
  const first = watch(299, () => process.moderation.again(NOT_LATE));
  await process.tick();
  // The one with which the process was found busy came before them.
  assertEquals(first.length, 127);
  const second = watch(10, () => process.moderation.again(NOT_LATE));
  await process.tick();
  assertEquals([first.length, second.length], [255, 0]);
  await process.turn();
  assertEquals([first.length, second.length], [299, 10]);
  for (let left = 2; left > 0; left--) await process.turn();
  assertEquals([process.turns, process.timers], [0, 0]);
});

Deno.test("a busy process is so until it uses much less, and nothing waits from then on", async () => {
  const process = made(0.9);
  process.passes(100, 0.5);
  await process.tick();
  assertEquals(process.reads(1).length, 1);
  process.passes(100, 0.3);
  const last = watch(2, () => process.moderation.again(NOT_LATE));
  await process.tick();
  assertEquals(last, [0, 1]);
  assertEquals([process.reads(1000), process.timers], [[], 0]);
});

Deno.test("a process that gets its turns late is busy, however little of a core it has", () => {
  const process = busyProcess();
  process.passes(1000, 0.2);
  assertEquals(process.reads(64, { lag: 9 }), []);
  process.passes(100, 0.2);
  assertEquals(process.reads(64, { lag: 10 }).length, 1);
});

Deno.test("a process is not looked at more often than it has to be", () => {
  const process = busyProcess();
  process.passes(99, 1);
  assertEquals(process.reads(64), []);
  process.passes(1, 1);
  assertEquals(process.reads(63), []);
  assertEquals(process.reads(1).length, 1);
});

Deno.test("the use of its core is known of a process that is told of nothing", () => {
  const later: (() => void)[] = [];
  let time = 0;
  const moderation = new Moderation({ now: () => time, later: (call) => void later.push(call) });
  const before = cpuUsage();
  for (let used = 0; used < 80_000;) {
    const { user, system } = cpuUsage(before);
    used = user + system;
  }
  time = 100;
  for (let i = 0; i < 64; i++) void moderation.again(NOT_LATE);
  assertEquals(later.length, 1);
});
