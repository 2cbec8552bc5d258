/** Secrets in play on every side, and every way of failing: none of them may come out anywhere. */
import { assert, assertEquals } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const API_KEY = "sk_live_callerscallerscallerscallers0001";
const WRONG_KEY = "sk_live_wrongwrongwrongwrongwrongwrong02";
const ADMIN_KEY = "operators-own-admin-key-0003";
const PROVIDER_KEY = "sk-proj-Ab12providersecretprovidersecret0004";
const HEADER_SECRET = "tenant-token-0005";
const TALK = "the-patient-is-called-Ingeborg";
const SECRETS = [API_KEY, WRONG_KEY, ADMIN_KEY, PROVIDER_KEY, HEADER_SECRET, TALK];

Deno.test("no secret and no word of a conversation in errors, logs or metrics", async () => {
  const host = () => new URL(provider.url).host;
  const complaint = () =>
    `Incorrect API key provided: ${PROVIDER_KEY}. See http://${host()}/v1/keys or ask admin@corp.example; header was Bearer ${PROVIDER_KEY}`;
  const broken: ((stream: boolean) => Response)[] = [
    () =>
      Response.json({
        error: { message: complaint(), type: "invalid_request_error", code: "invalid_api_key" },
      }, { status: 401 }),
    () => Response.json({ error: { message: complaint() } }, { status: 400 }),
    () => Response.json({ error: complaint() }, { status: 403 }),
    () =>
      new Response(`<html>${complaint()}</html>`, { status: 502, headers: { "content-type": "text/html" } }),
    () => new Response(complaint(), { status: 500 }),
    () => Response.json({ detail: complaint() }, { status: 422 }),
    () =>
      Response.json({ error: { message: complaint() } }, { status: 429, headers: { "retry-after": "3" } }),
    () => Response.json({ error: { message: complaint() } }),
    () => new Response(`{"choices": [${PROVIDER_KEY}`, { headers: { "content-type": "application/json" } }),
    (stream) =>
      stream
        ? new Response(
          `data: {"id":"c","choices":[{"index":0,"delta":{"content":"x"}}]}\n\ndata: ${
            JSON.stringify({ error: { message: complaint(), code: 500 } })
          }\n\n`,
          { headers: { "content-type": "text/event-stream" } },
        )
        : new Response("", { status: 200 }),
  ];
  const provider = loopbackProvider((seen, nth) =>
    nth < broken.length * 6 ? broken[Math.floor(nth / 6)](seen.body.stream === true) : leastAnswer(seen)
  );
  const gateway = await testGateway({
    p: {
      api: "openai-chat",
      url: `${provider.url}/v1`,
      more: {
        api_key: PROVIDER_KEY,
        headers: { "x-tenant": HEADER_SECRET },
        breaker: { failures: 1_000_000 },
      },
    },
  }, { admin_key: ADMIN_KEY, keys: [{ name: "test", secret: API_KEY }] });

  const said: string[] = [];
  const send = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(gateway.url + path, init);
    said.push(`${path} ${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`);
    return response.status;
  };
  const auth = { authorization: `Bearer ${API_KEY}` };
  for (let i = 0; i < broken.length; i++) {
    for (const stream of [true, false]) {
      const shared = { model: "p/model", stream };
      const talk = [{ role: "user", content: TALK }];
      for (
        const [path, body] of [
          ["/v1/chat/completions", { ...shared, messages: talk }],
          ["/v1/messages", { ...shared, messages: talk, max_tokens: 9 }],
          ["/v1/responses", { ...shared, input: TALK }],
        ] as const
      ) await send(path, { method: "POST", headers: auth, body: JSON.stringify(body) });
    }
  }
  assertEquals(provider.seen.length, broken.length * 6, "each of them was met");

  const bad = { method: "POST", headers: auth };
  await send("/v1/chat/completions", { ...bad, body: `{"model":"p/model","messages":"${TALK}"` });
  await send("/v1/chat/completions", { ...bad, body: `{"model":"${TALK.repeat(3)}","messages":[]}` });
  await send("/v1/chat/completions", {
    ...bad,
    body: JSON.stringify({ model: "p/model", messages: [{ role: TALK.repeat(2), content: 1 }] }),
  });
  await send("/v1/messages", {
    ...bad,
    body: JSON.stringify({
      model: "p/model",
      max_tokens: 9,
      messages: [{ role: "user", content: [{ type: "text", text: [TALK] }] }],
    }),
  });
  await send("/v1/responses", {
    ...bad,
    body: JSON.stringify({
      model: "p/model",
      input: [{ type: "message", role: "user", content: { text: TALK } }],
    }),
  });
  await send("/v1/models", { headers: { authorization: `Bearer ${WRONG_KEY}` } });
  await send("/v1/models", { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
  await send("/admin/keys", { headers: auth });
  await send("/v1/messages", { ...bad, headers: { ...auth, "x-api-key": WRONG_KEY }, body: "{}" });
  await send("/metrics", { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
  await send("/admin/keys", { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
  await send("/admin/generations", { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
  await send("/admin/providers", { headers: { authorization: `Bearer ${ADMIN_KEY}` } });

  const everything = [...said, ...gateway.logged];
  for (const secret of SECRETS) {
    for (const text of everything) assert(!text.includes(secret), `${secret} is in: ${text.slice(0, 600)}`);
  }
  for (const text of said) {
    assert(!text.includes(host()), `the provider's address is in: ${text.slice(0, 600)}`);
    assert(!text.includes("corp.example"), `an address is in: ${text.slice(0, 600)}`);
  }
  assert(
    gateway.logged.some((line) => line.includes("refuses our key")),
    "the operator hears of it all the same",
  );
  await gateway.close();
  await provider.close();
});
