/** Streams over HTTP/2 from a server that others have written: Node's. */
import { assertEquals } from "@std/assert";
import { createSecureServer, type Http2ServerResponse } from "node:http2";
import type { AddressInfo } from "node:net";
import { testGateway } from "../../support/gateway.ts";
import { stoppedTicker } from "../../support/time.ts";
import { CA, TLS } from "../../support/tls.ts";
import { ask, restOf } from "./raw_server.ts";

async function withServer(
  answer: (body: string, response: Http2ServerResponse) => void,
  use: (url: string, seen: { sessions: number; versions: string[] }) => Promise<void>,
): Promise<void> {
  const seen = { sessions: 0, versions: [] as string[] };
  const server = createSecureServer({ ...TLS, allowHTTP1: true }, (request, response) => {
    seen.versions.push(request.httpVersion);
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (text: string) => body += text);
    request.on("end", () => answer(body, response as Http2ServerResponse));
  });
  server.on("session", () => seen.sessions++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await use(`https://localhost:${(server.address() as AddressInfo).port}`, seen);
  } finally {
    server.close();
  }
}

Deno.test("long bodies go both ways, many at once on one connection", async () => {
  const { ticker } = stoppedTicker();
  await withServer((body, response) => response.end(body), async (url, seen) => {
    const sizes = [0, 1, 70_000, 300_000, 2_000_000];
    const all = await Promise.all(sizes.map(async (size, i) => {
      const body = String(i).repeat(size);
      const reply = await ask(`${url}/v1`, ticker, { body });
      const text = await restOf(reply);
      reply.close();
      return [reply.status, text === body];
    }));
    assertEquals(all, sizes.map(() => [200, true]));
    assertEquals(seen.sessions, 1);
  });
});

const chunk = (content: string) =>
  `data: ${
    JSON.stringify({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta: { content }, finish_reason: null }],
    })
  }\n\n`;

Deno.test("a gateway passes streams of a provider over HTTP/2 on in every format, and asks for whole answers over HTTP/1.1", async () => {
  const answer = (body: string, response: Http2ServerResponse) => {
    const { stream } = JSON.parse(body);
    if (!stream) {
      response.setHeader("content-type", "application/json");
      return response.end(JSON.stringify({
        id: "c",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: "one two" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
      }));
    }
    response.setHeader("content-type", "text/event-stream");
    response.write(chunk("one "));
    response.write(chunk("two"));
    response.end(
      'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},' +
        '"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}\n\ndata: [DONE]\n\n',
    );
  };
  await withServer(answer, async (url, seen) => {
    const gateway = await testGateway({ p: { api: "openai-chat", url: `${url}/v1` } }, {}, { caCerts: [CA] });
    try {
      const requests: [path: string, body: Record<string, unknown>][] = [
        ["/v1/chat/completions", { messages: [{ role: "user", content: "hi" }] }],
        ["/v1/messages", { messages: [{ role: "user", content: "hi" }], max_tokens: 9 }],
        ["/v1/responses", { input: "hi" }],
      ];
      for (const stream of [true, false]) {
        for (const [path, body] of requests) {
          const response = await gateway.post(path, { model: "p/model", stream, ...body });
          const text = await response.text();
          assertEquals(
            [response.status, text.includes("one"), text.includes("two")],
            [200, true, true],
            text,
          );
        }
      }
      assertEquals(seen.versions, ["2.0", "2.0", "2.0", "1.1", "1.1", "1.1"]);
    } finally {
      await gateway.close();
    }
    const provider = { api: "openai-chat", url: `${url}/v1`, more: { http2: false } } as const;
    await using without = await testGateway({ p: provider }, {}, { caCerts: [CA] });
    const response = await without.post("/v1/chat/completions", {
      model: "p/model",
      stream: true,
      messages: [{ role: "user", content: "hi" }],
    });
    assertEquals([response.status, (await response.text()).includes("two")], [200, true]);
    assertEquals(seen.versions.at(-1), "1.1");
  });
});
