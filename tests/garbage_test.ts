/** That what calls pass through does not chain the dead to the living. */
import { assert } from "@std/assert";

const CHILD = new URL("./garbage_child.ts", import.meta.url).pathname;

async function measured(): Promise<Record<string, number>> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--v8-flags=--expose-gc", CHILD],
    env: { NO_COLOR: "1" },
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout));
}

const found = measured();

Deno.test("nothing that has passed through an array set or a ticker outlives collections of the young generation", async () => {
  const { set, arraySet, ticker } = await found;
  // Of 20 MB. A set is here to show that it is measured: it keeps what it grew and shrank past.
  assert(set > 4, `${set} MB are left of what passed through a set`);
  assert(arraySet < 1, `${arraySet} MB are left of what passed through an array set`);
  assert(ticker < 1, `${ticker} MB are left of what passed through a ticker`);
});

Deno.test("a body that comes byte by byte takes no more memory than another", async () => {
  const { request, answer } = await found;
  // A list of 100,000 arrays takes 20 MB.
  assert(request < 5, `${request} MB are held of a request of 0.1 MB`);
  assert(answer < 5, `${answer} MB are held of an answer of 0.1 MB`);
});
