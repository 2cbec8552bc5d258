import { assertEquals, assertMatch } from "@std/assert";
import { PlainResponse } from "../../src/transport/plain_response.ts";
import { STALLED_MS, StalledWriters } from "../../src/transport/stalled_writers.ts";
import type { Phase } from "../../src/transport/host.ts";
import { eventually, StoppedClock } from "../support/time.ts";
import { Caller, CLOSE, encoder, get, listening, once } from "./caller.ts";

const writer = (phase: Phase = "writing") => ({ phase, steps: 0 });

Deno.test("StalledWriters names who has waited longest for its client, and none that goes on", () => {
  const clock = new StoppedClock();
  const stalled = new StalledWriters<ReturnType<typeof writer>>(clock);
  const [going, first, second, other] = [writer(), writer(), writer(), writer("handling")];
  const open = [going, first, other];
  assertEquals(stalled.longest(open), null);
  clock.move(STALLED_MS / 2);
  open.push(second);
  going.steps++;
  assertEquals(stalled.longest(open), null);
  clock.move(STALLED_MS / 2 - 1);
  assertEquals(stalled.longest(open), null);
  clock.move(1);
  assertEquals(stalled.longest(open), first);
  // It is closed, so it is not named again.
  assertEquals(stalled.longest([going, second, other]), null);
  going.steps++;
  clock.move(STALLED_MS / 2);
  assertEquals(stalled.longest([going, second, other]), second);
  stalled.forget(second);
  going.phase = "idle";
  clock.move(STALLED_MS);
  assertEquals(stalled.longest([going, other]), null);
});

Deno.test("serve() gives the place of who takes nothing of its answer to who comes, and keeps one that takes", async () => {
  const clock = new StoppedClock();
  const text = "x".repeat(40_000);
  const server = listening({
    maxConnections: { most: 2 },
    clock,
    looking: false,
    handle: () => Promise.resolve(new PlainResponse(text, { headers: { "content-type": "text/plain" } })),
  });
  const asks = async () => {
    const conn = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
    await conn.write(encoder.encode(get("/").repeat(1500)));
    return conn;
  };
  const stuck = await asks();
  const takes = await asks();
  await eventually(() => server.connections.writing === 2);
  (await Caller.to(server)).close();
  await eventually(() => server.refused === 1);
  clock.move(STALLED_MS - 1);
  // More than both kernels keep between two writes.
  const buffer = new Uint8Array(1 << 16);
  for (let taken = 0; taken < 20e6;) taken += (await takes.read(buffer))!;
  await eventually(() => server.connections.writing === 2);
  clock.move(1);
  assertMatch(await once(server, get("/", CLOSE)), /^HTTP\/1\.1 200 /);
  assertEquals([server.refused, server.connections.writing], [1, 1]);
  stuck.close();
  takes.close();
  await server.shutdown();
});
