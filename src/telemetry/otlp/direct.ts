/**
 * A POST over a separate HTTP/1.1 connection. Deno traces each `fetch`, so exporting with `fetch` would
 * endlessly create new spans.
 */
import { headBytes } from "../../transport/text_bytes.ts";
import { writeAll } from "../../transport/write_all.ts";
import type { Certificates, ExportResponse, Sent } from "./request.ts";

/** The most bytes of the response head, including interim responses before it. */
const MOST_HEAD_BYTES = 65_536;
const HEAD_END = /\r?\n\r?\n/;

/** Returns a function that sends a POST without `fetch`, so that it is not traced. */
export function directly(url: URL, { ca, cert, key }: Certificates): (sent: Sent) => Promise<ExportResponse> {
  const secure = url.protocol === "https:";
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port || (secure ? 443 : 80));
  const tls = {
    ...(ca !== undefined && { caCerts: [ca] }),
    ...(cert !== undefined && key !== undefined && { cert, key }),
  };
  const login = url.username === "" ? {} : {
    authorization: `Basic ${btoa(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`)}`,
  };
  const connect = (): Promise<Deno.Conn> =>
    secure
      ? Deno.connectTls({ hostname, port, ...tls, alpnProtocols: ["http/1.1"] })
      : Deno.connect({ hostname, port });

  return async ({ headers, body, signal }) => {
    signal.throwIfAborted();
    const connecting = connect();
    const aborted = Promise.withResolvers<never>();
    // After an abort, a connection that is established later is closed too.
    const abort = () => {
      void connecting.then((conn) => conn.close()).catch(() => {});
      aborted.reject(signal.reason);
    };
    aborted.promise.catch(() => {});
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await Promise.race([
        exchange(await Promise.race([connecting, aborted.promise])),
        aborted.promise,
      ]);
    } finally {
      signal.removeEventListener("abort", abort);
      if (!signal.aborted) void connecting.then((conn) => conn.close()).catch(() => {});
    }

    async function exchange(conn: Deno.Conn): Promise<ExportResponse> {
      const fields = { host: url.host, connection: "close", ...login, ...headers };
      const head = Object.entries({ ...fields, "content-length": String(body.length) })
        .map(([name, value]) => `${name}: ${value}\r\n`).join("");
      await writeAll(conn, headBytes(`POST ${url.pathname}${url.search} HTTP/1.1\r\n${head}\r\n`));
      // A response that arrives before everything was sent contains the reason.
      const [response] = await Promise.all([readHead(conn), writeAll(conn, body).catch(() => {})]);
      return response;
    }
  };
}

async function readHead(conn: Deno.Conn): Promise<ExportResponse> {
  const decoder = new TextDecoder("latin1");
  const buffer = new Uint8Array(4096);
  let text = "";
  let came = 0;
  for (;;) {
    const end = HEAD_END.exec(text);
    if (end === null) {
      const count = came < MOST_HEAD_BYTES ? await conn.read(buffer) : null;
      if (count === null) break;
      came += count;
      text += decoder.decode(buffer.subarray(0, count), { stream: true });
      continue;
    }
    const head = text.slice(0, end.index);
    const status = Number(/^HTTP\/1\.[01] (\d{3})\b/.exec(head)?.[1]);
    if (!(status >= 100)) break;
    // Below 200 it is an interim response.
    if (status >= 200) return { status, retryAfter: /^retry-after:[ \t]*(\S+)/im.exec(head)?.[1] ?? null };
    text = text.slice(end.index + end[0].length);
  }
  throw new TypeError("The collector's answer is not one of HTTP/1.1.");
}
