/**
 * Memory settings of the process, and when it returns memory to the system.
 *
 * By default V8 runs a full garbage collection some seconds after any load. The objects of a call exist only
 * while a call runs, so this collection also removes their hidden classes, and with them the optimized machine
 * code of every function that a call uses: the next calls take 1.5 times as long. With {@link V8_FLAGS} V8 does
 * not do this. Instead, this module collects when it frees enough memory and no calls are waiting.
 *
 * Outside of V8, the GNU C library keeps memory that was freed after the start. With `MALLOC_ARENA_MAX=1` in the
 * environment, which the start task, the image and the service set, all threads share one heap. An idle gateway
 * takes 80 MB, and some 7 MB more if Deno reads the whole program at the start (see {@link LAZY_IMPORTS}).
 */

/**
 * Flags that V8 is started with. `deno.json`, the image and the workers must have the same ones.
 *
 * - `no-lazy`: functions are compiled together with their module, so that Deno's code cache contains them. By
 *   default V8 compiles a function at its first call, which is after Deno has filled the cache, so each start
 *   would compile them again. With the flag a start takes 0.87 of the CPU time until its first answer (medians
 *   of 25 pairs, twice), and the idle process 6 MB more. A start without a cache takes 1.1 times as long, so
 *   `.deploy/fill_caches.ts` fills the cache where a start may not write.
 * - `no-memory-reducer`, `expose-gc`: V8 runs no collection because of idleness, and the program can request one.
 * - `invocation-count-for-maglev`: a function is optimized after 50 calls instead of 400. In the first thousand
 *   streams of a process the first token comes 3 to 10 % sooner (measured with 30 to 100). The final speed is
 *   the same.
 * - `minimum-invocations-after-ic-update`: a function is optimized if its type feedback has not changed in the
 *   last 150 calls, instead of 500. The first 4,000 plain calls of a process take 16 to 30 % less time of the
 *   main thread, its 40th to 600th stream some 10 % less (medians of 10 to 20 processes). The final speed is the
 *   same.
 * - `no-allocation-site-pretenuring`: under high load many objects of a call survive two collections of the
 *   young generation, after which V8 would allocate such objects in the old generation. There they keep
 *   everything that they reference, long after their call: each collection of the young generation would copy
 *   5 KB for each finished call, and the old generation would be full every half minute.
 * - `max-semi-space-size`, in MB: allocations reuse memory that is in the CPU caches, and a busy process stays
 *   small. A plain call, with 64 concurrent ones, takes 414,000 cycles with 8 MB (median of three), 393,000 with
 *   16, and 358,000 with 32, V8's default, with which the process takes 30 MB more. With few concurrent calls
 *   smaller sizes are faster.
 * - `min-semi-space-size`, in MB: the size at the start. By default V8 begins with 1 MB and collects the young
 *   generation five times before the first answer. With the flag a start takes 0.95 of the CPU time (medians of
 *   15 processes, twice). An idle process takes no more memory, since garbage of the start is collected.
 * - `heap-growing-percent`: the old generation is collected when it has three times the size that the last
 *   collection left. By default V8 waits for four times the size under high load, and for little growth under
 *   low load: after a peak, at 500 calls a second, there were two such collections in 10 seconds, which blocked
 *   the main thread for up to 8 ms and discarded compiled code, so that the p99 was 3.6 ms instead of 1.1 ms.
 * - `no-parallel-scavenge`: the young generation is collected without helper threads, which on one core only take
 *   CPU time from the main thread. At 500 calls a second on one core the p99 is 0.73 ms instead of 1.0 ms (four
 *   alternating rounds).
 */
export const V8_FLAGS = "--v8-flags=" + [
  "--no-lazy",
  "--no-memory-reducer",
  "--expose-gc",
  "--no-allocation-site-pretenuring",
  "--invocation-count-for-maglev=50",
  "--minimum-invocations-after-ic-update=150",
  "--min-semi-space-size=16",
  "--max-semi-space-size=16",
  "--heap-growing-percent=200",
  "--no-parallel-scavenge",
].join();

/**
 * Environment variables that the process is started with. The start task, the image and the service must set the
 * same ones.
 *
 * - `DENO_NO_UPDATE_CHECK`: otherwise Deno asks its website for a newer version, while the first calls are served.
 * - `MALLOC_ARENA_MAX`: see above.
 * - `DENO_TOKIO_EVENT_INTERVAL`: while there is other work, Deno polls the sockets in every twelfth iteration of
 *   the event loop instead of every 61st. Streams that begin at the same time are started in groups (see
 *   timing/groups.ts), and with rarer polling the answers to one group would wait for all other groups. Polling
 *   in every iteration would cost 6 to 10 % more CPU time for whole answers on a fully used core.
 */
export const START_ENVIRONMENT = {
  DENO_NO_UPDATE_CHECK: "1",
  MALLOC_ARENA_MAX: "1",
  DENO_TOKIO_EVENT_INTERVAL: "12",
};

/**
 * With this flag Deno reads dynamically imported modules from the disk when they are first imported. Without it,
 * Deno reads them at the start and keeps the text of all of them, 6 MB. Only for `deno run`: a binary of
 * `deno compile` contains the modules.
 */
export const LAZY_IMPORTS = "--unstable-lazy-dynamic-imports";

/**
 * A process below this size, in bytes, is not collected, since a collection makes calls slow: after one that
 * followed a peak, each of the next 6,000 calls (500 a second) took 300 µs instead of 110 µs. A peak of plain
 * calls leaves 290 MB, one of 600 streams 360 MB.
 */
const LEAST_BYTES = 448 << 20;
/** Memory that remains after a collection is in use: the next collection waits until the size grows by this factor. */
const GROWTH = 1.25;
const CHECK_MS = 1000;
/** Number of consecutive checks that must find (almost) no load. */
const QUIET_CHECKS = 5;
/** Calls per second, and concurrent calls, up to which there is almost no load. A collection delays them by 0.1 to 0.2 seconds. */
const FEW_CALLS = 2;

/** Milliseconds from the start to the collection of its garbage: the first calls have priority. */
const SETTLE_MS = 400;

export interface IdleCollector {
  /** Collects the garbage of the start, unless there were calls. Called {@link SETTLE_MS} after the start. */
  settle(): void;
  /** Checks once whether to collect. Called every second unless {@link MemoryOptions.looking} is false. */
  look(): void;
  close(): void;
}

export interface MemoryOptions {
  /** Number of calls since the start, and of concurrent calls. */
  load(): { entered: number; running: number };
  /** Resident memory of the process in bytes. */
  resident?(): number;
  /** Runs a full garbage collection; null: V8 was started without `expose-gc`. */
  collect?: (() => void) | null;
  /** False: no timers are started; the caller calls {@link IdleCollector.look}. */
  looking?: boolean;
}

export function collectWhenIdle({
  load,
  resident = () => Deno.memoryUsage().rss,
  collect = collector(),
  looking = true,
}: MemoryOptions): IdleCollector {
  let before = 0;
  let quiet = 0;
  let floor = 0;
  let timer: ReturnType<typeof setInterval> | undefined;
  let settling: ReturnType<typeof setTimeout> | undefined;

  function settle(): void {
    const { entered, running } = load();
    // There is no optimized code yet that could be discarded. It takes 30 ms and frees a tenth of the memory.
    if (running === 0 && entered <= FEW_CALLS) collect?.();
  }

  function look(): void {
    const { entered, running } = load();
    quiet = entered - before <= FEW_CALLS && running <= FEW_CALLS ? quiet + 1 : 0;
    before = entered;
    if (collect === null || quiet < QUIET_CHECKS || resident() < Math.max(LEAST_BYTES, floor * GROWTH)) {
      return;
    }
    collect();
    floor = resident();
  }

  if (looking && collect !== null) {
    timer = setInterval(look, CHECK_MS);
    Deno.unrefTimer(timer);
    settling = setTimeout(settle, SETTLE_MS);
    Deno.unrefTimer(settling);
  }
  return {
    settle,
    look,
    close() {
      clearInterval(timer);
      clearTimeout(settling);
    },
  };
}

/** Runs a full garbage collection, if V8 was started with `expose-gc`. */
export function collectNow(): void {
  collector()?.();
}

function collector(): (() => void) | null {
  const { gc } = globalThis as { gc?(options: { type: string; flavor: string }): void };
  // Other collections do not return emptied pages to the system.
  return gc === undefined ? null : () => gc({ type: "major", flavor: "last-resort" });
}
