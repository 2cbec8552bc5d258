/**
 * The fault matrix: everything a provider can do wrong, what the caller sees of it, what is recorded, and whether the
 * breaker hears of it.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { DEAF_URL, type Script } from "../support/faulty_provider.ts";
import { SECRET } from "../support/gateway.ts";
import { eventually, type StoppedClock, turns } from "../support/time.ts";
import { FAULTS, UNAVAILABLE } from "./fault_table.ts";
import { burst, delta, ENDING, HEADERS, refusal, setting, sound } from "./fault_rig.ts";

/** Moves the clock on until something is through. */
async function untilOver<T>(work: Promise<T>, clock: StoppedClock): Promise<T> {
  let over = false;
  const end = work.finally(() => over = true);
  end.catch(() => {});
  // Less than the time that failures are remembered for.
  while (!over) await clock.moveOn(10_000);
  return await end;
}

for (const fault of FAULTS) {
  Deno.test(`a provider ${fault.name}`, async () => {
    for (const stream of [true, false]) {
      await setting(fault.script, async ({ provider, clock, heard, ask, health, records }) => {
        const work = ask("faulty", stream);
        if (fault.silence) {
          await eventually(() => provider.hits.faulty);
          // What a provider says before its silence has arrived; of a whole answer the caller sees nothing.
          if (stream && fault.begun) await eventually(() => heard().includes("Hi"));
          else await turns(100);
        }
        const seen = await (fault.silence ? untilOver(work, clock) : work);
        const [status, code] = stream ? fault.stream : fault.whole;
        assertEquals([seen.status, seen.code], [status, code], seen.text);
        if (stream && status === 200) assertStringIncludes(seen.text, "data: [DONE]");
        if (code !== null && status === 200) assertStringIncludes(seen.text, "Hi");

        const { failures, state } = await health("faulty");
        // The model has one route: an answer that breaks off on its way to the caller does not count there.
        const midAnswer = stream && status === 200 && code !== null;
        const counted = Number.isNaN(fault.failures) ? (code === null ? 0 : 1) : fault.failures;
        assertEquals(failures, midAnswer ? 0 : counted);
        assertEquals(state, "closed");
        assertEquals(provider.hits.faulty, fault.hits);
        const list = await records();
        assertEquals(
          list.map((r) => r.status),
          code === null ? ["completed"] : fault.begun ? ["failed"] : [],
        );
        for (const r of list) assertEquals(Number(r.cost) === 0, code !== null);

        const other = await ask("sound", stream);
        assertEquals([other.status, other.code], [200, null]);
        assertEquals((await health("sound")).failures, 0);
      }, fault.options);
    }
  });
}

Deno.test("a provider that nobody reaches is retried, then given up", async () => {
  await setting(sound, async ({ ask, health, slept }) => {
    const seen = await ask("faulty", false);
    assertEquals([seen.status, seen.code], UNAVAILABLE);
    assertEquals((await health("faulty")).failures, 3);
    assertEquals(slept.length, 2);
    assert(slept[0] <= 100 && slept[1] <= 200, slept.join());
  }, { url: DEAF_URL, provider: { retries: 2 } });
});

Deno.test("a provider that asks for a short wait gets it", async () => {
  const limited = refusal(429, undefined, { "retry-after": "1" });
  await setting(burst(1, limited), async ({ ask, slept }) => {
    assertEquals((await ask("faulty", true)).code, null);
    assertEquals(slept.length, 1);
    assert(slept[0] >= 1000 && slept[0] <= 1100, slept.join());
  }, { provider: { retries: 1 } });
});

Deno.test("a limit that the provider names reaches the caller", async () => {
  await setting(refusal(429, undefined, { "retry-after": "60" }), async ({ ask }) => {
    assertEquals((await ask("faulty", false)).retryAfter, "60");
  });
});

Deno.test("rates that are used up never open the breaker: every caller hears when to come back", async () => {
  await setting(refusal(429, undefined, { "retry-after": "60" }), async ({ provider, ask, health }) => {
    for (let i = 0; i < 12; i++) {
      const seen = await ask("faulty", i % 2 === 0);
      assertEquals([seen.status, seen.code, seen.retryAfter], [429, "provider_rate_limited", "60"]);
    }
    const { state, failures, attempts_failed } = await health("faulty");
    assertEquals([state, failures, attempts_failed, provider.hits.faulty], ["closed", 0, 12, 12]);
  });
});

Deno.test("a provider that drips one byte a second is slow, and not silent", async () => {
  const text = delta("Hi") + ": waits\n\n".repeat(80) + ENDING;
  const script = (clock: StoppedClock): Script => async (e) => {
    e.head(200, HEADERS);
    // The provider would have to be some thousand turns of the event loop ahead of the gateway to seem silent.
    for (const letter of text) {
      e.chunk(letter);
      clock.move(1000);
      await turns(1);
    }
    e.write("0\r\n\r\n");
  };
  await setting(sound, async ({ provider, clock, ask, health, records }) => {
    provider.play(script(clock));
    const seen = await ask("faulty", true);
    assertEquals([seen.status, seen.code], [200, null]);
    assert(clock.time > 1_000_000);
    assertEquals((await health("faulty")).failures, 0);
    assertEquals((await records()).map((r) => r.status), ["completed"]);
  }, { provider: { first_byte_seconds: 1000, idle_seconds: 1000 } });
});

Deno.test("a caller who leaves is billed, and the provider not blamed", async () => {
  let finish = () => {};
  const held = new Promise<void>((resolve) => finish = resolve);
  const left = Promise.withResolvers<void>();
  const script: Script = async (e) => {
    e.head(200, HEADERS);
    e.chunk(delta("Hi"));
    await held;
    e.chunk(ENDING);
    e.write("0\r\n\r\n");
  };
  await setting(script, async ({ gateway, clock, health, records }) => {
    const abort = new AbortController();
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      signal: abort.signal,
      headers: { authorization: `Bearer ${SECRET}` },
      body: JSON.stringify({
        model: "p/faulty",
        stream: true,
        messages: [{ role: "user", content: "Hello" }],
      }),
    });
    await response.body!.getReader().read();
    abort.abort();
    await left.promise;
    // Only now and then does a call look at its connection.
    await clock.moveOn(1000);
    finish();
    await gateway.gateway.idle();
    const [record] = await records();
    assertEquals([record.status, record.client_gone], ["completed", true]);
    assertEquals((record.usage as Record<string, number>).output_tokens, 2);
    assertEquals((await health("faulty")).failures, 0);
  }, { onRequest: (request) => request.signal.addEventListener("abort", () => left.resolve()) });
});

Deno.test("an answer that breaks off ends in each format's own error event", async () => {
  const cut: Script = async (e) => {
    e.head(200, HEADERS);
    e.chunk(delta("Hi"));
    await e.flush();
  };
  const content = "Hello";
  const messages = [{ role: "user", content }];
  const cases: [path: string, body: Record<string, unknown>, event: RegExp][] = [
    [
      "/v1/chat/completions",
      { messages },
      /data: \{"error":\{"code":"provider_unavailable".*\n\ndata: \[DONE\]\n\n$/,
    ],
    [
      "/v1/messages",
      { messages, max_tokens: 9 },
      /event: error\ndata: \{"type":"error","error":\{"type":"overloaded_error","code":"provider_unavailable".*\n\n$/,
    ],
    [
      "/v1/responses",
      { input: content },
      /event: error\ndata: \{.*"code":"provider_unavailable".*\n\n(?:event: response.failed\ndata: .*\n\n)data: \[DONE\]\n\n$/,
    ],
  ];
  await setting(cut, async ({ gateway }) => {
    for (const [path, body, event] of cases) {
      const response = await gateway.post(path, { model: "p/faulty", stream: true, ...body });
      const text = await response.text();
      assertStringIncludes(text, "Hi");
      assert(event.test(text), `${path}: ${text}`);
    }
  });
});
