import { assert, assertEquals, assertMatch } from "@std/assert";
import { rateHeaders } from "../../src/http/rate_headers.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { atNoon } from "../support/time.ts";

Deno.test("rateHeaders() says each rate in the words of its clients", () => {
  const rates = {
    requests: { limit: 60, remaining: 59, reset: 0.4 },
    tokens: { limit: 1000, remaining: 0, reset: 30 },
  };
  assertEquals(rateHeaders(null, true, 0), {});
  assertEquals(rateHeaders(rates, false, 0), {
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-remaining-requests": "59",
    "x-ratelimit-reset-requests": "1s",
    "x-ratelimit-limit-tokens": "1000",
    "x-ratelimit-remaining-tokens": "0",
    "x-ratelimit-reset-tokens": "30s",
  });
  const messages = rateHeaders({ tokens: rates.tokens }, true, 1_000_000_000_000);
  assertEquals(messages["anthropic-ratelimit-tokens-limit"], "1000");
  assertEquals(messages["anthropic-ratelimit-tokens-remaining"], "0");
  assertEquals(messages["anthropic-ratelimit-tokens-reset"], "2001-09-09T01:47:10.000Z");
});

Deno.test("a key's rates are on its answers, and on the refusal once they are used up", async () => {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } }, {
    keys: [{ name: "test", secret: SECRET, rate_limit: { requests_per_minute: 2 } }],
  }, { now: atNoon });
  const ask = async () => {
    const response = await gateway.post("/v1/messages", {
      model: "demo/model",
      max_tokens: 9,
      messages: [{ role: "user", content: "hi" }],
    });
    await response.body?.cancel();
    return response;
  };
  const first = await ask();
  assertEquals(first.headers.get("x-ratelimit-limit-requests"), "2");
  assertEquals(first.headers.get("x-ratelimit-remaining-requests"), "1");
  assertEquals(first.headers.get("anthropic-ratelimit-requests-limit"), "2");
  await ask();
  const refused = await ask();
  assertEquals(refused.status, 429);
  assertMatch(refused.headers.get("retry-after")!, /^[1-9]\d*$/);
  assertEquals(refused.headers.get("x-ratelimit-remaining-requests"), "0");
  assert(refused.headers.get("x-should-retry") === null, "the rate comes back");
  await gateway.close();
});
