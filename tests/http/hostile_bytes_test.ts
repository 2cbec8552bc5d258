/** What no client library would send, on a bare connection; and that the gateway is as before afterwards. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { openCalls } from "../support/open_calls.ts";
import { loopbackProvider } from "../support/provider.ts";

const encoder = new TextEncoder();
const BODY = JSON.stringify({ model: "p/model", messages: [{ role: "user", content: "hi" }] });
const MEGABYTE = new Uint8Array(1 << 20).fill(32);

async function writeAll(connection: Deno.Conn, bytes: Uint8Array | string): Promise<void> {
  let left = typeof bytes === "string" ? encoder.encode(bytes) : bytes;
  while (left.length > 0) left = left.subarray(await connection.write(left));
}

/** Everything that comes back until the server closes, or until it matches. */
async function exchange(
  url: string,
  send: (connection: Deno.TcpConn) => Promise<void>,
  until = /(?!)/,
): Promise<string> {
  const { hostname, port } = new URL(url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  let text = "";
  const reading = (async () => {
    const decoder = new TextDecoder();
    const buffer = new Uint8Array(1 << 16);
    while (!until.test(text)) {
      const n = await connection.read(buffer).catch(() => null);
      if (n === null) return;
      text += decoder.decode(buffer.subarray(0, n), { stream: true });
    }
  })();
  // A server that has said no may close before all is sent.
  await send(connection).catch(() => {});
  await reading;
  connection.close();
  return text;
}

const head = (more: string, path = "/v1/chat/completions", method = "POST") =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${SECRET}\r\n${more}\r\n`;

Deno.test("hostile bytes get a short answer and leave the gateway as it was", async () => {
  const provider = loopbackProvider(leastAnswer);
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
  const { url } = gateway;

  const large = await exchange(url, async (c) => {
    await writeAll(c, head("content-length: 104857600\r\n"));
    for (let i = 0; i < 100; i++) await writeAll(c, MEGABYTE);
  }, /payload_too_large.*\}\}$/);
  assertMatch(large, /^HTTP\/1\.1 413 /);

  const chunked = await exchange(url, async (c) => {
    await writeAll(c, head("transfer-encoding: chunked\r\n"));
    for (let i = 0; i < 100; i++) {
      await writeAll(c, "100000\r\n");
      await writeAll(c, MEGABYTE);
      await writeAll(c, "\r\n");
    }
    await writeAll(c, "0\r\n\r\n");
  }, /payload_too_large.*\}\}$/);
  assertMatch(chunked, /^HTTP\/1\.1 413 /);

  const cut = await exchange(url, async (c) => {
    await writeAll(c, `${head("content-length: 500\r\n")}{`);
    await c.closeWrite();
  });
  assert(cut === "" || /^HTTP\/1\.1 422 /.test(cut), cut);

  const one = head(`content-length: ${BODY.length}\r\n`) + BODY;
  const last = head("connection: close\r\n", "/v1/models", "GET");
  const pipelined = await exchange(url, (c) => writeAll(c, one + one + last));
  assertEquals(pipelined.match(/HTTP\/1\.1 200 /g)?.length, 3, pipelined);
  assertEquals(new Set(pipelined.match(/x-request-id: \S+/g)).size, 3);

  const smuggled = await exchange(
    url,
    (c) => writeAll(c, `${head("content-length: 5\r\ntransfer-encoding: chunked\r\n")}0\r\n\r\n${last}`),
  );
  assertMatch(smuggled, /^HTTP\/1\.1 400 /);
  assert(!smuggled.includes("200 OK"));

  for (const host of ["a/v1/key?", "a b", "x#", "user@x"]) {
    const answer = await exchange(
      url,
      (c) =>
        writeAll(
          c,
          `GET /v1/models HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${SECRET}\r\nconnection: close\r\n\r\n`,
        ),
    );
    assertMatch(answer, /^HTTP\/1\.1 4\d\d /, `${host}: ${answer}`);
  }

  for (
    const bytes of [
      crypto.getRandomValues(new Uint8Array(2000)),
      "GET /v1/mod els HTTP/1.1\r\nhost: x\r\n\r\n",
      `GET /${"a".repeat(200_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
      head("content-length: -1\r\n"),
      head("content-length: 1e3\r\n"),
      head(`x-large: ${"a".repeat(2_000_000)}\r\n`),
      head(Array.from({ length: 5000 }, (_, i) => `x-${i}: y\r\n`).join("")),
    ]
  ) {
    const answer = await exchange(url, async (c) => {
      await writeAll(c, bytes);
      await c.closeWrite();
    });
    assert(answer === "" || /^HTTP\/1\.[01] 4\d\d /.test(answer), answer.slice(0, 300));
  }

  assertEquals(await openCalls(gateway.gateway.accounts), 0);
  const after = await gateway.post("/v1/chat/completions", BODY);
  assertEquals([after.status, (await after.json()).choices[0].message.content], [200, "hi"]);
  assertEquals(gateway.logged, []);
  await gateway.close();
  await provider.close();
});
