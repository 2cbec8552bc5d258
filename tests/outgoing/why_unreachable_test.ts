/** What the operator is told of a server that cannot be reached: the reason, in words of the gateway's own, by both clients. */
import { assertEquals, assertRejects } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { askBy, deliveryError, withReason } from "../../src/outgoing/ask.ts";
import { sendByFetch } from "../../src/outgoing/fetch_reply.ts";
import type { Exchange } from "../../src/outgoing/reply.ts";
import { openSend, type Send } from "../../src/outgoing/send.ts";
import { whyUnreachable } from "../../src/outgoing/why_unreachable.ts";
import { stoppedTicker } from "../support/time.ts";
import { CA, EXPIRED, OTHER, SELF_SIGNED, TLS } from "../support/tls.ts";

interface Certificate {
  cert: string;
  key: string;
}

/** A server behind TLS that answers nothing; null: one that answers each connection in another language. */
async function withServer(
  certificate: Certificate | null,
  use: (port: number) => Promise<void>,
): Promise<void> {
  const address = { hostname: "127.0.0.1", port: 0 };
  const listener = certificate ? Deno.listenTls({ ...address, ...certificate }) : Deno.listen(address);
  let closed = false;
  const serving = (async () => {
    while (!closed) {
      const conn = await listener.accept().catch(() => null);
      if (conn === null) continue;
      try {
        await conn.read(new Uint8Array(4096));
        if (certificate === null) await conn.write(new TextEncoder().encode("220 mail.example ESMTP\r\n"));
      } catch {
        // The client does not trust it.
      }
      conn.close();
    }
  })();
  try {
    await use(listener.addr.port);
  } finally {
    closed = true;
    listener.close();
    await serving;
  }
}

const CASES: readonly [name: string, Certificate | null, host: string, trusted: string, reason: string][] = [
  ["an expired certificate", EXPIRED, "localhost", EXPIRED.ca, "its certificate has expired"],
  ["a certificate of another name", TLS, "[::ffff:127.0.0.1]", CA, "its certificate is for another name"],
  [
    "a certificate of an authority that nobody knows",
    OTHER,
    "localhost",
    CA,
    "its certificate is signed by nobody whom this machine trusts (see DENO_CERT)",
  ],
  [
    "a certificate signed by itself",
    SELF_SIGNED,
    "localhost",
    CA,
    "its certificate is signed by itself, as that of an authority and not of a server",
  ],
  ["a server that speaks no TLS", null, "localhost", CA, "what it sends is not TLS"],
];

for (const [name, certificate, host, trusted, reason] of CASES) {
  Deno.test(`of ${name} the operator is told that ${reason}`, async () => {
    const client = Deno.createHttpClient({ caCerts: [trusted] });
    const ways: Send[] = [
      openSend({ caCerts: [trusted] }),
      // As a stream, for which HTTP/2 is offered.
      (exchange, ticker) => openSend({ caCerts: [trusted] })({ ...exchange, stream: true }, ticker),
      (exchange, ticker) => sendByFetch(exchange, ticker, { client }),
    ];
    const { ticker } = stoppedTicker();
    await withServer(certificate, async (port) => {
      const url = `https://${host}:${port}/v1/secret-path`;
      const exchange: Exchange = { url, headers: {}, body: "{}", firstByteMs: 60_000, idleMs: 60_000 };
      for (const way of ways) {
        const failure = await assertRejects(() => way(exchange, ticker), Failure);
        assertEquals(failure.operator, `the provider cannot be reached: ${reason}`);
        assertEquals(failure.message, "Connection error: the provider of this model cannot be reached.");
        const signal = new AbortController().signal;
        const thrown = await assertRejects(() => askBy(way, url, { most: 100, signal }), TypeError);
        assertEquals(withReason("no connection", thrown), `no connection: ${reason}`);
        assertEquals(thrown.message, `there is no answer: ${reason}`);
        assertEquals(deliveryError(thrown), `it cannot be reached: ${reason}`);
      }
    });
    client.close();
  });
}

Deno.test("a port where nobody listens, and a name of nobody, are told apart", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const { ticker } = stoppedTicker();
  const told = async (url: string) => {
    const exchange = { url, headers: {}, body: "{}", firstByteMs: 60_000, idleMs: 60_000 };
    const both = [openSend(), sendByFetch as Send].map(async (way) =>
      (await assertRejects(() => way(exchange, ticker), Failure)).operator
    );
    return await Promise.all(both);
  };
  const refused = "the provider cannot be reached: the connection was refused";
  assertEquals(await told(`http://127.0.0.1:${port}/`), [refused, refused]);
  const nameless = "the provider cannot be reached: its name cannot be resolved";
  assertEquals(await told("http://nobody.invalid/"), [nameless, nameless]);
});

Deno.test("deliveryError() tells words as they are, and no text of an error that ask() did not throw", () => {
  assertEquals(deliveryError("it answered with status 500"), "it answered with status 500");
  assertEquals(deliveryError(new DOMException("late", "TimeoutError")), "it did not answer in time");
  assertEquals(deliveryError(new RangeError("https://user:secret@example.com/")), "RangeError");
  assertEquals(deliveryError(undefined), "for an unknown reason");
});

Deno.test("an error of an unknown kind gives no reason, and none of its text", () => {
  assertEquals(whyUnreachable(new Error("https://user:secret@provider.example/ is odd")), null);
  assertEquals(whyUnreachable("a text"), null);
  assertEquals(
    whyUnreachable(
      new TypeError("fetch failed", { cause: new Error("client error (Connect): unsuccessful tunnel") }),
    ),
    "the proxy opens no connection to it",
  );
  // Of `Deno.startTls`, where DENO_CERT names no file.
  assertEquals(
    whyUnreachable(new Error("Failed opening CA file: No such file or directory (os error 2)")),
    "the certificates that DENO_CERT names cannot be read",
  );
});
