import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { Withheld } from "../../src/providers/withheld.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";

const KEY = "nvapi-Zz9/quite+plain~key_without-prefix0001";
const TENANT = "tenant 0002";
const HEADERS = {
  authorization: `Bearer ${KEY}`,
  "x-tenant": TENANT,
  "content-type": "application/json",
  "anthropic-version": "2023-06-01",
};

const FORMS: Record<string, string> = {
  "as it is": KEY,
  "behind its word": `Bearer ${KEY}`,
  "in a URL": encodeURIComponent(KEY),
  "in base64": Buffer.from(KEY).toString("base64"),
  "in base64 for URLs": Buffer.from(KEY).toString("base64url"),
  "in hexadecimal": Buffer.from(KEY).toString("hex"),
  "in JSON that escapes slashes": KEY.replaceAll("/", "\\/"),
};

for (const [what, form] of Object.entries(FORMS)) {
  Deno.test(`Withheld takes a credential out of answers and refusals, ${what}`, () => {
    const withheld = new Withheld(HEADERS);
    for (const clean of [withheld.answer(`a ${form}, b`), withheld.refusal(`a ${form}, b`)]) {
      assertEquals(clean.includes(form), false, clean);
      assertEquals(clean.includes(KEY.slice(0, 12)), false, clean);
      assertEquals([clean.startsWith("a "), clean.endsWith(", b")], [true, true], clean);
    }
  });
}

Deno.test("Withheld takes long beginnings and ends out of refusals, and leaves what providers abbreviate", () => {
  const withheld = new Withheld(HEADERS);
  assertEquals(withheld.refusal(`no ${KEY.slice(0, 20)}****, sorry`), "no [withheld], sorry");
  assertEquals(withheld.refusal(`no *****${KEY.slice(-10)}, sorry`), "no [withheld], sorry");
  assertEquals(withheld.refusal("no nvapi-...0001, sorry"), "no nvapi-...0001, sorry");
});

Deno.test("Withheld takes other headers out of refusals only, and never what every gateway sends", () => {
  const withheld = new Withheld(HEADERS);
  assertEquals(
    withheld.refusal(`${TENANT} 2023-06-01 application/json`),
    "[withheld] 2023-06-01 application/json",
  );
  assertEquals(withheld.answer(`${TENANT} 2023-06-01`), `${TENANT} 2023-06-01`);
  assertEquals(new Withheld({ authorization: "Bearer short" }).answer("a short word"), "a short word");
});

Deno.test("a provider's key and control characters reach neither callers nor the log, in refusals and in answers", async () => {
  const esc = "\u001b[31m\r\n2026-01-01T00:00:00Z all is well";
  const message = `bad key ${KEY} ${encodeURIComponent(KEY)} ${
    Buffer.from(KEY).toString("base64")
  } tenant ${TENANT} ${esc}`;
  const content = `I was sent ${KEY}`;
  const chunk = { id: "c", choices: [{ index: 0, delta: { content }, finish_reason: "stop" }] };
  let status = 400;
  const provider = loopbackProvider(({ body }) => {
    if (status !== 200) return Response.json({ error: { message } }, { status });
    return body.stream
      ? sseResponse([
        `data: ${JSON.stringify(chunk)}\n\n`,
        `data: ${JSON.stringify({ error: { message } })}\n\n`,
      ])
      : Response.json({
        choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
      });
  });
  const gateway = await testGateway({
    p: { api: "openai-chat", url: provider.url, more: { api_key: KEY, headers: { "x-tenant": TENANT } } },
  });
  const said: string[] = [];
  for (status of [400, 401, 403, 404, 413, 422, 429, 500, 503, 200]) {
    for (const stream of [true, false]) {
      const response = await gateway.post("/v1/chat/completions", {
        model: "p/model",
        stream,
        messages: [{ role: "user", content: "hi" }],
      });
      said.push(await response.text());
    }
  }
  await gateway.close();
  await provider.close();
  const all = [...said, ...gateway.logged].join("\n");
  for (
    const secret of [
      KEY,
      KEY.slice(0, 12),
      encodeURIComponent(KEY),
      Buffer.from(KEY).toString("base64").slice(0, 40),
      TENANT,
    ]
  ) {
    assertEquals(all.includes(secret), false, `${secret} in ${all}`);
  }
  assertEquals(said.filter((text) => text.includes("I was sent [withheld]")).length, 2);
  // deno-lint-ignore no-control-regex
  for (const line of gateway.logged) assertEquals(/[\0-\x1f\x7f-\x9f]/.test(line), false, line);
});
