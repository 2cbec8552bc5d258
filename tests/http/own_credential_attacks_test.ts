/** Attempts to have a caller's credential sent elsewhere, or the gateway's own to a vendor. */
import { assert, assertEquals } from "@std/assert";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { scriptedProvider } from "../support/script/mod.ts";

const OWN = "sk-ant-oat01-the-callers-own-credential";
const PATH = "/v1/chat/completions";
const body = (more: Record<string, unknown> = {}) => ({
  model: "p/model",
  messages: [{ role: "user", content: "Hi" }],
  ...more,
});
const HEADERS = { authorization: `Bearer ${OWN}`, "x-svc-key": SECRET };

Deno.test("a vendor that leads elsewhere is not followed with the caller's credential", async () => {
  const elsewhere = scriptedProvider("openai-chat", [{ text: "Stolen." }]);
  const provider = loopbackProvider(() =>
    new Response(null, { status: 307, headers: { location: `${elsewhere.url}/chat/completions` } })
  );
  const gateway = await testGateway({
    p: { api: "openai-chat", url: provider.url, more: { pass_credentials: true } },
  });
  const response = await gateway.post(PATH, body(), { headers: HEADERS });
  assert(response.status >= 500);
  await response.body?.cancel();
  assertEquals(elsewhere.seen.length, 0);
  await gateway.close();
  await Promise.all([provider.close(), elsewhere.close()]);
});

Deno.test("an answer that repeats the credential comes without it, whole and streamed", async () => {
  const provider = scriptedProvider("openai-chat", [{ text: `You are ${OWN}.` }, {
    text: `You are ${OWN}.`,
  }]);
  const gateway = await testGateway({
    p: { api: "openai-chat", url: provider.url, more: { pass_credentials: true } },
  });
  for (const stream of [false, true]) {
    const response = await gateway.post(PATH, body({ stream }), { headers: HEADERS });
    assertEquals(response.status, 200);
    const said = (await response.text()).match(/"content":"[^"]*"/g)!.join("").replaceAll('""content":"', "");
    assert(!said.includes(OWN), said);
  }
  await gateway.close();
  await provider.close();
});

Deno.test("a model's other routes, and headers of other vendors, carry nothing of the caller's", async () => {
  const own = scriptedProvider("gemini", [{ text: "Hi." }]);
  const vendor = scriptedProvider("anthropic-messages", [{ text: "Hi." }]);
  const gateway = await testGateway({
    p: { api: "anthropic-messages", url: vendor.url, more: { pass_credentials: true } },
    g: { api: "gemini", url: own.url },
  });
  const headers = {
    ...HEADERS,
    "x-api-key": OWN,
    "x-goog-api-key": OWN,
    "chatgpt-account-id": "acc",
    cookie: "c=1",
  };
  for (const model of ["g/model", "p/model"]) {
    const response = await gateway.post(PATH, body({ model }), { headers });
    assertEquals(response.status, 200);
    await response.body?.cancel();
  }
  const sent = Object.fromEntries(own.seen[0].headers);
  assert(!JSON.stringify(sent).includes(OWN) && sent["chatgpt-account-id"] === undefined);
  const to = vendor.seen[0].headers;
  // Another vendor's header and cookies stay here.
  assertEquals([to.get("x-goog-api-key"), to.get("cookie"), to.get("x-svc-key")], [null, null, null]);
  assertEquals(to.get("x-api-key"), OWN);
  await gateway.close();
  await Promise.all([own.close(), vendor.close()]);
});
