/** `svc/auto`: another model answers if the chosen one cannot. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { chatChunk, leastAnswer } from "../support/answers.ts";
import { type Api, FEATURES, SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider, readGated, type Seen, sseResponse } from "../support/provider.ts";

const ADMIN = { authorization: "Bearer admin-key-of-the-test" };

const error = (status: number, message: string, code = "") => () =>
  Response.json({ error: { message, code } }, { status });

/** What the chosen model's provider answers, and why another model may answer instead. */
const FAILURES: Readonly<Record<string, (seen: Seen) => Response>> = {
  "an outage": error(500, "internal"),
  "a rate limit": () => new Response("{}", { status: 429, headers: { "retry-after": "60" } }),
  "a refused key": error(401, "Incorrect API key provided"),
  "a model that it does not have": error(404, "The model `dear` does not exist", "model_not_found"),
  "an overflow": error(
    400,
    "This model's maximum context length is 8192 tokens. However, you requested 9096.",
  ),
  "a stream that begins with an error": ({ body }) =>
    body.stream === true
      ? sseResponse([`data: ${JSON.stringify({ error: { message: "overloaded", code: 503 } })}\n\n`])
      : error(503, "overloaded")(),
};

/** After these, other models are preferred for some time. */
const PAUSES: ReadonlySet<string> = new Set([
  "a rate limit",
  "a refused key",
  "a model that it does not have",
]);

const BODIES = {
  "/v1/chat/completions": { messages: [{ role: "user", content: "Prove that primes are many." }] },
  "/v1/messages": { max_tokens: 100, messages: [{ role: "user", content: "Prove that primes are many." }] },
  "/v1/responses": { input: "Prove that primes are many." },
};

interface Rig {
  /** @param gate opens once the answer's start has come */
  post(
    path: string,
    body: unknown,
    gate?: PromiseWithResolvers<void>,
  ): Promise<{ status: number; text: string; route: string | null }>;
  /** Requests that each of the two providers got. */
  seen: { dear: Seen[]; cheap: Seen[] };
  records(): Promise<Record<string, unknown>[]>;
  /** Those of the record with this id. */
  steps(id: unknown): Promise<{ name: string; route?: string }[]>;
}

interface Options {
  /** API of the provider of `v/dear`. */
  dearApi?: Api;
  /** API of the provider of `v/cheap`. */
  cheapApi?: Api;
  dear?(seen: Seen): Response | Promise<Response>;
  cheap?(seen: Seen): Response | Promise<Response>;
  more?: Record<string, unknown>;
  models?: { dear?: Record<string, unknown>; cheap?: Record<string, unknown> };
}

/** The router prefers `v/dear`, which fails; `v/cheap` answers. */
async function withAuto(
  {
    dearApi = "openai-chat",
    cheapApi = "openai-chat",
    dear = FAILURES["an outage"],
    cheap = leastAnswer,
    more,
    models,
  }: Options,
  test: (rig: Rig) => Promise<void>,
): Promise<void> {
  await using first = loopbackProvider(dear);
  await using second = loopbackProvider(cheap);
  const model = (name: string, price: string) => ({
    id: `v/${name}`,
    routes: [{ provider: name, model: name }],
    pricing: { prompt: price, completion: price },
    capabilities: { modality_input: ["text"], modality_output: ["text"], features: FEATURES },
  });
  await using gateway = await testGateway({
    dear: { api: dearApi, url: first.url },
    cheap: { api: cheapApi, url: second.url },
  }, {
    admin_key: "admin-key-of-the-test",
    models: [
      { ...model("dear", "0.01"), ...models?.dear },
      { ...model("cheap", "0.001"), ...models?.cheap },
    ],
    auto: { models: ["v/cheap", "v/dear"], quality: 1 },
    ...more,
  });
  await test({
    seen: { dear: first.seen, cheap: second.seen },
    async post(path, body, gate = Promise.withResolvers<void>()) {
      const response = await gateway.post(path, { model: "svc/auto", ...body as object });
      return {
        status: response.status,
        text: await readGated(response, gate),
        route: response.headers.get("x-svc-route"),
      };
    },
    async steps(id) {
      return (await (await fetch(`${gateway.url}/admin/generations/${id}`, { headers: ADMIN })).json()).steps;
    },
    async records() {
      return (await (await fetch(`${gateway.url}/admin/generations`, { headers: ADMIN })).json()).data;
    },
  });
}

for (const [name, dear] of Object.entries(FAILURES)) {
  Deno.test(`svc/auto: another model answers after ${name}, in each format`, async () => {
    await withAuto({ dear }, async ({ post, records, steps }) => {
      let calls = 0;
      for (const [path, body] of Object.entries(BODIES)) {
        for (const stream of [false, true]) {
          const { status, text, route } = await post(path, { ...body, stream });
          calls++;
          assertEquals([status, text.includes('"v/cheap"'), text.includes("v/dear")], [200, true, false]);
          assertStringIncludes(route ?? "", "v/cheap ");
          if (calls === 1 || !PAUSES.has(name)) assertStringIncludes(route ?? "", ",after:v/dear");
          const all = await records();
          const [{ id, model, requested_model, provider, status: end, cost }] = all;
          assertEquals((await steps(id)).findLast(({ name }) => name === "route")?.route, route);
          // Three tokens in and one out, at the price of the model that answered.
          assertEquals(
            [all.length, model, requested_model, provider, end, Number(cost)],
            [calls, "v/cheap", "svc/auto", "cheap", "completed", 0.004],
          );
        }
      }
    });
  });
}

for (const cheapApi of ["openai-chat", "anthropic-messages", "gemini"] as const) {
  for (const [name, dear] of Object.entries(FAILURES)) {
    Deno.test(`svc/auto: ${cheapApi} gives several answers after ${name} of an API that gives one`, async () => {
      // In its own words for a stream that begins with an error.
      const failing = (seen: Seen) =>
        seen.body.stream === true && name === "a stream that begins with an error"
          ? sseResponse([
            `event: error\ndata: ${
              JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } })
            }\n\n`,
          ])
          : dear(seen);
      for (const stream of [false, true]) {
        await withAuto(
          { dearApi: "anthropic-messages", cheapApi, dear: failing },
          async ({ post, seen, records }) => {
            const body = { ...BODIES["/v1/chat/completions"], n: 3, stream };
            const { status, text, route } = await post("/v1/chat/completions", body);
            assertEquals([status, text.includes("v/dear")], [200, false], text);
            assertStringIncludes(route ?? "", ",after:v/dear");
            const [{ model, status: end, cost }] = await records();
            assertEquals([text.match(/"hi"/g)?.length, seen.cheap.length], [3, 3], text);
            assertEquals([model, end, Number(cost)], ["v/cheap", "completed", 0.012]);
          },
        );
      }
    });
  }
}

Deno.test("svc/auto: several answers stay with the model of which one has begun", async () => {
  const failed = Promise.withResolvers<void>();
  let calls = 0;
  const dear = async (seen: Seen) => {
    if (calls++ === 0) {
      await failed.promise;
      return leastAnswer(seen);
    }
    queueMicrotask(failed.resolve);
    return error(500, "internal")();
  };
  await withAuto({ dearApi: "anthropic-messages", dear }, async ({ post, seen, records }) => {
    const { status } = await post("/v1/chat/completions", { ...BODIES["/v1/chat/completions"], n: 2 });
    assertEquals([status, seen.dear.length, seen.cheap.length], [502, 2, 0]);
    assertEquals((await records()).map(({ model }) => model), ["v/dear"]);
  });
});

Deno.test("svc/auto: a model whose provider has asked for a pause is not called first in this time", async () => {
  const pausing = FAILURES["a rate limit"];
  await withAuto({ dear: pausing }, async ({ post, seen }) => {
    for (let i = 0; i < 3; i++) {
      const { status, text, route } = await post("/v1/chat/completions", BODIES["/v1/chat/completions"]);
      assertEquals([status, text.includes('"v/cheap"')], [200, true]);
      assertEquals(route?.includes("after:v/dear"), i === 0, route ?? "");
    }
    assertEquals([seen.dear.length, seen.cheap.length], [1, 3]);
  });
  // If all of them have, or the others cannot answer, it is called.
  await withAuto({ dear: pausing, cheap: pausing }, async ({ post, seen }) => {
    for (let i = 0; i < 2; i++) {
      const { status } = await post("/v1/chat/completions", BODIES["/v1/chat/completions"]);
      assertEquals(status, 429);
    }
    assertEquals([seen.dear.length, seen.cheap.length], [2, 2]);
  });
});

Deno.test("svc/auto: a model that alone fits the request is called though its provider has asked for a pause", async () => {
  const models = { cheap: { capabilities: { features: [] } } };
  await withAuto({ dear: FAILURES["a rate limit"], models }, async ({ post, seen }) => {
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
    for (let i = 0; i < 2; i++) {
      const { status } = await post("/v1/chat/completions", { ...BODIES["/v1/chat/completions"], tools });
      assertEquals(status, 429);
    }
    assertEquals([seen.dear.length, seen.cheap.length], [2, 0]);
  });
});

Deno.test("svc/auto: a model that refuses the request itself is not replaced", async () => {
  for (const [status, code] of [[400, "provider_bad_request"], [403, "provider_forbidden"]] as const) {
    await withAuto({ dear: error(status, "blocked by moderation") }, async ({ post, seen }) => {
      const { text } = await post("/v1/chat/completions", BODIES["/v1/chat/completions"]);
      assert(text.includes(code) || text.includes("provider_forbidden"), text);
      assertEquals(seen.cheap.length, 0);
    });
  }
});

Deno.test("svc/auto: a model that the key may not use does not answer instead", async () => {
  for (const more of [{ models: ["v/dear", "svc/auto"] }, { access_policy: "dear" }]) {
    const keys = [{ name: "test", secret: SECRET, ...more }];
    const access_policies = { dear: { allow: ["v/dear", "svc/auto"] } };
    await withAuto({ more: { keys, access_policies } }, async ({ post, seen }) => {
      const { status, text } = await post("/v1/chat/completions", BODIES["/v1/chat/completions"]);
      assertEquals([status, JSON.parse(text).error.code], [502, "provider_unavailable"]);
      assertEquals([seen.dear.length, seen.cheap.length], [1, 0]);
    });
  }
});

Deno.test("svc/auto: the other model gets the caller's own maximum, within its own", async () => {
  const models = { dear: { max_completion_tokens: 100 }, cheap: { max_completion_tokens: 5000 } };
  await withAuto({ models }, async ({ post, seen }) => {
    for (const [max_tokens, sent] of [[3000, 3000], [9000, 5000]]) {
      await post("/v1/chat/completions", { ...BODIES["/v1/chat/completions"], max_tokens });
      assertEquals([seen.dear.at(-1)?.body.max_tokens, seen.cheap.at(-1)?.body.max_tokens], [100, sent]);
    }
  });
});

/** The dear one comes second here: the router chooses by price. */
const CHEAPEST_FIRST = { auto: { models: ["v/cheap", "v/dear"], quality: 0 } };

Deno.test("svc/auto: the other model answers only if the budget covers it", async () => {
  const body = { ...BODIES["/v1/chat/completions"], max_tokens: 100 };
  for (const [credits, answered] of [["1.00", false], ["100.00", true]] as const) {
    const accounts = [{ name: "default", credits }];
    const more = { ...CHEAPEST_FIRST, accounts };
    await withAuto(
      { cheap: error(500, "down"), dear: leastAnswer, more },
      async ({ post, seen, records }) => {
        const { status } = await post("/v1/chat/completions", body);
        assertEquals([status, seen.cheap.length, seen.dear.length], answered ? [200, 1, 1] : [502, 1, 0]);
        assertEquals((await records()).map(({ cost }) => Number(cost)), answered ? [0.04] : []);
      },
    );
  }
});

Deno.test("svc/auto: without a maximum, the other model gets what the budget covers", async () => {
  const models = { dear: { max_completion_tokens: 60_000 }, cheap: { max_completion_tokens: 60_000 } };
  const more = { ...CHEAPEST_FIRST, accounts: [{ name: "default", credits: "100.00" }] };
  await withAuto({ cheap: error(500, "down"), dear: leastAnswer, models, more }, async ({ post, seen }) => {
    const { status } = await post("/v1/chat/completions", BODIES["/v1/chat/completions"]);
    assertEquals([status, seen.dear[0]?.body.max_completion_tokens], [200, 4096]);
  });
});

Deno.test("svc/auto: a stream of which the caller has the start is not continued by another model", async () => {
  const start = chatChunk({ role: "assistant", content: "" });
  const gate = Promise.withResolvers<void>();
  const dear = () =>
    sseResponse([start, `data: ${JSON.stringify({ error: { message: "overloaded" } })}\n\n`], gate.promise);
  await withAuto({ dear }, async ({ post, seen }) => {
    const body = { ...BODIES["/v1/chat/completions"], stream: true };
    const { text } = await post("/v1/chat/completions", body, gate);
    assertEquals([seen.cheap.length, text.includes("v/cheap")], [0, false]);
  });
});

Deno.test("svc/auto: all rounds of a search are answered by the model that began", async () => {
  await using engine = loopbackProvider(() =>
    Response.json({ results: [{ url: "https://a.test/", title: "A", content: "Facts." }] })
  );
  const call = { id: "call_1", function: { name: "web_search", arguments: '{"query":"primes"}' } };
  const searching = (seen: Seen) => {
    const messages = seen.body.messages as { role: string }[];
    if (messages.some(({ role }) => role === "tool")) return leastAnswer(seen);
    const message = { role: "assistant", content: null, tool_calls: [{ type: "function", ...call }] };
    const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
    return Response.json({ id: "c", choices: [{ index: 0, message, finish_reason: "tool_calls" }], usage });
  };
  const search = { engine: "searxng", base_url: engine.url, price: "0.005" };
  await withAuto({ cheap: searching, more: { search } }, async ({ post, seen, records }) => {
    const body = { ...BODIES["/v1/chat/completions"], web_search_options: {} };
    const { status, text } = await post("/v1/chat/completions", body);
    assertEquals([status, JSON.parse(text).model], [200, "v/cheap"]);
    assertEquals([seen.dear.length, seen.cheap.length, engine.seen.length], [1, 2, 1]);
    const [{ model, searches, cost }] = await records();
    assertEquals([model, searches, Number(cost)], ["v/cheap", 1, 0.013]);
  });
});
