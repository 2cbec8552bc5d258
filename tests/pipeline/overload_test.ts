/** More at once than a provider or the gateway's memory takes. */
import { assertEquals } from "@std/assert";
import { faultyProvider } from "../support/faulty_provider.ts";
import { testGateway } from "../support/gateway.ts";
import { eventually, StoppedClock } from "../support/time.ts";
import { ADMIN, setting, sound } from "./fault_rig.ts";

Deno.test("a full provider lets a few wait for a short time", async () => {
  await setting((e) => e.hang(), async ({ provider, clock, ask, gateway }) => {
    const first = ask("faulty", false);
    await eventually(() => provider.hits.faulty);
    const waiting = Array.from({ length: 4 }, () => ask("sound", false));
    const health = () =>
      fetch(`${gateway.url}/admin/providers`, { headers: { authorization: `Bearer ${ADMIN}` } })
        .then((r) => r.json()).then(({ data: [p] }) => [p.in_flight, p.queued]);
    await eventually(async () => (await health())[1] === 4);
    const refused = await ask("sound", false);
    assertEquals([refused.status, refused.code, refused.retryAfter], [503, "service_unavailable", "1"]);
    clock.move(1001);
    for (const seen of await Promise.all(waiting)) {
      assertEquals([seen.status, seen.code], [503, "service_unavailable"]);
    }
    assertEquals(await health(), [1, 0]);
    clock.move(120_001);
    assertEquals((await first).code, "provider_timeout");
    assertEquals((await ask("sound", false)).status, 200);
    assertEquals(await health(), [0, 0]);
  }, { provider: { max_concurrent: 1 } });
});

Deno.test("calls whose bodies together are too large are refused, one alone never", async () => {
  const provider = await faultyProvider((e) => e.model === "sound" ? sound(e) : e.hang());
  const clock = new StoppedClock();
  const gateway = await testGateway({}, {
    server: { max_in_flight_bytes: 10_000 },
    providers: { p: { api: "openai-chat", base_url: provider.url, retries: 0 } },
    models: ["hangs", "sound"].map((m) => ({ id: `p/${m}`, routes: [{ provider: "p", model: m }] })),
  }, { clock });
  const ask = (model: string, size: number) =>
    gateway.post("/v1/chat/completions", {
      model: `p/${model}`,
      messages: [{ role: "user", content: "x".repeat(size) }],
    });
  const held = ask("hangs", 20_000);
  await eventually(() => provider.hits.hangs);
  const refused = await ask("sound", 10);
  assertEquals([refused.status, refused.headers.get("retry-after")], [503, "1"]);
  await refused.body?.cancel();
  clock.move(121_000);
  const over = await held;
  assertEquals(over.status, 408);
  await over.body?.cancel();
  const taken = await ask("sound", 10);
  assertEquals(taken.status, 200);
  await taken.body?.cancel();
  await gateway.close();
  await provider.close();
});
