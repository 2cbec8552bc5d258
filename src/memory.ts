/**
 * How the process keeps its memory, and when it gives some back.
 *
 * Left alone, V8 collects all it can some seconds after any load. The objects of a call exist only while one runs, so with
 * the garbage go the hidden classes of those objects, and with them the machine code of every function that a call passes:
 * the calls that come next take half as long again. Started with {@link V8_FLAGS} V8 leaves that be, and it is done here,
 * for memory that is worth it and when nobody is waiting.
 *
 * Outside of V8 is what the GNU C library keeps of what the start has freed. `MALLOC_ARENA_MAX=1` in the environment, as the start
 * task, the image and the service have it, lets all threads share one heap. An idle gateway takes 80 MB; some 7 more where Deno
 * reads all of the program at the start (see {@link LAZY_IMPORTS}).
 */

/**
 * What V8 is started with; `deno.json`, the image and the workers say the same.
 *
 * - `no-lazy`: functions are compiled with their module, so that they stand in Deno's cache of compiled code. Left alone, V8 compiles a
 *   function when it is first called, and Deno, which fills the cache before that, would have each start compile them anew. A start
 *   takes 0.87 of the processor time until its first answer (medians of 25 pairs, twice), and the process 6 MB more at rest. A start
 *   that finds no cache takes 1.1 times as long; so `.deploy/fill_caches.ts` fills it where a start may not write.
 * - `no-memory-reducer`, `expose-gc`: no collection only because nothing happens, and a way to ask for one.
 * - `invocation-count-for-maglev`: it is compiled better after 50 calls, not 400. In a process's first thousand streams the
 *   first token comes 3 to 10 % sooner (measured with 30 to 100); what is reached in the end is the same.
 * - `minimum-invocations-after-ic-update`: what a function has learnt of its values may have changed 150 calls ago, not 500, before it is
 *   compiled better. The first 4,000 plain calls of a process take 16 to 30 % less of the main thread, its 40th to 600th stream some
 *   10 % (medians of 10 to 20 processes); what is reached in the end is the same.
 * - `no-allocation-site-pretenuring`: under a rush many objects of a call outlive two collections of the young generation, and
 *   V8 takes to making the like of them in the old one. There they keep all they point at, long after their call: every
 *   collection of the young generation then copies 5 KB for each call that was, and the old one is full every half minute.
 * - `max-semi-space-size`, in MB: what is allocated goes round in memory that the processor's caches hold, and a busy process stays
 *   small. A plain call, 64 at a time, takes 414,000 cycles with 8 (median of three), 393,000 with 16, 358,000 with 32, V8's own
 *   bound, for which the process has 30 MB more; with few calls at a time the smaller ones are quicker.
 * - `min-semi-space-size`, in MB: it has that size from the start. Left alone, V8 begins with 1 MB and collects the young generation five
 *   times before the first answer. A start takes 0.95 of the processor time (medians of 15 processes, twice), and an idle process no
 *   more memory, since what the start leaves is collected.
 * - `heap-growing-percent`: the old generation is collected once it is three times what the last collection left. Left alone, V8
 *   waits until it is four times as much under a rush, and hardly more when little goes on: after a rush, 500 calls a second met
 *   two such collections in 10 seconds, with up to 8 ms of the main thread at once and code compiled anew, which made a p99 of 3.6
 *   ms of 1.1.
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
 * The environment that the process is started with; the start task, the image and the service say the same.
 *
 * - `MALLOC_ARENA_MAX`: see above.
 * - `DENO_TOKIO_EVENT_INTERVAL`: Deno looks at what has arrived on sockets in every twelfth turn of the event loop at the latest, not
 *   in every 61st, while there is more to do. Streams that begin at once begin group by group (see timing/groups.ts), and
 *   without such a look the answers to one group would wait for all others. With a look in every turn, whole answers with a full
 *   core cost 6 to 10 % more CPU time.
 */
export const START_ENVIRONMENT = { MALLOC_ARENA_MAX: "1", DENO_TOKIO_EVENT_INTERVAL: "12" };

/**
 * Parts that the program imports when a call first needs them are read from the disk then, and not with the start: Deno would hold
 * the text of all of them for good, 6 MB. For `deno run` alone: a binary of `deno compile` has them in itself.
 */
export const LAZY_IMPORTS = "--unstable-lazy-dynamic-imports";

/**
 * Not worth slow calls, in bytes: a process that was collected after a rush spent 300 µs on each of the next 6,000 calls (500 a
 * second), not 110. A rush of plain calls leaves 290 MB, one of 600 streams 360.
 */
const WORTH_BYTES = 448 << 20;
/** What is there after a collection is there to stay: the next one waits until it is more by this factor. */
const GROWTH = 1.25;
const LOOK_MS = 1000;
/** So many looks in a row must have found hardly anything going on. */
const QUIET_LOOKS = 5;
/** Calls a second, and under way, that are hardly anything. A collection holds them up for a tenth of a second or two. */
const FEW_CALLS = 2;

/** How long after the start its leavings are collected, in milliseconds: first calls come before. */
const SETTLE_MS = 400;

export interface IdleCollector {
  /** Collects what the start has left, unless calls have begun; {@link SETTLE_MS} after the start. */
  settle(): void;
  /** One look; every second, where {@link collectWhenIdle} has not been told otherwise. */
  look(): void;
  close(): void;
}

export interface MemoryOptions {
  /** Calls that have come in so far, and those under way. */
  load(): { entered: number; running: number };
  /** Of the process, in bytes. */
  resident?(): number;
  /** Collects all garbage; null: V8 was started without a way to ask for it, and does as it likes. */
  collect?: (() => void) | null;
  /** False: somebody else looks. */
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
    // No code has been compiled well yet that could be lost. A tenth of the memory comes free, for 30 ms.
    if (running === 0 && entered <= FEW_CALLS) collect?.();
  }

  function look(): void {
    const { entered, running } = load();
    quiet = entered - before <= FEW_CALLS && running <= FEW_CALLS ? quiet + 1 : 0;
    before = entered;
    if (collect === null || quiet < QUIET_LOOKS || resident() < Math.max(WORTH_BYTES, floor * GROWTH)) return;
    collect();
    floor = resident();
  }

  if (looking && collect !== null) {
    timer = setInterval(look, LOOK_MS);
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

/** Collects all garbage, where V8 was started with a way to ask for it. */
export function collectNow(): void {
  collector()?.();
}

function collector(): (() => void) | null {
  const { gc } = globalThis as { gc?(options: { type: string; flavor: string }): void };
  // A usual collection keeps the pages that it emptied.
  return gc === undefined ? null : () => gc({ type: "major", flavor: "last-resort" });
}
