/** What workers tell each other by way of the process that started them. */
import { assertEquals } from "@std/assert";
import { joinHub, openHub } from "../src/assembly/siblings.ts";
import { eventually } from "./support/time.ts";

Deno.test("workers ask each other, those that are gone or never answer are left out, and strangers hear nothing", async () => {
  const hub = openHub();
  const first = await joinHub(hub.address, 1, () => ({ of: 1 }));
  const second = await joinHub(hub.address, 2, () => ["two", 'with "quotes"\n']);
  await eventually(async () => Object.keys(await first.ask()).length === 1);
  assertEquals(await first.ask(), { 2: ["two", 'with "quotes"\n'] });
  assertEquals(await second.ask(), { 1: { of: 1 } });
  // Questions at once keep apart.
  assertEquals(await Promise.all([first.ask(), second.ask(), first.ask()]), [
    { 2: ["two", 'with "quotes"\n'] },
    { 1: { of: 1 } },
    { 2: ["two", 'with "quotes"\n'] },
  ]);

  const port = Number(hub.address.split(":")[0]);
  const stranger = await joinHub(`${port}:wrong`, 3, () => "never");
  assertEquals(await stranger.ask(), {});
  // One that says who it is, and then nothing.
  const mute = await Deno.connect({ hostname: "127.0.0.1", port });
  const hello = { hello: hub.address.split(":")[1], worker: 4 };
  await mute.write(new TextEncoder().encode(JSON.stringify(hello) + "\n"));
  assertEquals(await first.ask(), { 2: ["two", 'with "quotes"\n'] });
  mute.close();

  second.close();
  await eventually(async () => Object.keys(await first.ask()).length === 0);
  hub.close();
  await eventually(async () => Object.keys(await first.ask()).length === 0);
  for (const one of [first, stranger]) one.close();
});
