/** Where a call goes when routes fail: the next one, none at all while a breaker is open, and never more and more. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { loadValue } from "../../src/config/load.ts";
import { faultyProvider, type Script } from "../support/faulty_provider.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { eventually, StoppedClock } from "../support/time.ts";
import { ADMIN, delta, HEADERS, refusal, setting, sound, WHOLE } from "./fault_rig.ts";

Deno.test("a breaker opens, says so, tries again after a while, and closes", async () => {
  await setting(refusal(500), async ({ provider, clock, ask, health, gateway }) => {
    for (let i = 0; i < 5; i++) assertEquals((await ask("faulty", false)).status, 502);
    assertEquals((await health("faulty")).state, "open");
    const refused = await ask("faulty", true);
    assertEquals([refused.status, refused.code], [503, "circuit_breaker_open"]);
    assertEquals(refused.retryAfter, null);
    assertStringIncludes(refused.text, "p (faulty)");
    assertEquals(provider.hits.faulty, 5);
    assertEquals((await ask("sound", false)).status, 200);

    const metrics =
      await (await fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${ADMIN}` } })).text();
    assertStringIncludes(metrics, 'sluice_breaker_state{provider="p",model="faulty"} 2\n');
    assertStringIncludes(metrics, 'sluice_breaker_state{provider="p",model="sound"} 0\n');

    await clock.moveOn(15_001);
    assertEquals((await health("faulty")).state, "half-open");
    assertEquals((await ask("faulty", false)).status, 502);
    assertEquals((await health("faulty")).state, "open");

    await clock.moveOn(15_001);
    provider.play(sound);
    assertEquals((await ask("faulty", false)).status, 200);
    assertEquals((await health("faulty")).state, "half-open");
    assertEquals((await ask("faulty", true)).code, null);
    assertEquals((await health("faulty")).state, "closed");
    assert(gateway.logged.some((line) => line.includes("p (faulty): circuit breaker open after 5 failures")));
  });
});

Deno.test("callers' own mistakes never open a breaker", async () => {
  await setting(refusal(400), async ({ ask, health }) => {
    for (let i = 0; i < 20; i++) assertEquals((await ask("faulty", i % 2 === 0)).status, 400);
    assertEquals((await health("faulty")).state, "closed");
    assertEquals((await health("faulty")).failures, 0);
  });
});

Deno.test("that this process can open no more files never opens a breaker", async () => {
  await setting(sound, async ({ ask, health, provider }) => {
    const { connect } = Deno;
    Deno.connect = (): Promise<never> => Promise.reject(new Error("Too many open files (os error 24)"));
    try {
      for (let i = 0; i < 20; i++) {
        assertEquals((await ask("faulty", i % 2 === 0)).code, "provider_unavailable");
      }
    } finally {
      Deno.connect = connect;
    }
    assertEquals(await health("faulty").then(({ state, failures }) => [state, failures]), ["closed", 0]);
    assertEquals((await ask("faulty", false)).status, 200);
    assertEquals(provider.hits.faulty, 1);
  });
});

Deno.test("the next route answers when the first fails, and while its breaker is open", async () => {
  const second = await faultyProvider(sound);
  const more = { second: { api: "openai-chat", base_url: second.url, api_key: "k" } };
  await setting(refusal(500), async ({ provider, ask, records }) => {
    for (let i = 0; i < 8; i++) assertEquals((await ask("faulty", i % 2 === 0)).code, null);
    assertEquals(provider.hits.faulty, 5);
    assertEquals(second.hits.faulty, 8);
    assertEquals(new Set((await records()).map((r) => r.provider)), new Set(["second"]));
  }, { more });
  await second.close();
});

Deno.test("a refused key sends callers to the next route, and the operator one line", async () => {
  const second = await faultyProvider(sound);
  const more = { second: { api: "openai-chat", base_url: second.url, api_key: "k" } };
  await setting(refusal(401), async ({ ask, gateway, health }) => {
    for (let i = 0; i < 3; i++) assertEquals((await ask("faulty", false)).status, 200);
    assertEquals(gateway.logged.filter((line) => line.includes("refuses our key")).length, 1);
    assertEquals((await health("faulty")).failures, 0);
  }, { more });
  await second.close();
});

Deno.test("a route whose key or model is refused is asked once in some seconds, while another one answers", async () => {
  const second = await faultyProvider(sound);
  const more = { second: { api: "openai-chat", base_url: second.url, api_key: "k" } };
  for (const status of [401, 402, 403, 404, 302]) {
    let refused = true;
    const script: Script = (e, nth) => refused ? refusal(status)(e, nth) : sound(e);
    await setting(script, async ({ provider, clock, ask }) => {
      for (let i = 0; i < 4; i++) assertEquals((await ask("faulty", i % 2 === 0)).code, null);
      assertEquals([status, provider.hits.faulty], [status, 1]);
      assertEquals((await ask("sound", false)).status, 200);
      await clock.moveOn(5000);
      for (let i = 0; i < 2; i++) assertEquals((await ask("faulty", false)).status, 200);
      assertEquals([status, provider.hits.faulty], [status, 2]);
      refused = false;
      await clock.moveOn(5000);
      for (let i = 0; i < 2; i++) assertEquals((await ask("faulty", false)).status, 200);
      assertEquals([status, provider.hits.faulty], [status, 4]);
    }, { more });
  }
  await second.close();
  // The only route is asked every time.
  await setting(refusal(401), async ({ provider, ask }) => {
    for (let i = 0; i < 3; i++) assertEquals((await ask("faulty", false)).status, 502);
    assertEquals(provider.hits.faulty, 3);
  });
});

Deno.test("a route that says when to come back is passed over until then, while another one answers", async () => {
  const second = await faultyProvider(sound);
  const more = { second: { api: "openai-chat", base_url: second.url, api_key: "k" } };
  for (const [status, asked, hold] of [[429, "30", 30], [503, "40", 40], [429, "90000", 600]] as const) {
    const limited = refusal(status, undefined, { "retry-after": asked });
    await setting(limited, async ({ provider, clock, ask, health }) => {
      for (let i = 0; i < 4; i++) assertEquals((await ask("faulty", i % 2 === 0)).code, null);
      assertEquals(provider.hits.faulty, 1);
      assertEquals((await health("faulty")).state, "closed");
      // Other models of the provider are not meant.
      assertEquals((await ask("sound", false)).status, 200);
      // Calls set their deadlines by the time of the last tick, which must not lie before this step.
      await clock.moveOn(hold * 1000 - 1);
      await ask("faulty", false);
      assertEquals(provider.hits.faulty, 1);
      clock.time += 1;
      assertEquals((await ask("faulty", false)).status, 200);
      assertEquals(provider.hits.faulty, 2);
    }, { more });
  }
  await second.close();
});

Deno.test("a route that rests is asked when no other one answers, and counts as before once it does", async () => {
  let limited = true;
  const second = await faultyProvider(refusal(500));
  const more = { second: { api: "openai-chat", base_url: second.url, api_key: "k", retries: 0 } };
  const script: Script = (e, nth) =>
    limited ? refusal(429, undefined, { "retry-after": "30" })(e, nth) : sound(e);
  await setting(script, async ({ provider, ask }) => {
    for (let i = 0; i < 2; i++) {
      const { status, retryAfter } = await ask("faulty", false);
      // The second call asks the second route first, and hears of the first one when to come back.
      assertEquals([status, retryAfter], i === 0 ? [502, null] : [429, "30"]);
    }
    assertEquals([provider.hits.faulty, second.hits.faulty], [2, 2]);
    limited = false;
    assertEquals((await ask("faulty", false)).status, 200);
    assertEquals([provider.hits.faulty, second.hits.faulty], [3, 3]);
    assertEquals((await ask("faulty", false)).status, 200);
    assertEquals([provider.hits.faulty, second.hits.faulty], [4, 3]);
  }, { more });
  await second.close();
});

Deno.test("a call waits for a place at a route that is well before it asks one that rests", async () => {
  let release = () => {};
  const gate = new Promise<void>((done) => release = done);
  const second = await faultyProvider(async (e, nth) => {
    if (nth === 1) await gate;
    await sound(e);
  });
  const more = { second: { api: "openai-chat", base_url: second.url, api_key: "k", max_concurrent: 1 } };
  await setting(refusal(429, undefined, { "retry-after": "30" }), async ({ provider, ask, gateway }) => {
    assertEquals((await ask("faulty", false)).status, 200);
    const busy = ask("faulty", false);
    await eventually(() => second.hits.faulty === 2);
    const waits = ask("faulty", false);
    await eventually(async () => {
      const response = await fetch(`${gateway.url}/admin/providers`, {
        headers: { authorization: `Bearer ${ADMIN}` },
      });
      return (await response.json()).data[1].queued === 1;
    });
    release();
    assertEquals([(await busy).status, (await waits).status], [200, 200]);
    assertEquals(provider.hits.faulty, 1);
  }, { more });
  await second.close();
});

Deno.test("no route is tried after the first byte", async () => {
  const second = await faultyProvider(sound);
  const more = { second: { api: "openai-chat", base_url: second.url, api_key: "k" } };
  const cut: Script = async (e) => {
    e.head(200, HEADERS);
    e.chunk(e.stream ? delta("Hi") : WHOLE.slice(0, 20));
    await e.flush();
  };
  await setting(cut, async ({ ask, health }) => {
    assertEquals((await ask("faulty", true)).code, "provider_unavailable");
    // There is another route to go to, so it counts.
    assertEquals((await health("faulty")).failures, 1);
    assertEquals((await ask("faulty", false)).code, "provider_unavailable");
    assertEquals(second.hits.faulty, undefined);
  }, { more, provider: { retries: 2 } });
  await second.close();
});

Deno.test("everything failing is not answered with more and more requests", async () => {
  await setting(refusal(500), async ({ provider, ask }) => {
    await Promise.all(Array.from({ length: 200 }, () => ask("faulty", false)));
    // Ten, and a tenth of two hundred.
    assert(provider.hits.faulty <= 230, String(provider.hits.faulty));
    assert(provider.hits.faulty >= 205, String(provider.hits.faulty));
  }, { provider: { retries: 2, breaker: { failures: 1_000_000 } } });
});

Deno.test("a reload keeps what is known of a provider that stays the same, and forgets one that does not", async () => {
  await setting(refusal(500), async ({ gateway, provider, ask, health }) => {
    for (let i = 0; i < 5; i++) await ask("faulty", false);
    assertEquals((await health("faulty")).state, "open");
    const again = (more: Record<string, unknown>) =>
      loadValue({
        store: { url: "sqlite::memory:" },
        admin_key: ADMIN,
        providers: { p: { api: "openai-chat", base_url: provider.url, api_key: "k", retries: 0, ...more } },
        models: ["faulty", "sound"].map((m) => ({ id: `p/${m}`, routes: [{ provider: "p", model: m }] })),
        keys: [{ name: "test", secret: SECRET }],
      }, { env: () => undefined }).config;
    await gateway.gateway.reload(again({ max_concurrent: 9 }));
    assertEquals((await ask("faulty", false)).code, "circuit_breaker_open");
    await gateway.gateway.reload(again({ api_key: "another" }));
    assertEquals((await ask("faulty", false)).code, "provider_unavailable");
  });
});

Deno.test("svc/auto leaves out a model that no route would be tried for", async () => {
  const script: Script = (e) => e.model === "dear" ? refusal(500)(e, 0) : sound(e);
  const provider = await faultyProvider(script);
  const route = (model: string) => [{ provider: "p", model }];
  const gateway = await testGateway({}, {
    providers: { p: { api: "openai-chat", base_url: provider.url, retries: 0 } },
    models: [
      { id: "p/cheap", routes: route("cheap"), pricing: { prompt: "0.000001", completion: "0.000001" } },
      { id: "p/dear", routes: route("dear"), pricing: { prompt: "0.0001", completion: "0.0001" } },
    ],
    auto: { models: ["p/cheap", "p/dear"], quality: 1 },
  });
  const messages = [{ role: "user", content: "Prove that there are infinitely many primes." }];
  const ask = async () => {
    const response = await gateway.post("/v1/chat/completions", { model: "svc/auto", messages });
    await response.body?.cancel();
    return [response.status, response.headers.get("x-svc-route")?.split(" ")[0], provider.hits.dear];
  };
  // The other model answers; the broken one is asked first until its breaker opens.
  for (let i = 1; i <= 5; i++) assertEquals(await ask(), [200, "p/cheap", i]);
  assertEquals(await ask(), [200, "p/cheap", 5]);
  await gateway.close();
  await provider.close();
});

Deno.test("conversations are shared out to weighted routes, and each stays where it is unless the model says otherwise", async () => {
  const second = await faultyProvider(sound);
  const provider = await faultyProvider(sound);
  const gateway = await testGateway({}, {
    providers: {
      a: { api: "openai-chat", base_url: provider.url },
      b: { api: "openai-chat", base_url: second.url },
    },
    models: [
      {
        id: "x/y",
        routes: [{ provider: "a", model: "m", weight: 1 }, { provider: "b", model: "m", weight: 1 }],
      },
      {
        id: "x/z",
        cache: "off",
        routes: [{ provider: "a", model: "z", weight: 1 }, { provider: "b", model: "z", weight: 1 }],
      },
    ],
  });
  async function ask(model: string, content: string): Promise<void> {
    const response = await gateway.post("/v1/chat/completions", {
      model,
      messages: [{ role: "user", content }],
    });
    await response.body?.cancel();
  }
  const hits = (model: string) => [provider.hits[model] ?? 0, second.hits[model] ?? 0];
  for (let i = 0; i < 40; i++) await ask("x/y", `Hello ${i}`);
  assert(hits("m").every((n) => n > 0), `${hits("m")}`);
  const before = hits("m");
  const long = "Hello again. ".repeat(100);
  for (let i = 0; i < 20; i++) await ask("x/y", long);
  const added = hits("m").map((n, i) => n - before[i]).sort();
  assertEquals(added, [0, 20]);
  for (let i = 0; i < 60; i++) await ask("x/z", long);
  // One in 2^59 runs sends everything one way.
  assert(hits("z").every((n) => n > 0), `${hits("z")}`);
  const after = hits("m");
  for (let i = 0; i < 60; i++) await ask("x/y", "Too short for a cache");
  assert(hits("m").every((n, i) => n > after[i]), `${hits("m")}`);
  await gateway.close();
  await provider.close();
  await second.close();
});

for (const [name, script] of [["fails", refusal(500)], ["has another key", refusal(401)]] as const) {
  Deno.test(`with the order of latency a route that ${name} is not the first of every call`, async () => {
    const bad = await faultyProvider(script);
    const good = await faultyProvider(sound);
    const clock = new StoppedClock();
    const gateway = await testGateway({}, {
      providers: {
        bad: {
          api: "openai-chat",
          base_url: bad.url,
          retries: 0,
          breaker: { failures: 1000 },
        },
        good: { api: "openai-chat", base_url: good.url },
      },
      models: [{
        id: "x/y",
        order: "latency",
        routes: [{ provider: "bad", model: "m" }, { provider: "good", model: "m" }],
      }],
    }, { clock });
    const ask = async () => {
      const messages = [{ role: "user", content: "Hello" }];
      const response = await gateway.post("/v1/chat/completions", { model: "x/y", messages });
      await response.body?.cancel();
      return response.status;
    };
    for (let i = 0; i < 5; i++) assertEquals(await ask(), 200);
    assertEquals([bad.hits.m, good.hits.m], [1, 5]);
    // It is measured as soon as it works again.
    bad.play(sound);
    clock.move(31_000);
    assertEquals(await ask(), 200);
    assertEquals([bad.hits.m, good.hits.m], [2, 5]);
    await gateway.close();
    await bad.close();
    await good.close();
  });
}
