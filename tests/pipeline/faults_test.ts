/**
 * The fault matrix: everything a provider can do wrong, what the caller sees of it, what is recorded, and whether the
 * breaker hears of it. Beside the faulty model each provider has a sound one, which must not suffer.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { loadValue } from "../../src/config/load.ts";
import {
  deafUrl,
  type Exchange,
  type FaultyProvider,
  faultyProvider,
  type Script,
} from "../support/faulty_provider.ts";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";

const ADMIN = "admin-key-of-the-test";
const HEADERS = { "content-type": "text/event-stream", "transfer-encoding": "chunked" };
const frame = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const delta = (content: string, finish: string | null = null) =>
  frame({
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: finish }],
  });
const USAGE = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 };
const ENDING = delta(" there", "stop") +
  frame({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage: USAGE }) +
  "data: [DONE]\n\n";
const WHOLE = JSON.stringify({
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi there" }, finish_reason: "stop" }],
  usage: USAGE,
});

/** A sound answer. */
function sound(exchange: Exchange): void {
  if (exchange.stream) {
    exchange.head(200, HEADERS);
    exchange.chunk(delta("Hi") + ENDING);
    exchange.write("0\r\n\r\n");
  } else whole(exchange, 200, WHOLE);
}

function whole(exchange: Exchange, status: number, text: string, headers: Record<string, string> = {}): void {
  exchange.head(status, {
    "content-type": "application/json",
    "content-length": String(text.length),
    ...headers,
  });
  exchange.write(text);
}

const refusal = (status: number, body: unknown = { error: { message: "no" } }, headers = {}): Script => (e) =>
  whole(e, status, JSON.stringify(body), headers);

/** The first so many requests fail, the others do not. */
const burst = (times: number, script: Script): Script => (e, nth) => nth < times ? script(e, nth) : sound(e);

interface Clock {
  time: number;
  now(): number;
}

interface Setting {
  provider: FaultyProvider;
  gateway: TestGateway;
  clock: Clock;
  /** Milliseconds of the waits before retries. */
  slept: number[];
  ask(model: string, stream: boolean): Promise<Seen>;
  health(model: string): Promise<{ state: string; failures: number; calls: number; retries: number }>;
  records(): Promise<Record<string, unknown>[]>;
}

interface Seen {
  status: number;
  /** Of the envelope, or of the stream's error event; null: a good answer. */
  code: string | null;
  text: string;
  retryAfter: string | null;
}

interface Options {
  url?: string;
  provider?: Record<string, unknown>;
  /** Routes of the faulty model beside the first. */
  more?: Record<string, Record<string, unknown>>;
}

async function setting(
  script: Script,
  use: (s: Setting) => Promise<void>,
  options: Options = {},
): Promise<void> {
  const provider = await faultyProvider((e, nth) => e.model === "sound" ? sound(e) : script(e, nth));
  const clock = { time: 1000, now: () => clock.time };
  const slept: number[] = [];
  const shape = { api: "openai-chat", api_key: "k", retries: 0, ...options.provider };
  const gateway = await testGateway({}, {
    server: { keepalive_seconds: 86_000 },
    admin_key: ADMIN,
    providers: { p: { ...shape, base_url: options.url ?? provider.url }, ...options.more },
    models: [
      {
        id: "p/faulty",
        pricing: { prompt: "0.001", completion: "0.002" },
        routes: ["p", ...Object.keys(options.more ?? {})].map((name) => ({
          provider: name,
          model: "faulty",
        })),
      },
      { id: "p/sound", routes: [{ provider: "p", model: "sound" }] },
    ],
  }, {
    clock,
    sleep: (ms) => {
      slept.push(ms);
      return Promise.resolve();
    },
  });
  const admin = async (path: string) => {
    const response = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${ADMIN}` } });
    return (await response.json()).data;
  };
  try {
    await use({
      provider,
      gateway,
      clock,
      slept,
      async ask(model, stream) {
        const response = await gateway.post("/v1/chat/completions", {
          model: `p/${model}`,
          stream,
          messages: [{ role: "user", content: "Hello" }],
        });
        const text = await response.text();
        const code = /"code":"(\w+)"/.exec(text)?.[1] ?? null;
        return { status: response.status, code, text, retryAfter: response.headers.get("retry-after") };
      },
      async health(model) {
        const [{ models }] = await admin("/admin/providers");
        return models.find((m: { model: string }) => m.model === model);
      },
      records: () => admin("/admin/generations"),
    });
  } finally {
    await gateway.close();
    await provider.close();
  }
}

interface Fault {
  name: string;
  script: Script;
  options?: Options;
  /** Moves the clock once the provider has the request: it is silent from then on. */
  silence?: boolean;
  /** What the caller sees: of a stream, of a whole answer. */
  stream: [status: number, code: string | null];
  whole: [status: number, code: string | null];
  /** The answer had begun: the provider may charge for it, so there is a record, which bills nothing. */
  begun?: true;
  /** Failures that the breaker counts, for the one call. */
  failures: number;
  /** Requests that the provider sees, for the one call. */
  hits: number;
}

const UNAVAILABLE: [number, string] = [502, "provider_unavailable"];
const TIMEOUT: [number, string] = [408, "provider_timeout"];
const GOOD: [number, null] = [200, null];
const RETRYING = { provider: { retries: 2 } };

const FAULTS: Fault[] = [
  {
    name: "resets before its headers",
    script: (e) => e.reset(),
    stream: UNAVAILABLE,
    whole: UNAVAILABLE,
    failures: 1,
    hits: 1,
  },
  {
    name: "resets before its headers, twice",
    script: burst(2, (e) => e.reset()),
    options: RETRYING,
    stream: GOOD,
    whole: GOOD,
    failures: 2,
    hits: 3,
  },
  {
    name: "closes without a word",
    script: () => {},
    stream: UNAVAILABLE,
    whole: UNAVAILABLE,
    failures: 1,
    hits: 1,
  },
  {
    name: "resets after its headers, before the first byte",
    async script(e) {
      e.head(200, HEADERS);
      await e.flush();
      e.reset();
    },
    options: RETRYING,
    stream: UNAVAILABLE,
    whole: UNAVAILABLE,
    failures: 3,
    hits: 3,
  },
  {
    name: "answers with nothing at all",
    script(e) {
      e.head(200, HEADERS);
      e.write("0\r\n\r\n");
    },
    options: RETRYING,
    stream: UNAVAILABLE,
    whole: UNAVAILABLE,
    failures: 3,
    hits: 3,
  },
  {
    name: "resets after the first bytes",
    async script(e) {
      e.head(200, HEADERS);
      e.chunk(e.stream ? delta("Hi") : WHOLE.slice(0, 20));
      await e.flush();
      e.reset();
    },
    options: RETRYING,
    stream: [200, "provider_unavailable"],
    whole: UNAVAILABLE,
    begun: true,
    failures: 1,
    hits: 1,
  },
  {
    name: "hangs before its headers",
    script: (e) => e.hang(),
    options: RETRYING,
    silence: true,
    stream: TIMEOUT,
    whole: TIMEOUT,
    failures: 1,
    hits: 1,
  },
  {
    name: "hangs after its headers",
    script(e) {
      e.head(200, HEADERS);
      return e.hang();
    },
    silence: true,
    stream: TIMEOUT,
    whole: TIMEOUT,
    failures: 1,
    hits: 1,
  },
  {
    name: "hangs in the middle",
    script(e) {
      e.head(200, HEADERS);
      e.chunk(e.stream ? delta("Hi") : WHOLE.slice(0, 20));
      return e.hang();
    },
    options: RETRYING,
    silence: true,
    stream: [200, "provider_timeout"],
    whole: TIMEOUT,
    begun: true,
    failures: 1,
    hits: 1,
  },
  {
    name: "hangs after a complete answer",
    script(e) {
      e.head(200, HEADERS);
      e.chunk(e.stream ? delta("Hi") + ENDING : WHOLE);
      return e.hang();
    },
    silence: true,
    stream: GOOD,
    // Nothing but its end says that a body is complete.
    whole: TIMEOUT,
    begun: true,
    failures: NaN,
    hits: 1,
  },
  {
    name: "closes in the middle of a frame",
    async script(e) {
      e.head(200, HEADERS);
      e.chunk(e.stream ? delta("Hi") + delta(" there").slice(0, 30) : WHOLE.slice(0, 30));
      await e.flush();
    },
    options: RETRYING,
    stream: [200, "provider_unavailable"],
    whole: UNAVAILABLE,
    begun: true,
    failures: 1,
    hits: 1,
  },
  {
    name: "ends a stream well in the middle of a frame",
    script(e) {
      e.head(200, HEADERS);
      e.chunk(e.stream ? delta("Hi") + delta(" there").slice(0, 30) : WHOLE.slice(0, 30));
      e.write("0\r\n\r\n");
    },
    options: RETRYING,
    stream: [200, "provider_unavailable"],
    whole: UNAVAILABLE,
    begun: true,
    failures: 1,
    hits: 1,
  },
  {
    name: "promises more bytes than it sends",
    script(e) {
      const text = e.stream ? delta("Hi") : WHOLE;
      e.head(200, {
        "content-type": e.stream ? "text/event-stream" : "application/json",
        "content-length": "5000",
      });
      e.write(text);
    },
    options: RETRYING,
    stream: [200, "provider_unavailable"],
    whole: UNAVAILABLE,
    begun: true,
    failures: 1,
    hits: 1,
  },
  {
    name: "promises more bytes than a complete stream has",
    script(e) {
      if (!e.stream) return whole(e, 200, WHOLE);
      e.head(200, { "content-type": "text/event-stream", "content-length": "5000" });
      e.write(delta("Hi") + ENDING);
    },
    stream: GOOD,
    whole: GOOD,
    failures: 0,
    hits: 1,
  },
  {
    name: "promises fewer bytes than it sends",
    async script(e) {
      const text = e.stream ? delta("Hi") + ENDING : WHOLE;
      e.head(200, {
        "content-type": e.stream ? "text/event-stream" : "application/json",
        "content-length": String(delta("Hi").length + 10),
      });
      await e.flush();
      e.write(text);
    },
    options: RETRYING,
    stream: [200, "provider_unavailable"],
    whole: UNAVAILABLE,
    begun: true,
    failures: 1,
    hits: 1,
  },
  {
    name: "answers 429 in a burst",
    script: burst(2, refusal(429)),
    options: RETRYING,
    stream: GOOD,
    whole: GOOD,
    failures: 2,
    hits: 3,
  },
  {
    name: "answers 500 in a burst",
    script: burst(2, refusal(500)),
    options: RETRYING,
    stream: GOOD,
    whole: GOOD,
    failures: 2,
    hits: 3,
  },
  {
    name: "answers 529 for good",
    script: refusal(529),
    options: RETRYING,
    stream: [502, "provider_model_down"],
    whole: [502, "provider_model_down"],
    failures: 3,
    hits: 3,
  },
  {
    name: "answers 408",
    script: burst(1, refusal(408)),
    options: RETRYING,
    stream: GOOD,
    whole: GOOD,
    failures: 1,
    hits: 2,
  },
  {
    name: "says under a good status that it is overloaded",
    script: burst(1, (e) => {
      const error = { error: { message: "Overloaded", type: "overloaded_error", code: 529 } };
      if (!e.stream) return whole(e, 200, JSON.stringify(error));
      e.head(200, HEADERS);
      e.chunk(frame(error));
      e.write("0\r\n\r\n");
    }),
    options: RETRYING,
    stream: GOOD,
    whole: GOOD,
    failures: 1,
    hits: 2,
  },
  {
    name: "asks for a longer wait than is worth it",
    script: refusal(429, undefined, { "retry-after": "60" }),
    options: RETRYING,
    stream: [429, "provider_rate_limited"],
    whole: [429, "provider_rate_limited"],
    failures: 1,
    hits: 1,
  },
  {
    name: "refuses the request",
    script: refusal(400),
    options: RETRYING,
    stream: [400, "provider_bad_request"],
    whole: [400, "provider_bad_request"],
    failures: 0,
    hits: 1,
  },
  {
    name: "refuses the gateway's key",
    script: refusal(401),
    options: RETRYING,
    stream: UNAVAILABLE,
    whole: UNAVAILABLE,
    failures: 0,
    hits: 1,
  },
  {
    name: "refuses, and never ends saying why",
    script(e) {
      e.head(500, { "content-type": "application/json", "transfer-encoding": "chunked" });
      e.chunk('{"error":');
      return e.hang();
    },
    silence: true,
    stream: UNAVAILABLE,
    whole: UNAVAILABLE,
    failures: 1,
    hits: 1,
  },
];

/** Moves the clock on, again and again, until something is through. The process looks at it every 50 ms. */
async function untilOver<T>(work: Promise<T>, clock: Clock, stepMs: number): Promise<T> {
  let over = false;
  const end = work.finally(() => over = true);
  while (!over) {
    await Promise.race([end.catch(() => {}), new Promise((resolve) => setTimeout(resolve, 20))]);
    clock.time += stepMs;
  }
  return await end;
}

for (const fault of FAULTS) {
  Deno.test(`a provider ${fault.name}`, async () => {
    for (const stream of [true, false]) {
      await setting(fault.script, async ({ provider, clock, ask, health, records }) => {
        const work = ask("faulty", stream);
        if (fault.silence) {
          while (!provider.hits.faulty) await new Promise((resolve) => setTimeout(resolve, 5));
          // What was said before the silence is there.
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        const seen = await (fault.silence ? untilOver(work, clock, 10_000) : work);
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
  }, { url: await deafUrl(), provider: { retries: 2 } });
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

Deno.test("a provider that drips one byte a second is slow, and not silent", async () => {
  const text = delta("Hi") + ENDING;
  const script = (clock: Clock): Script => async (e) => {
    e.head(200, HEADERS);
    for (const letter of text) {
      e.chunk(letter);
      clock.time += 1000;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    e.write("0\r\n\r\n");
  };
  await setting(sound, async ({ provider, clock, ask, health, records }) => {
    provider.play(script(clock));
    const seen = await ask("faulty", true);
    assertEquals([seen.status, seen.code], [200, null]);
    assert(clock.time > 500_000);
    assertEquals((await health("faulty")).failures, 0);
    assertEquals((await records()).map((r) => r.status), ["completed"]);
  }, { provider: { first_byte_seconds: 300, idle_seconds: 300 } });
});

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

    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    assertStringIncludes(metrics, 'sluice_breaker_state{provider="p",model="faulty"} 2\n');
    assertStringIncludes(metrics, 'sluice_breaker_state{provider="p",model="sound"} 0\n');

    clock.time += 15_001;
    assertEquals((await health("faulty")).state, "half-open");
    assertEquals((await ask("faulty", false)).status, 502);
    assertEquals((await health("faulty")).state, "open");

    clock.time += 15_001;
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

Deno.test("a full provider lets a few wait for a short time", async () => {
  await setting((e) => e.hang(), async ({ provider, clock, ask, gateway }) => {
    const first = ask("faulty", false);
    while (!provider.hits.faulty) await new Promise((resolve) => setTimeout(resolve, 5));
    const waiting = Array.from({ length: 4 }, () => ask("sound", false));
    const health = () =>
      fetch(`${gateway.url}/admin/providers`, { headers: { authorization: `Bearer ${ADMIN}` } })
        .then((r) => r.json()).then(({ data: [p] }) => [p.in_flight, p.queued]);
    while ((await health())[1] < 4) await new Promise((resolve) => setTimeout(resolve, 5));
    const refused = await ask("sound", false);
    assertEquals([refused.status, refused.code, refused.retryAfter], [503, "service_unavailable", "1"]);
    clock.time += 1001;
    for (const seen of await Promise.all(waiting)) {
      assertEquals([seen.status, seen.code], [503, "service_unavailable"]);
    }
    assertEquals(await health(), [1, 0]);
    clock.time += 120_001;
    assertEquals((await first).code, "provider_timeout");
    assertEquals((await ask("sound", false)).status, 200);
    assertEquals(await health(), [0, 0]);
  }, { provider: { max_concurrent: 1 } });
});

Deno.test("a caller who leaves is billed, and the provider not blamed", async () => {
  let finish = () => {};
  const held = new Promise<void>((resolve) => finish = resolve);
  const script: Script = async (e) => {
    e.head(200, HEADERS);
    e.chunk(delta("Hi"));
    await held;
    e.chunk(ENDING);
    e.write("0\r\n\r\n");
  };
  await setting(script, async ({ gateway, health, records }) => {
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
    // The gateway hears of it through the connection.
    await new Promise((resolve) => setTimeout(resolve, 100));
    finish();
    await gateway.gateway.idle();
    const [record] = await records();
    assertEquals([record.status, record.client_gone], ["completed", true]);
    assertEquals((record.usage as Record<string, number>).output_tokens, 2);
    assertEquals((await health("faulty")).failures, 0);
  });
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
    return [response.status, response.headers.get("x-svc-route")?.split(" ")[0]];
  };
  for (let i = 0; i < 5; i++) assertEquals((await ask())[0], 502);
  assertEquals(await ask(), [200, "p/cheap"]);
  await gateway.close();
  await provider.close();
});

Deno.test("a share of the load goes to each weighted route", async () => {
  const second = await faultyProvider(sound);
  const provider = await faultyProvider(sound);
  const gateway = await testGateway({}, {
    providers: {
      a: { api: "openai-chat", base_url: provider.url },
      b: { api: "openai-chat", base_url: second.url },
    },
    models: [{
      id: "x/y",
      routes: [{ provider: "a", model: "m", weight: 1 }, { provider: "b", model: "m", weight: 1 }],
    }],
  });
  for (let i = 0; i < 60; i++) {
    const response = await gateway.post("/v1/chat/completions", {
      model: "x/y",
      messages: [{ role: "user", content: "Hello" }],
    });
    await response.body?.cancel();
  }
  // One in 2^59 runs sends everything one way.
  assert(provider.hits.m > 0 && second.hits.m > 0);
  assertEquals(provider.hits.m + second.hits.m, 60);
  await gateway.close();
  await provider.close();
  await second.close();
});

Deno.test("calls whose bodies together are too large are refused, one alone never", async () => {
  const provider = await faultyProvider((e) => e.model === "sound" ? sound(e) : e.hang());
  const clock = { time: 0, now: () => clock.time };
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
  while (!provider.hits.hangs) await new Promise((resolve) => setTimeout(resolve, 5));
  const refused = await ask("sound", 10);
  assertEquals([refused.status, refused.headers.get("retry-after")], [503, "1"]);
  await refused.body?.cancel();
  clock.time += 121_000;
  const over = await held;
  assertEquals(over.status, 408);
  await over.body?.cancel();
  const taken = await ask("sound", 10);
  assertEquals(taken.status, 200);
  await taken.body?.cancel();
  await gateway.close();
  await provider.close();
});
