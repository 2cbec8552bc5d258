/**
 * The gateway, and beside it what tells how long one step of it holds the event loop, in CPU time of its thread: unlike the time that
 * others wait, it does not depend on what else the machine does.
 *
 * A connection to the port that it prints is answered with the steps since the last one, longest first, and closed.
 */
import { main } from "../../src/main.ts";

/** What is shorter is not told. */
const LEAST_MS = 10;
/** Between two looks: what is done between them counts as one step. */
const LOOK_MS = 1;

// The gateway gives permissions back that reading of this file needs.
Deno.permissions.revoke = (one) => Deno.permissions.query(one);
// Open from the beginning: a crowd may leave no file to be opened.
const clock = Deno.openSync("/proc/thread-self/schedstat");
const buffer = new Uint8Array(64);

function cpuMs(): number {
  clock.seekSync(0, Deno.SeekMode.Start);
  const n = clock.readSync(buffer) ?? 0;
  return Number(new TextDecoder().decode(buffer.subarray(0, n)).split(" ")[0]) / 1e6;
}

let steps: number[] = [];
let last = cpuMs();
setTimeout(function look() {
  const now = cpuMs();
  if (now - last > LEAST_MS) steps.push(Math.round(now - last));
  last = now;
  setTimeout(look, LOOK_MS);
}, LOOK_MS);

const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
console.error(`steps at ${(listener.addr as Deno.NetAddr).port}`);
void (async () => {
  for await (const conn of listener) {
    const told = steps.sort((a, b) => b - a);
    steps = [];
    await conn.write(new TextEncoder().encode(JSON.stringify(told.slice(0, 100)))).catch(() => {});
    conn.close();
  }
})();

await main();
