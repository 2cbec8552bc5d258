/** What a full server, and one that may open very many files, does about connections. */
import { assertEquals } from "@std/assert";
import { eventually, StoppedClock } from "../support/time.ts";
import { Caller, get, listening } from "./caller.ts";

Deno.test("a full server tells 64 clients at a time so, and closes the connections of others", async () => {
  const over = Promise.withResolvers<Response>();
  // The connections of those who were told are closed after a while: none of them here.
  const clock = new StoppedClock();
  const server = listening({
    maxConnections: { most: 1 },
    clock,
    looking: false,
    handle: () => over.promise,
  });
  const busy = await Caller.to(server);
  await busy.send(get("/"));
  await eventually(() => server.connections.handling === 1);
  const conns: Deno.Conn[] = [];
  const told: boolean[] = [];
  for (let i = 0; i < 80; i++) {
    const conn = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
    conns.push(conn);
    const buffer = new Uint8Array(100);
    const n = await conn.read(buffer).catch(() => null);
    told.push(n !== null && new TextDecoder().decode(buffer.subarray(0, n)).startsWith("HTTP/1.1 503"));
  }
  assertEquals(told, Array.from({ length: 80 }, (_, i) => i < 64));
  assertEquals(server.refused, 80);
  for (const conn of conns) conn.close();
  over.resolve(new Response("ok"));
  busy.close();
  await server.shutdown();
});

Deno.test("connectionBound() lets 16,384 WebSockets rest where far more files may be open", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/sh`, "#!/bin/sh\necho 1000000\n", { mode: 0o755 });
  const module = new URL("../../src/transport/connection_bound.ts", import.meta.url);
  const script = `const { connectionBound } = await import(${JSON.stringify(module.href)});
    const bound = connectionBound(null, 1, () => {});
    await bound.find();
    console.log(JSON.stringify([bound.most, bound.resting, bound.files]));
    Deno.exit();`;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", script],
    env: { PATH: `${folder}:${Deno.env.get("PATH")}` },
    stderr: "null",
  }).output();
  await Deno.remove(folder, { recursive: true });
  assertEquals(JSON.parse(new TextDecoder().decode(stdout)), [8192, 16_384, null]);
});
