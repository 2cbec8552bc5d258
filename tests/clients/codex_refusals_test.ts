/** What Codex makes of refusals; see src/http/told_failure.ts. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { testGateway } from "../support/gateway.ts";
import { scriptedProvider } from "../support/script/mod.ts";
import { SocketClient } from "../support/socket_client.ts";
import { refusal, SECRET } from "./support.ts";

const CODEX = { originator: "codex_exec" };
const overflow = () =>
  Response.json({
    error: { message: "prompt is too long: 2010 tokens > 1000 maximum", type: "invalid_request_error" },
  }, {
    status: 400,
  });

Deno.test("Codex is told of an exceeded context by the code that it knows, and others as ever", async () => {
  const provider = scriptedProvider("anthropic-messages", Array.from({ length: 9 }, () => overflow));
  const gateway = await testGateway({ p: { api: "anthropic-messages", url: provider.url } });
  const ask = async (headers: Record<string, string>, stream: boolean) => {
    const response = await gateway.post("/v1/responses", { model: "p/model", input: "Hi", stream }, {
      headers,
    });
    const { error } = await response.json();
    assertStringIncludes(error.message, "exceeds the context window");
    return [response.status, error.code, response.headers.get("x-should-retry")];
  };
  for (const stream of [false, true]) {
    assertEquals(await ask(CODEX, stream), [400, "context_length_exceeded", "false"]);
    assertEquals(await ask({ originator: "Codex Desktop" }, stream), [
      400,
      "context_length_exceeded",
      "false",
    ]);
    assertEquals(await ask({}, stream), [413, "provider_payload_too_large", "false"]);
  }
  const chat = await gateway.post(
    "/v1/chat/completions",
    { model: "p/model", messages: [{ role: "user", content: "Hi" }] },
    { headers: CODEX },
  );
  assertEquals([chat.status, (await chat.json()).error.code], [413, "provider_payload_too_large"]);
  const { data } = await gateway.gateway.accounts.generations({ limit: 9 });
  assertEquals(data.filter(({ error_code }) => error_code === "context_length_exceeded"), []);
  const socket = await SocketClient.open(gateway.url, { authorization: `Bearer ${SECRET}`, ...CODEX });
  const event = (await socket.turn({ model: "p/model", input: "Hi" })).at(-1);
  assertEquals([event.type, event.status, event.error.code], ["error", 400, "context_length_exceeded"]);
  await socket.close();
  await gateway.close();
  await provider.close();
});

Deno.test("Codex is told of refusals by a status after which it does not repeat the request", async () => {
  const provider = scriptedProvider("anthropic-messages", [refusal(429, "slow down"), refusal(503, "down")]);
  const gateway = await testGateway({ p: { api: "anthropic-messages", url: provider.url } }, {
    access_policies: { none: { allow: [] } },
    keys: [{ name: "test", secret: SECRET }, { name: "shut", secret: `${SECRET}x`, access_policy: "none" }],
  });
  const ask = async (body: Record<string, unknown>, headers: Record<string, string>) => {
    const response = await gateway.post("/v1/responses", { model: "p/model", input: "Hi", ...body }, {
      headers,
    });
    return [response.status, (await response.json()).error.code];
  };
  const shut = { authorization: `Bearer ${SECRET}x` };
  assertEquals(await ask({ input: 3 }, CODEX), [400, "validation_error"]);
  assertEquals(await ask({ input: 3 }, {}), [422, "validation_error"]);
  assertEquals(await ask({}, { ...CODEX, ...shut }), [400, "policy_violation"]);
  assertEquals(await ask({}, shut), [403, "policy_violation"]);
  assertEquals(await ask({ model: "p/none" }, CODEX), [404, "model_not_found"]);
  assertEquals(await ask({}, { ...CODEX, authorization: "Bearer sk_live_no" }), [401, "invalid_api_key"]);
  // These it repeats.
  assertEquals(await ask({}, CODEX), [429, "provider_rate_limited"]);
  assertEquals((await ask({}, CODEX))[0], 502);
  await gateway.close();
  await provider.close();
});
