/** When workers that end are replaced, and what becomes of all where one cannot start. */
import { assertEquals } from "@std/assert";
import { runWorkers } from "../src/workers.ts";
import { eventually, heldTimers, nextTurn } from "./support/time.ts";

const DIED = { success: false, code: 1, signal: null } as const;
const KILLED = { success: false, code: 137, signal: "SIGKILL" } as const;
const TERMINATED = { success: false, code: 143, signal: "SIGTERM" } as const;
const ENDED = { success: true, code: 0, signal: null } as const;

/** A process that the test ends. */
class Child {
  readonly signals: string[] = [];
  readonly #status = Promise.withResolvers<Deno.CommandStatus>();
  readonly status = this.#status.promise;
  readonly #pipes: ReadableStreamDefaultController<Uint8Array>[] = [];
  readonly stdout = new ReadableStream<Uint8Array>({ start: (pipe) => void this.#pipes.push(pipe) });
  readonly stderr = new ReadableStream<Uint8Array>({ start: (pipe) => void this.#pipes.push(pipe) });

  constructor(readonly which: number, readonly port: number | null) {}

  listens(): void {
    this.#pipes[0].enqueue(new TextEncoder().encode("sluice listening on http://127.0.0.1:9\n"));
  }

  kill(signal: string): void {
    this.signals.push(signal);
  }

  end(status: Deno.CommandStatus): void {
    for (const pipe of this.#pipes) pipe.close();
    this.#status.resolve(status);
  }
}

function running(count: number) {
  const children: Child[] = [];
  const logged: string[] = [];
  const printed: string[] = [];
  const workers = runWorkers({
    count,
    spawn(which, port) {
      const child = new Child(which, port);
      children.push(child);
      return child as unknown as Deno.ChildProcess;
    },
    print: (line) => printed.push(line),
    printError() {},
    log: (line) => logged.push(line),
    patienceMs: 60_000,
  });
  return { workers, children, logged, printed };
}

Deno.test("a worker that ends again and again is replaced after pauses that double to half a minute, and begin anew after ten seconds of life", async () => {
  using timers = heldTimers(500, 1000, 2000, 4000, 8000, 16_000, 30_000);
  const { held } = timers;
  const { now } = performance;
  let lived = 0;
  performance.now = () => now.call(performance) + lived;
  try {
    const { workers, children, logged, printed } = running(1);
    children[0].listens();
    await eventually(() => printed.length === 1);
    const pauses: number[] = [];
    const replaced = async (livedMs = 0) => {
      const before = children.length;
      // The next worker counts from the end of the one before.
      await eventually(() => logged.length === before - 1);
      lived += livedMs;
      children[before - 1].end(DIED);
      await eventually(() => {
        for (const { ms, run } of held.splice(0)) {
          // As long as the last lines of one that has ended are waited for.
          if (ms !== 1000) pauses.push(ms);
          run();
        }
        return children.length > before;
      });
    };
    for (let i = 0; i < 9; i++) await replaced();
    assertEquals(pauses.splice(0), [500, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    await replaced(10_000);
    assertEquals(pauses, []);
    await replaced();
    assertEquals(pauses, [500]);
    assertEquals(children.map(({ which, port }) => `${which} ${port}`), ["1 null", ...Array(11).fill("1 9")]);
    workers.stop();
    assertEquals(children.at(-1)!.signals, ["SIGTERM"]);
    children.at(-1)!.end(KILLED);
    assertEquals(await workers.ended, { status: 0, killed: true });
  } finally {
    performance.now = now;
  }
});

Deno.test("workers that are stopped during a pause are not replaced", async () => {
  using timers = heldTimers(500);
  const { workers, children, printed } = running(1);
  children[0].listens();
  await eventually(() => printed.length === 1);
  children[0].end(DIED);
  await eventually(() => timers.held.length === 1);
  workers.stop();
  assertEquals([await workers.ended, children.length], [{ status: 0, killed: false }, 1]);
});

Deno.test("where one of several workers cannot start, the others are ended, and the status says so", async () => {
  const { workers, children, logged } = running(3);
  children[0].listens();
  await eventually(() => children.length === 3);
  assertEquals(children.map(({ which, port }) => [which, port]), [[1, null], [2, 9], [3, 9]]);
  children[2].listens();
  children[1].end(DIED);
  await eventually(() => children[2].signals.length > 0);
  for (const child of [children[0], children[2]]) {
    assertEquals(child.signals, ["SIGTERM"]);
    child.end(ENDED);
  }
  assertEquals(await workers.ended, { status: 1, killed: false });
  assertEquals(logged, ["a worker could not start"]);
});

Deno.test("where the first worker cannot start, its status is that of all", async () => {
  for (const [status, expected] of [[{ ...DIED, code: 7 }, 7], [ENDED, 1]] as const) {
    const { workers, children } = running(2);
    children[0].end(status);
    assertEquals([await workers.ended, children.length], [{ status: expected, killed: false }, 1]);
  }
});

Deno.test("a stop while workers start is no failure, and no further ones are started", async () => {
  const stopped = running(3);
  stopped.workers.stop();
  assertEquals(stopped.children[0].signals, ["SIGTERM"]);
  // It has just begun to listen.
  stopped.children[0].listens();
  await nextTurn();
  stopped.children[0].end(ENDED);
  await nextTurn();
  assertEquals(stopped.children.length, 1);
  assertEquals(await stopped.workers.ended, { status: 0, killed: false });

  const first = running(2);
  first.workers.stop();
  first.children[0].end(TERMINATED);
  assertEquals(await first.workers.ended, { status: 0, killed: false });

  const others = running(2);
  others.children[0].listens();
  await eventually(() => others.children.length === 2);
  others.workers.stop();
  others.children[1].end(TERMINATED);
  others.children[0].end(ENDED);
  assertEquals([await others.workers.ended, others.logged], [{ status: 0, killed: false }, []]);
});

Deno.test("signals reach every worker that runs", async () => {
  const { workers, children, printed } = running(2);
  children[0].listens();
  await eventually(() => children.length === 2);
  assertEquals(printed, []);
  children[1].listens();
  // Once all of them listen.
  await eventually(() => printed.length === 1);
  workers.reload();
  workers.hurry();
  assertEquals(children.map(({ signals }) => signals), [["SIGHUP", "SIGINT"], ["SIGHUP", "SIGINT"]]);
  workers.stop();
  for (const child of children) child.end(ENDED);
  assertEquals(await workers.ended, { status: 0, killed: false });
});
