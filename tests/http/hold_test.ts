/** Streams that are held back until they are one event. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { scriptedProvider } from "../support/script/mod.ts";

const SAID = {
  text: "I look.",
  calls: [{ id: "call_1", name: "read", input: { path: "note.txt" } }],
};
const BODY = { model: "p/model", stream: true, messages: [{ role: "user", content: "hi" }] };
const HOLD = { "x-svc-hold": "true" };
const eventsOf = (text: string) => text.split(/(?<=\n\n)/).filter((event) => !event.startsWith(":"));

Deno.test("a stream that is held is one event, with which its body ends, and its connection's last", async () => {
  const provider = scriptedProvider("openai-chat", [SAID, SAID, SAID]);
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } });
  const plain = await (await gateway.post("/v1/chat/completions", BODY)).text();
  assert(eventsOf(plain).length > 4);
  const conn = await Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(gateway.url).port) });
  const body = JSON.stringify(BODY);
  await conn.write(new TextEncoder().encode(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${SECRET}\r\nx-svc-hold: true\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  ));
  // To the end of the connection.
  const raw = await new Response(conn.readable).text();
  const [head, event] = raw.split("\r\n\r\n");
  assertStringIncludes(head, "\r\nconnection: close\r\n");
  assertStringIncludes(head, "\r\ncontent-type: text/event-stream");
  assertEquals(Number(/^content-length: (\d+)$/im.exec(head)?.[1]), new TextEncoder().encode(event).length);
  assert(!head.includes("transfer-encoding"));
  assert(/^data: [^\n]+\n\n$/.test(event));
  const held = JSON.parse(raw.match(/^data: (\{.*)$/m)![1]);
  assertEquals([held.object, held.choices[0].finish_reason], ["chat.completion.chunk", "tool_calls"]);
  assertEquals(held.choices[0].delta.content, SAID.text);
  assertEquals(held.choices[0].delta.tool_calls[0].function, {
    name: "read",
    arguments: '{"path":"note.txt"}',
  });
  assertEquals(typeof held.usage.total_tokens, "number");
  // The other formats have no stream of one event.
  const response = await gateway.post("/v1/responses", { model: "p/model", stream: true, input: "hi" }, {
    headers: HOLD,
  });
  assert(eventsOf(await response.text()).length > 4);
  assertEquals(response.headers.get("connection"), null);
  await gateway.close();
  await provider.close();
});

Deno.test("a stream that is held and kept comes back, and is joined, as the event that it is", async () => {
  const provider = scriptedProvider("openai-chat", [SAID, SAID]);
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } });
  const headers = { ...HOLD, "x-svc-resume": "true", "idempotency-key": "once" };
  const first = await gateway.post("/v1/chat/completions", BODY, { headers });
  const text = await first.text();
  const id = first.headers.get("x-request-id");
  assertEquals(eventsOf(text).map((event) => event.split("\n")[0]), [`id: ${id}:0`]);
  assertEquals(first.headers.get("content-length"), String(new TextEncoder().encode(text).length));
  const again = await gateway.post("/v1/chat/completions", BODY, { headers });
  assertEquals([again.headers.get("x-svc-joined"), await again.text()], ["true", text]);
  assertEquals(again.headers.get("content-length"), first.headers.get("content-length"));
  const rest = await fetch(`${gateway.url}/v1/generations/${id}/stream`, {
    headers: { authorization: `Bearer ${SECRET}`, "last-event-id": `${id}:0` },
  });
  assertEquals([rest.status, await rest.text()], [204, ""]);
  // Without the header it is another answer.
  const other = await gateway.post("/v1/chat/completions", BODY, {
    headers: { "x-svc-resume": "true", "idempotency-key": "once" },
  });
  assertEquals([other.status, (await other.json()).error.code], [422, "validation_error"]);
  assertEquals(provider.seen.length, 1);
  await gateway.close();
  await provider.close();
});

Deno.test("a held stream is kept alive while nothing is there, and an early refusal keeps its status", async () => {
  let go = () => {};
  const provider = loopbackProvider((_, nth) =>
    nth === 0
      ? new Promise((resolve) =>
        go = () => resolve(Response.json({ error: { message: "no", type: "x" } }, { status: 400 }))
      )
      : Response.json({ error: { message: "no", type: "x" } }, { status: 400 })
  );
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } }, {
    server: { keepalive_seconds: 0.05 },
  });
  const reader = (await gateway.post("/v1/chat/completions", BODY, { headers: HOLD })).body!
    .pipeThrough(new TextDecoderStream()).getReader();
  assertEquals((await reader.read()).value, ": keep-alive\n\n");
  go();
  let text = "";
  for (let step = await reader.read(); !step.done; step = await reader.read()) text += step.value;
  assertEquals(eventsOf(text).length, 2);
  assertStringIncludes(text, '{"error":');
  await gateway.close();
  // On a busy machine the refusal itself may take longer than that.
  const patient = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
  const refused = await patient.post("/v1/chat/completions", BODY, { headers: HOLD });
  assertEquals([refused.status, (await refused.json()).error.code], [400, "provider_bad_request"]);
  await patient.close();
  await provider.close();
});
