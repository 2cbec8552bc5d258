/** Crowds behind TLS on the real program, with few files: it stays up, and takes who comes then. */
import { assertEquals } from "@std/assert";
import { startGateway, startProvider } from "./soak/gateway.ts";
import { eventually, inTime } from "./support/time.ts";
import { CA } from "./support/tls.ts";

const FILES = 160;
const CROWD = 4 * FILES;
const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/** SETTINGS without any, and HEADERS of a POST to /v1/chat/completions with a key that is none, whose body does not come. */
const SETTINGS = [0, 0, 0, 4, 0, 0, 0, 0, 0];

function literal(text: string): number[] {
  return [text.length, ...new TextEncoder().encode(text)];
}

const FIELDS = Object.entries({
  ":method": "POST",
  ":scheme": "https",
  ":path": "/v1/chat/completions",
  ":authority": "localhost",
  authorization: "Bearer sk_live_soaksoaksoaksoaksoaksoaksoak02",
  "content-length": "1000",
}).flatMap(([name, value]) => [0, ...literal(name), ...literal(value)]);
const POST = [0, FIELDS.length >> 8, FIELDS.length & 255, 1, 4, 0, 0, 0, 1, ...FIELDS];

const bytes = (text: string, ...frames: number[][]) =>
  new Uint8Array([...new TextEncoder().encode(text), ...frames.flat()]);

/** What each of a crowd does once it is connected; null: nothing, not even a handshake. */
const CROWDS: Record<string, Uint8Array | null> = {
  "connections without a handshake": null,
  "idle connections that speak HTTP/2": bytes(PREFACE, SETTINGS),
  "bodies over HTTP/2 that do not come": bytes(PREFACE, SETTINGS, POST),
};

function close(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch {
    // The gateway has closed it.
  }
}

Deno.test("crowds behind TLS, of more connections than there are files, leave a gateway that takes who comes then", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-tls-crowds-" });
  const provider = await startProvider();
  const file = (name: string) => new URL(`support/tls/${name}.pem`, import.meta.url).pathname;
  const gateway = await startGateway(folder, provider.url, {
    files: FILES,
    server: { header_seconds: 2, tls: { cert: file("cert"), key: file("key") } },
  });
  const { hostname, port } = new URL(gateway.url);
  const address = { hostname, port: Number(port) };
  /** A connection of its own, over both versions. */
  const healthy = async () => {
    const answers = [true, false].map(async (http2) => {
      using client = Deno.createHttpClient({ caCerts: [CA], http2, http1: !http2 });
      const response = await fetch(`${gateway.url}/healthz`, { client });
      await response.body?.cancel();
      return response.status;
    });
    return await Promise.all(answers).then((all) => all.every((status) => status === 200), () => false);
  };
  try {
    // On a busy machine a handshake right after the start may take longer than `header_seconds`, and is given up.
    await inTime(eventually(healthy), { what: "the first answer" });
    const atRest = gateway.descriptors();
    for (const [name, said] of Object.entries(CROWDS)) {
      await t.step(name, async () => {
        const crowd: Deno.TcpConn[] = [];
        const join = async () => {
          const conn = await Deno.connect(address);
          crowd.push(conn);
          if (said === null) return;
          const secure = await Deno.startTls(conn, { hostname, caCerts: [CA], alpnProtocols: ["h2"] });
          joined.push(secure);
          await secure.handshake();
          await secure.write(said);
        };
        const joined: Deno.TlsConn[] = [];
        // Whom the gateway gives up meanwhile is not waited for.
        for (let i = 0; i < CROWD; i++) void join().catch(() => {});
        await eventually(() => crowd.length === CROWD);
        await inTime(eventually(healthy), { what: `${name}, beside the crowd` });
        joined.forEach(close);
        crowd.forEach(close);
        await inTime(eventually(healthy), { what: `${name}, afterwards` });
        await eventually(() => gateway.descriptors() < atRest + FILES / 4, {
          what: () => `${gateway.descriptors()} files, ${atRest} before`,
        });
      });
    }
  } finally {
    const code = await gateway.stop();
    await provider.stop();
    await Deno.remove(folder, { recursive: true });
    assertEquals(code, 0, gateway.err());
  }
});
