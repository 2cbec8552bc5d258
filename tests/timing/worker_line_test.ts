import { assertEquals } from "@std/assert";
import { WorkerLine } from "../../src/timing/worker_line.ts";

/** A worker that does a job when it is told to. */
function heldWorker() {
  const taken: string[] = [];
  let worker!: Worker;
  let id = 0;
  const start = () => {
    worker = {
      postMessage: (job: { id: number; name: string }) => {
        taken.push(job.name);
        id = job.id;
      },
      terminate() {},
    } as unknown as Worker;
    return worker;
  };
  const done = () => worker.onmessage!({ data: { id, result: taken.at(-1) } } as MessageEvent);
  return { taken, start, done };
}

const options = { limitMs: 3_600_000, idleMs: 3_600_000 };

Deno.test("keys take turns before a worker, however many jobs one of them has", async () => {
  const { taken, start, done } = heldWorker();
  const line = new WorkerLine<{ name: string }, string>({ start, ...options, mostWaiting: 10 });
  const jobs = [["a1", "a"], ["a2", "a"], ["a3", "a"], ["b1", "b"]].map(([name, key]) =>
    line.run({ name }, { key })
  );
  for (let i = 0; i < jobs.length; i++) done();
  assertEquals(await Promise.all(jobs), ["a1", "a2", "a3", "b1"]);
  assertEquals(taken, ["a1", "a2", "b1", "a3"]);
  line.close();
});

Deno.test("where the line is full, a job of the key with most of them makes place", async () => {
  const { taken, start, done } = heldWorker();
  const line = new WorkerLine<{ name: string }, string>({ start, ...options, mostWaiting: 3 });
  const first = ["a1", "a2", "a3", "a4"].map((name) => line.run({ name }, { key: "a" }));
  assertEquals(await line.run({ name: "a5" }, { key: "a" }), null);
  const other = line.run({ name: "b1" }, { key: "b" });
  assertEquals(await first[3], null);
  for (let i = 0; i < 4; i++) done();
  assertEquals(await Promise.all([...first, other]), ["a1", "a2", "a3", null, "b1"]);
  assertEquals(taken, ["a1", "a2", "b1", "a3"]);
  line.close();
});

Deno.test("jobs that wait when the line is closed are not done", async () => {
  const { start } = heldWorker();
  const line = new WorkerLine<{ name: string }, string>({ start, ...options, mostWaiting: 3 });
  const jobs = ["a1", "a2"].map((name) => line.run({ name }));
  line.close();
  assertEquals(await Promise.all([...jobs, line.run({ name: "late" })]), [null, null, null]);
});
