/** Connections that rest after a rush of calls. */
import { assertEquals } from "@std/assert";
import { type Connection, Pool } from "../../src/outgoing/http1_connection.ts";
import { StoppedClock } from "../support/time.ts";

/** A connection that has come to rest then. */
function rested(pool: Pool, now: number): { closed: boolean } {
  const connection = {
    idleSince: now,
    closed: false,
    close() {
      this.closed = true;
    },
  };
  assertEquals(pool.keep(connection as unknown as Connection, now, new StoppedClock(now)), true);
  return connection;
}

for (const [secure, idleMs] of [[false, 30_000], [true, 90_000]] as const) {
  Deno.test(`Pool.keep() closes those that have rested too long, ${secure ? "behind TLS" : "in the open"}`, () => {
    const pool = new Pool(secure);
    const rush = [0, 1, 2].map((ms) => rested(pool, ms));
    // One call after the other takes the same one.
    const taken = rested(pool, 10);
    for (let now = 1000; now < idleMs; now += 1000) {
      assertEquals(pool.take(now), taken as unknown as Connection);
      (taken as unknown as Connection).idleSince = now;
      pool.keep(taken as unknown as Connection, now, new StoppedClock(now));
    }
    assertEquals([rush.map(({ closed }) => closed), pool.size], [[false, false, false], 4]);
    rested(pool, idleMs + 1);
    assertEquals([rush.map(({ closed }) => closed), pool.size], [[true, true, false], 3]);
    rested(pool, idleMs + 2);
    assertEquals([rush[2].closed, taken.closed, pool.size], [true, false, 3]);
  });
}
