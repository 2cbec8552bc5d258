/** That what calls pass through does not chain the dead to the living. */
import { assert } from "@std/assert";

const CHILD = new URL("./garbage_child.ts", import.meta.url).pathname;

Deno.test("nothing that has passed through an array set or a ticker outlives collections of the young generation", async () => {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--v8-flags=--expose-gc", CHILD],
    env: { NO_COLOR: "1" },
  }).output();
  const { set, arraySet, ticker } = JSON.parse(new TextDecoder().decode(stdout));
  // Of 20 MB. A set is here to show that it is measured: it keeps what it grew and shrank past.
  assert(set > 4, `${set} MB are left of what passed through a set`);
  assert(arraySet < 1, `${arraySet} MB are left of what passed through an array set`);
  assert(ticker < 1, `${ticker} MB are left of what passed through a ticker`);
});
