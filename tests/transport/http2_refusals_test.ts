/** What is refused over HTTP/2 before anybody handles it. */
import { assertEquals, assertMatch } from "@std/assert";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { WebSocketUpgrade } from "../../src/transport/websocket/upgrade.ts";
import { CA } from "../support/tls.ts";
import { listeningTls } from "./caller.ts";

async function withServer(use: (port: number, handled: () => number) => Promise<void>): Promise<void> {
  let handled = 0;
  const { server } = await listeningTls({
    handle() {
      handled++;
      const headers = new Headers({
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      });
      const user = { mostMessageBytes: 1, pingMs: 60_000, take: () => Promise.resolve() };
      return Promise.resolve(WebSocketUpgrade.of({ method: "GET", headers }, user)!);
    },
  });
  try {
    await use(server.addr.port, () => handled);
  } finally {
    await server.shutdown();
  }
}

Deno.test("who has agreed on HTTP/2 and speaks HTTP/1.1 is left without an answer", () =>
  withServer(async (port, handled) => {
    const conn = await Deno.connectTls({ hostname: "localhost", port, caCerts: [CA], alpnProtocols: ["h2"] });
    await conn.write(new TextEncoder().encode("GET / HTTP/1.1\r\nhost: h\r\n\r\n"));
    // Closed without a word of TLS.
    assertEquals(await conn.read(new Uint8Array(100)).catch(() => null), null);
    assertEquals(handled(), 0);
    conn.close();
  }));

Deno.test("each refusal over HTTP/2 has an id and says what was refused", () =>
  withServer(async (port, handled) => {
    const session = connect(`https://localhost:${port}`, { ca: CA });
    const asked = (fields: Record<string, string>) =>
      new Promise<{ fields: IncomingHttpHeaders; text: string }>((resolve, reject) => {
        const stream = session.request({ ":path": "/", ...fields });
        let text = "";
        stream.on("error", reject);
        stream.on("response", (fields) => {
          stream.on("data", (bytes: Uint8Array) => text += new TextDecoder().decode(bytes));
          stream.on("end", () => resolve({ fields, text }));
        });
      });
    const ids = new Set<unknown>();
    for (const [fields, what] of [[{ host: "h/open" }, "host"], [{}, "WebSocket"]] as const) {
      const { fields: got, text } = await asked(fields);
      assertEquals([got[":status"], got["content-type"]], [400, "application/json"]);
      assertMatch(String(got["x-request-id"]), /^gen_/);
      assertEquals(got["request-id"], got["x-request-id"]);
      const { error } = JSON.parse(text);
      assertEquals([error.code, error.type, error.param], ["bad_request", "invalid_request_error", null]);
      assertMatch(error.message, new RegExp(what));
      ids.add(got["x-request-id"]);
    }
    assertEquals([ids.size, handled()], [2, 1]);
    session.destroy();
  }));
