/** What workers tell each other by way of the process that started them. */
import { assertEquals, assertRejects } from "@std/assert";
import { joinHub, openHub } from "../src/assembly/siblings.ts";
import { eventually } from "./support/time.ts";

/** Nobody is closed or left out for being late. */
const LONG_MS = 3_600_000;
const patient = { patienceMs: LONG_MS };

Deno.test("workers ask each other, those that are gone are left out, and strangers hear nothing", async () => {
  const hub = openHub(LONG_MS, LONG_MS);
  const first = await joinHub(hub.address, 1, () => ({ of: 1 }), patient);
  const second = await joinHub(hub.address, 2, () => ["two", 'with "quotes"\n'], patient);
  await eventually(async () => Object.keys(await first.ask("metrics")).length === 1);
  assertEquals(await first.ask("metrics"), { 2: ["two", 'with "quotes"\n'] });
  assertEquals(await second.ask("metrics"), { 1: { of: 1 } });
  // Questions at once keep apart.
  assertEquals(await Promise.all([first.ask("metrics"), second.ask("metrics"), first.ask("metrics")]), [
    { 2: ["two", 'with "quotes"\n'] },
    { 1: { of: 1 } },
    { 2: ["two", 'with "quotes"\n'] },
  ]);

  const port = Number(hub.address.split(":")[0]);
  const stranger = await joinHub(`${port}:wrong`, 3, () => "never", patient);
  assertEquals(await stranger.ask("metrics"), {});

  second.close();
  await eventually(async () => Object.keys(await first.ask("metrics")).length === 0);
  hub.close();
  await eventually(async () => Object.keys(await first.ask("metrics")).length === 0);
  for (const one of [first, stranger]) one.close();
});

Deno.test("a worker that says who it is, and then nothing, is left out", async () => {
  const hub = openHub();
  const [port, secret] = hub.address.split(":");
  using mute = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
  await mute.write(new TextEncoder().encode(JSON.stringify({ hello: secret, worker: 3 }) + "\n"));
  const first = await joinHub(hub.address, 1, () => "here");
  const second = await joinHub(hub.address, 2, () => "there");
  // A machine that is busy may make the second one late, too.
  await eventually(async () => (await first.ask("metrics"))[2] === "there");
  hub.close();
  for (const one of [first, second]) one.close();
});

/** A stranger's connection to the hub, which says a line. Resolves with what it was sent once the hub has closed it. */
async function stranger(port: number, line: string): Promise<string> {
  using conn = await Deno.connect({ hostname: "127.0.0.1", port });
  await conn.write(new TextEncoder().encode(line));
  let heard = "";
  try {
    for await (const bytes of conn.readable) heard += new TextDecoder().decode(bytes);
  } catch {
    // Closed with bytes under way.
  }
  return heard;
}

Deno.test("the hub closes strangers at once that send long lines, what is no message, or the secret's beginning", async () => {
  const hub = openHub(LONG_MS, LONG_MS);
  const worker = await joinHub(hub.address, 1, () => "here", patient);
  const other = await joinHub(hub.address, 2, () => "there", patient);
  await eventually(async () => Object.keys(await worker.ask("metrics")).length === 1);
  const [port, secret] = hub.address.split(":");
  const lines = [
    "null\n",
    "7\n",
    "[]\n",
    "{\n",
    '{"ask":1}\n',
    `{"hello":"${secret.slice(0, -1)}","worker":9}\n`,
    `{"hello":["${secret}"],"worker":9}\n`,
    `{"hello":"${secret}","worker":9,"more":"${"x".repeat(300)}"}\n`,
  ];
  for (const line of lines) assertEquals(await stranger(Number(port), line), "", line.slice(0, 60));
  // Without an end: far more than is in the system's buffers cannot be written.
  using endless = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
  const piece = new Uint8Array(1 << 20).fill(97);
  await assertRejects(async () => {
    for (let written = 0; written < 512 << 20;) written += await endless.write(piece);
  });
  assertEquals(await worker.ask("metrics"), { 2: "there" });

  hub.close();
  for (const one of [worker, other]) one.close();
});

Deno.test("the hub keeps few strangers that say nothing, and workers come in beside them", async () => {
  const hub = openHub(LONG_MS, LONG_MS);
  const worker = await joinHub(hub.address, 1, () => "here", patient);
  const other = await joinHub(hub.address, 2, () => "there", patient);
  // Both have said who they are.
  await eventually(async () => Object.keys(await worker.ask("metrics")).length === 1);
  const [port] = hub.address.split(":");
  const silent = await Promise.all(
    Array.from({ length: 200 }, () => Deno.connect({ hostname: "127.0.0.1", port: Number(port) })),
  );
  const ended = silent.map(async (conn) => {
    try {
      return await conn.read(new Uint8Array(1)) === null;
    } catch {
      return true;
    }
  });
  // The first ones had to go for the last ones, and not for being late.
  await Promise.all(ended.slice(0, 100));
  const late = await joinHub(hub.address, 3, () => "there", patient);
  await eventually(async () => Object.keys(await worker.ask("metrics")).length === 2);

  hub.close();
  await Promise.all(ended);
  for (const conn of silent) conn.close();
  for (const one of [worker, other, late]) one.close();
});

Deno.test("a worker does not wait for a process that has stopped passing on what workers ask", async () => {
  using hub = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = hub.accept();
  const worker = await joinHub(`${hub.addr.port}:secret`, 1, () => "here", { patienceMs: 1 });
  assertEquals(await worker.ask("changes"), {});
  worker.close();
  (await accepted).close();
});
