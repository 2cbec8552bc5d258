/** Clients that reset their connections, at moments when the server does not expect it. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { eventually, StoppedClock } from "../support/time.ts";
import { Caller, CLOSE, encoder, get, listening, once } from "./caller.ts";

Deno.test("serve() outlives a client that resets its connection just when its request is refused as late", async () => {
  for (const late of ["GET / HTTP/1.1\r\nhos", "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 9\r\n\r\n{"]) {
    const clock = new StoppedClock();
    const server = listening({ headerMs: 1000, clock, looking: false });
    const conn = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
    await conn.write(encoder.encode(get("/") + late));
    // The rest of the first answer stays unread, so closing resets the connection.
    await conn.read(new Uint8Array(1));
    await eventually(() => {
      const { head = 0, body = 0 } = server.connections;
      return head + body === 1;
    });
    for (let i = 0; i < 3; i++) {
      clock.move(300);
      server.look();
    }
    conn.close();
    clock.move(300);
    // In the same turn, so that the server has not noticed the reset.
    server.look();
    await eventually(() => Object.keys(server.connections).length === 0);
    assertMatch(await once(server, get("/x", CLOSE)), /GET \/x $/);
    await server.shutdown();
  }
});

const RESETS = `
  import net from "node:net";
  for (let i = 0; i < 3; i++) {
    const socket = net.connect(Number(Deno.args[0]), "127.0.0.1");
    socket.on("connect", () => socket.resetAndDestroy());
  }
`;

Deno.test("serve() keeps the idle connections of others when clients reset theirs before they are accepted", async () => {
  const lines: string[] = [];
  const server = listening({ log: (line) => lines.push(line) });
  const idle = await Caller.to(server);
  await idle.send(get("/first"));
  await idle.sees(/first $/);
  // The server's event loop waits for this process, so that it accepts none of the connections before they are reset.
  const { success } = new Deno.Command(Deno.execPath(), { args: ["eval", RESETS, `${server.addr.port}`] })
    .outputSync();
  assert(success);
  assertMatch(await once(server, get("/x", CLOSE)), /GET \/x $/);
  await idle.send(get("/second"));
  assertEquals(await idle.sees(/second $/), true);
  assertEquals(lines, []);
  idle.close();
  await server.shutdown();
});
