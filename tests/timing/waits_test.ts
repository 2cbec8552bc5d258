/** A wait ends with its time or with the signal, and nothing of it stays. */
import { assertEquals } from "@std/assert";
import { getEventListeners } from "node:events";
import { rest } from "../../src/timing/waits.ts";

const listeners = (signal: AbortSignal) => getEventListeners(signal, "abort").length;

Deno.test("rest() ends with its time, and leaves no listener on a signal that lives on", async () => {
  const { signal } = new AbortController();
  const waits = [rest(1, signal), rest(1, signal)];
  assertEquals(listeners(signal), 2);
  await Promise.all(waits);
  assertEquals(listeners(signal), 0);
});

Deno.test("rest() ends when the signal is aborted, before or meanwhile", async () => {
  const ending = new AbortController();
  const wait = rest(3_600_000, ending.signal);
  ending.abort();
  await wait;
  await rest(3_600_000, ending.signal);
  assertEquals(listeners(ending.signal), 0);
});
