/** One call of gRPC without streams: a message behind five bytes, over HTTP/2. */
import { Buffer } from "node:buffer";
import { connect } from "node:http2";
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { boundedDuplex } from "./bounded_duplex.ts";
import type { Destination } from "./environment.ts";
import type { Certificates, Outcome, Post } from "./request.ts";

const OK = 0;
/** Statuses after which the specification has a call made again. */
const LATER: ReadonlySet<number> = new Set([1, 4, 8, 10, 11, 14, 15]);
const PREFIX_BYTES = 5;
/** Of an answer, which has a short message at most. */
const MOST_ANSWER_BYTES = 1 << 20;
/** With all frames around it. */
const MOST_BYTES = 2 << 20;
/** What a collector may tell beside it: interim answers, that it goes away, other addresses. HTTP/2 itself bounds only some of these. */
const MOST_TOLD = 100;

export function grpcPost(to: Destination, path: string, certificates: Certificates): Post {
  return async (body, signal) => {
    const framed = new Uint8Array(PREFIX_BYTES + body.length);
    new DataView(framed.buffer).setUint32(1, body.length);
    framed.set(body, PREFIX_BYTES);
    return await call(to, { framed, path, certificates, signal });
  };
}

interface GrpcCall {
  framed: Uint8Array;
  path: string;
  certificates: Certificates;
  signal: AbortSignal;
}

function call(to: Destination, { framed, path, certificates, signal }: GrpcCall): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    // A connection a call: batches are seconds apart.
    const url = new URL(to.url);
    const connection = boundedDuplex(socketTo(url, certificates), MOST_BYTES);
    const session = connect(url.origin, { createConnection: () => connection });
    const end = () => {
      session.destroy();
      // The session may leave it open.
      connection.destroy();
    };
    const fail = (error: unknown) => {
      end();
      reject(error);
    };
    session.on("close", () => fail(new Error("The collector ended the connection.")));
    signal.addEventListener("abort", () => fail(signal.reason), { once: true });
    session.on("error", fail);
    let told = 0;
    const count = () => {
      if (++told === MOST_TOLD) fail(new Error("The collector tells too much beside its answer."));
    };
    for (const event of ["goaway", "altsvc", "origin"]) session.on(event, count);
    const request = session.request({
      ...to.headers,
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
    });
    let status: number | undefined;
    let http = 0;
    const note = (fields: Record<string, unknown>) => {
      http = Number(fields[":status"] ?? http);
      if (fields["grpc-status"] !== undefined) status = Number(fields["grpc-status"]);
    };
    request.on("headers", count);
    request.on("response", note);
    request.on("trailers", note);
    request.on("error", fail);
    request.on("close", () => fail(new Error("The collector ended the call.")));
    let answered = 0;
    request.on("data", (chunk: Uint8Array) => {
      answered += chunk.length;
      if (answered <= MOST_ANSWER_BYTES) return;
      resolve({ kind: "refused", why: "its answer does not end" });
      end();
    });
    request.on("end", () => {
      // It may be there again for the next attempt.
      if (http === 0) return fail(new Error("The collector ended the call."));
      const why = status === undefined
        ? `it answered ${http} without gRPC`
        : `it answered gRPC status ${status}`;
      if (status === OK) resolve({ kind: "taken" });
      else resolve({ kind: status !== undefined && LATER.has(status) ? "later" : "refused", why });
      // At once: to wait for the other side would read whatever it goes on to say.
      end();
    });
    request.end(Buffer.from(framed.buffer, framed.byteOffset, framed.length));
  });
}

function socketTo({ protocol, hostname, port }: URL, certificates: Certificates): Socket {
  const secure = protocol === "https:";
  const host = hostname.replace(/^\[|\]$/g, "");
  const to = { host, port: Number(port || (secure ? 443 : 80)) };
  return secure
    ? connectTls({ ...to, ...certificates, servername: host, ALPNProtocols: ["h2"] })
    : connectPlain(to);
}
