/**
 * A POST over a separate HTTP/1.1 connection. Deno traces each `fetch`, so exporting with `fetch` would
 * endlessly create new spans.
 */
import { headBytes } from "../../transport/text_bytes.ts";
import { writeAll } from "../../transport/write_all.ts";
import { answerBody } from "./answer_body.ts";
import { retryAfterMs } from "./answers.ts";
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
      const conn = await Promise.race([connecting, aborted.promise]);
      const { status, retryAfterMs, head, rest } = await Promise.race([exchange(conn), aborted.promise]);
      const taken = status >= 200 && status < 300;
      // Once the status is known, the body must not make a failure of it.
      const read = () => nextBytes(conn);
      const answer = taken ? await answerBody({ head, status, came: rest, signal }, read) : new Uint8Array();
      return { status, retryAfterMs, body: answer };
    } finally {
      signal.removeEventListener("abort", abort);
      if (!signal.aborted) void connecting.then((conn) => conn.close()).catch(() => {});
    }

    async function exchange(conn: Deno.Conn): Promise<ResponseHead> {
      const fields = { host: url.host, connection: "close", ...headers };
      const head = Object.entries({ ...fields, "content-length": String(body.length) })
        .map(([name, value]) => `${name}: ${value}\r\n`).join("");
      await writeAll(conn, headBytes(`POST ${url.pathname}${url.search} HTTP/1.1\r\n${head}\r\n`));
      // A response that arrives before everything was sent contains the reason.
      const [response] = await Promise.all([readHead(conn), writeAll(conn, body).catch(() => {})]);
      return response;
    }
  };
}

interface ResponseHead extends Omit<ExportResponse, "body"> {
  head: string;
  /** The bytes after the head that were read with it. */
  rest: Uint8Array;
}

async function nextBytes(conn: Deno.Conn): Promise<Uint8Array | null> {
  const buffer = new Uint8Array(4096);
  const count = await conn.read(buffer);
  return count === null ? null : buffer.subarray(0, count);
}

async function readHead(conn: Deno.Conn): Promise<ResponseHead> {
  let text = "";
  let came = 0;
  for (;;) {
    const end = HEAD_END.exec(text);
    if (end === null) {
      const bytes = came < MOST_HEAD_BYTES ? await nextBytes(conn) : null;
      if (bytes === null) break;
      came += bytes.length;
      text += latin1(bytes);
      continue;
    }
    const head = text.slice(0, end.index);
    const status = Number(/^HTTP\/1\.[01] (\d{3})\b/.exec(head)?.[1]);
    if (!(status >= 100)) break;
    text = text.slice(end.index + end[0].length);
    // Below 200 it is an interim response.
    if (status < 200) continue;
    const field = (name: string) => new RegExp(`^${name}:([^\r\n]*)`, "im").exec(head)?.[1].trim() ?? null;
    return {
      status,
      retryAfterMs: retryAfterMs(field),
      head,
      rest: Uint8Array.from(text, (byte) => byte.charCodeAt(0)),
    };
  }
  throw new TypeError("The collector's answer is not one of HTTP/1.1.");
}

/** One character for each byte. */
const latin1 = (bytes: Uint8Array): string => String.fromCharCode(...bytes);
