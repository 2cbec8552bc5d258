/** What the writer of payloads does when its process ends, and when the storage refuses. */
import { assert, assertEquals } from "@std/assert";
import { payloadKeys } from "../../src/payloads/envelope.ts";
import { type PayloadOutcome, PayloadWriter } from "../../src/payloads/writer.ts";
import { eventually } from "../support/time.ts";

async function writing(put: (id: string) => Promise<void>, queueBytes = 1000) {
  const [key] = await payloadKeys(["a key of payloads"]);
  const outcomes: PayloadOutcome[] = [];
  const warned: string[] = [];
  const stored: string[] = [];
  const slept: number[] = [];
  let now = 0;
  let held = 0;
  const writer = new PayloadWriter({
    storage: {
      place: "here",
      put,
      get: () => Promise.resolve(null),
      removeBefore: () => Promise.resolve(false),
    },
    key,
    queueBytes,
    ended: (outcome) => void outcomes.push(outcome),
    stored: (id) => void stored.push(id),
    warn: (line) => void warned.push(line),
    now: () => now,
    held: () => void held++,
    sleep: (ms) => Promise.resolve(void slept.push(ms)),
  });
  const add = (...ids: string[]) => {
    for (const id of ids) writer.add(id, "key", 10, () => ({ id }));
  };
  return {
    writer,
    add,
    outcomes,
    warned,
    stored,
    slept,
    held: () => held,
    move: (ms: number) => void (now += ms),
  };
}

Deno.test("the end of a process waits for the payloads that are still to be written", async () => {
  const go = Promise.withResolvers<void>();
  let asked = 0;
  const { writer, add, outcomes, stored, held } = await writing(() => {
    asked++;
    return go.promise;
  });
  add("a", "b", "c", "d", "e", "f");
  // Four at a time.
  await eventually(() => asked === 4);
  const closing = writer.close(3_600_000);
  assertEquals([asked, writer.bytes], [4, 60]);
  go.resolve();
  await closing;
  assertEquals([stored.sort().join(""), outcomes.length, writer.bytes], ["abcdef", 6, 0]);
  assert(held() >= 6);
});

Deno.test("payloads for which no time is left are dropped, counted, and logged once a minute", async () => {
  let asked = 0;
  const { writer, add, outcomes, warned, move } = await writing(() => {
    asked++;
    return new Promise(() => {});
  });
  add("a", "b", "c", "d", "e", "f");
  await eventually(() => asked === 4);
  await writer.close(1);
  assertEquals(outcomes, ["dropped", "dropped"]);
  add("g");
  assertEquals([outcomes.length, warned], [3, ["a payload was not kept: the process ended"]]);
  move(60_000);
  add("h");
  assertEquals(warned[1], "3 payloads were not kept: the process ended");
});

Deno.test("a payload that the storage refuses is tried three times", async () => {
  let refusals = 2;
  let asked = 0;
  const { writer, add, outcomes, warned, slept } = await writing(() => {
    asked++;
    return refusals-- > 0
      ? Promise.reject(new Error("the storage answered with status 503"))
      : Promise.resolve();
  });
  add("a");
  await writer.idle();
  assertEquals([asked, outcomes, slept, warned], [3, ["stored"], [500, 3000], []]);
  refusals = 3;
  add("b");
  await writer.idle();
  assertEquals([asked, outcomes], [6, ["stored", "failed"]]);
  assertEquals(warned, ["a payload was not kept: Error: the storage answered with status 503"]);
  await writer.close();
});
