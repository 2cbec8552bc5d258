import { assert, assertEquals, assertRejects } from "@std/assert";
import { within } from "../../src/timing/within.ts";
import { standStill, standStillUntil } from "../support/stand_still.ts";

const MS = 500;
const late = () => new Error("late");

Deno.test("within() does not count the time in which the process stood still", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const conn = await Deno.connect({ port: listener.addr.port });
  const answering = await listener.accept();
  const buffer = new Uint8Array(8);
  const answered = within(MS, conn.read(buffer), late);
  await answering.write(new Uint8Array([1]));
  // The answer is here, and longer than all of the time has passed before anybody looks.
  standStill(3 * MS);
  assertEquals(await answered, 1);
  for (const open of [conn, answering, listener]) open.close();
});

Deno.test("within() waits for a few turns only in a process that is late at each", async () => {
  const stood = await standStillUntil(within(300, new Promise(() => {}), late), 200);
  assert(stood <= 6, String(stood));
});

Deno.test("within() rejects when the work takes too long, and leaves no timer", async () => {
  await assertRejects(() => within(20, new Promise(() => {}), late), Error, "late");
});

Deno.test("within() ends as the work does", async () => {
  assertEquals(await within(3_600_000, Promise.resolve("done"), late), "done");
  await assertRejects(() => within(3_600_000, Promise.reject(new Error("failed")), late), Error, "failed");
});
