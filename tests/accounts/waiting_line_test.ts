import { assert, assertEquals } from "@std/assert";
import type { Demand } from "../../src/accounts/budgets/demands.ts";
import type { Lease } from "../../src/accounts/budgets/lease.ts";
import { WaitingLine } from "../../src/accounts/budgets/waiting_line.ts";
import { standStill, standStillUntil } from "../support/stand_still.ts";

Deno.test("a call still gets what came back while the process stood still, for however long that was", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const conn = await Deno.connect({ port: listener.addr.port });
  const answering = await listener.accept();
  let free = false;
  const hold = {};
  const lease = { fits: () => free, isSpent: () => false, mayGrow: () => false, reserve: () => hold };
  const demand = { lease: lease as unknown as Lease, amount: 1n } as Demand;
  const line = new WaitingLine({ now: Date.now, refill: () => Promise.resolve() });
  const waiting = line.wait("key", [demand]);
  // Another call's answer, which gives back what it had reserved.
  const ended = conn.read(new Uint8Array(8)).then(() => {
    free = true;
    line.serve();
  });
  await answering.write(new Uint8Array([1]));
  standStill(1500);
  assertEquals(await waiting as unknown[], [hold]);
  await ended;
  for (const open of [conn, answering, listener]) open.close();
  line.close();
});

Deno.test("a call waits for about a second where nothing comes back", async () => {
  const lease = { fits: () => false, isSpent: () => false, mayGrow: () => false };
  const demand = { lease: lease as unknown as Lease, amount: 1n } as Demand;
  const line = new WaitingLine({ now: Date.now, refill: () => Promise.resolve() });
  assertEquals(await line.wait("key", [demand]), null);
});

Deno.test("a call waits for a few turns only in a process that is late at each", async () => {
  const lease = { fits: () => false, isSpent: () => false, mayGrow: () => false };
  const demand = { lease: lease as unknown as Lease, amount: 1n } as Demand;
  const line = new WaitingLine({ now: Date.now, refill: () => Promise.resolve() });
  const stood = await standStillUntil(line.wait("key", [demand]), 400);
  assert(stood <= 6, String(stood));
});
