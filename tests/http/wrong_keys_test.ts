import { assertEquals, assertRejects } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { WrongKeys } from "../../src/http/wrong_keys.ts";
import { testGateway } from "../support/gateway.ts";
import { stoppedTicker, turns } from "../support/time.ts";

Deno.test("WrongKeys answers ten of an address at once, and the next ones later and later", async () => {
  const { ticker, pass } = stoppedTicker();
  const wrong = new WrongKeys(ticker);
  for (let i = 0; i < 10; i++) await wrong.wait("a");
  for (const ms of [100, 200, 400, 800, 1600, 3200, 5000, 5000]) {
    let over = false;
    const waiting = wrong.wait("a").then(() => over = true);
    await wrong.wait("b").catch(() => {});
    pass(ms - 1);
    await turns(2);
    assertEquals(over, false, `${ms}`);
    pass(1);
    await waiting;
  }
});

Deno.test("WrongKeys forgets an address after a quarter of an hour, and holds back only so many answers", async () => {
  const { ticker, clock, pass } = stoppedTicker();
  const wrong = new WrongKeys(ticker);
  for (let i = 0; i < 10; i++) await wrong.wait("a");
  clock.move(900_000);
  await wrong.wait("a");
  for (let i = 0; i < 9; i++) await wrong.wait("a");
  const held = Array.from({ length: 32 }, () => wrong.wait("a"));
  const failure = await assertRejects(() => wrong.wait("a"), Failure);
  assertEquals(failure.code, "provider_rate_limited");
  pass(5000);
  await Promise.all(held);
});

Deno.test("WrongKeys remembers a bounded number of addresses", async () => {
  const wrong = new WrongKeys(stoppedTicker().ticker);
  for (let i = 0; i < 10; i++) await wrong.wait("a");
  for (let i = 0; i < 10_000; i++) await wrong.wait(`10.${i}`);
  await wrong.wait("a");
});

Deno.test("the right admin key is answered at once, whoever guesses from its address; new secrets are not stored", async () => {
  const { url, close } = await testGateway({ demo: { api: "demo", url: "" } }, {
    admin_key: "the-right-admin-key",
  });
  const ask = (key: string, path = "/admin/keys", body?: unknown) =>
    fetch(url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${key}` },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  for (let i = 0; i < 10; i++) {
    const refused = await ask(`guess${i}`);
    assertEquals(refused.status, 401);
    await refused.body?.cancel();
  }
  const late = ask("guess");
  const good = await ask("the-right-admin-key", "/admin/keys", { name: "made" });
  assertEquals([good.status, good.headers.get("cache-control")], [201, "no-store"]);
  await good.body?.cancel();
  const rotated = await ask("the-right-admin-key", "/admin/keys/made/rotate", {});
  assertEquals([rotated.status, rotated.headers.get("cache-control")], [200, "no-store"]);
  await rotated.body?.cancel();
  await (await late).body?.cancel();
  await close();
});

Deno.test("WrongKeys slows one who guesses from many addresses of one IPv6 network, and not the neighbours", async () => {
  const { ticker, pass } = stoppedTicker();
  const told: string[] = [];
  const wrong = new WrongKeys(ticker, ({ address }) => void told.push(address));
  for (let i = 0; i < 10; i++) await wrong.wait(`2001:db8:1:2::${i.toString(16)}`);
  let over = false;
  const waiting = wrong.wait("2001:db8:1:2:ffff::1").then(() => over = true);
  await wrong.wait("2001:db8:1:3::1");
  await wrong.wait("::ffff:10.0.0.1");
  await turns(2);
  assertEquals(over, false);
  pass(100);
  await waiting;
  assertEquals(told[3], "2001:db8:1:2::3", "the log tells whole addresses");
  // IPv4 addresses are told apart, in either way to write them.
  for (let i = 0; i < 40; i++) await wrong.wait(i % 2 === 0 ? `10.0.0.${i}` : `::ffff:10.0.1.${i}`);
});
