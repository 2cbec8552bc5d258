import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { Failure } from "../../src/exchange/failure.ts";
import { Withheld } from "../../src/outgoing/withheld.ts";
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

/** In what may be told with it, so that the value itself begins anywhere in it. */
const ENCLOSED: Record<string, string> = {
  "in base64 behind its word": Buffer.from(`Bearer ${KEY}`).toString("base64"),
  "in base64 behind a name": Buffer.from(`me:${KEY}, and more`).toString("base64"),
  "in base64 behind two": Buffer.from(`ab${KEY}`).toString("base64url"),
  "in large hexadecimal": Buffer.from(KEY).toString("hex").toUpperCase(),
};

for (const [what, form] of Object.entries(ENCLOSED)) {
  Deno.test(`Withheld takes a credential out of answers, ${what}`, () => {
    const clean = new Withheld(HEADERS).answer(`a ${form}, b`);
    assertEquals(clean.includes(form.slice(12, -12)), false, clean);
    assertEquals([clean.startsWith("a "), clean.endsWith(", b")], [true, true], clean);
  });
}

Deno.test("Withheld reads the escapes of an answer's JSON, and leaves what its values mean", () => {
  const withheld = new Withheld(HEADERS);
  const escaped = [...KEY].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
  const clean = JSON.parse(
    withheld.answer(`{"id":"${escaped}","text":"\\u0022\\u005c\\\\u0041\\u0041\\u000a\\u00e4"}`),
  );
  assertEquals(clean, { id: "[withheld]", text: '"\\\\u0041A\n\u00e4' });
});

Deno.test("Withheld.failure() tells nothing where a credential is disguised", () => {
  const withheld = new Withheld(HEADERS);
  const units = [...KEY].map((c) => c.charCodeAt(0));
  const disguised: string[] = [
    [...KEY].join(" "),
    [...KEY].reverse().join(""),
    KEY.toUpperCase(),
    `${KEY.slice(0, 9)}\u200b${KEY.slice(9)}`,
    units.map((code) => `%${code.toString(16)}`).join(""),
    units.map((code) => `&#${code};`).join(""),
    units.map((code) => `&#x${code.toString(16)};`).join(""),
    units.map((code) => `\\u00${code.toString(16)}`).join(""),
    units.map((code) => code.toString(16)).join(" "),
  ];
  for (const form of disguised) {
    const failure = new Failure("provider_bad_request", `bad ${form}`, { operator: `said ${form}` });
    const { message, operator } = withheld.failure(failure);
    assertEquals([message, operator], ["[withheld]", "[withheld]"], form);
  }
  const plain =
    "Cannot read messages[0]: expected dGhpcyBpcyBub3RoaW5nIGF0IGFsbA== or 0x0102030405060708 at 100%.";
  assertEquals(withheld.failure(new Failure("provider_bad_request", plain)).message, plain);
});

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
