/** A unary gRPC call: a message with a prefix of five bytes, over HTTP/2. */
import { Buffer } from "node:buffer";
import { connect } from "node:http2";
import { partialSuccess, retryDelayMs } from "./answers.ts";
import type { Destination } from "./environment.ts";
import type { Certificates, Outcome, Post } from "./request.ts";

const OK = 0;
/** Status codes after which the specification requires a retry. */
const LATER: ReadonlySet<number> = new Set([1, 4, 10, 11, 14, 15]);
/** `RESOURCE_EXHAUSTED`: to be retried only if the answer says when. */
const EXHAUSTED = 8;
const PREFIX_BYTES = 5;
/** Size limit of a response, which contains at most a short message. */
const MOST_ANSWER_BYTES = 1 << 20;

/**
 * Sends a POST as a unary gRPC call.
 * @param path of the method
 */
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
    // One connection per call, since batches are seconds apart.
    const session = connect(new URL(to.url).origin, certificates);
    const fail = (error: unknown) => {
      session.destroy();
      reject(error);
    };
    signal.addEventListener("abort", () => fail(signal.reason), { once: true });
    session.on("error", fail);
    const request = session.request({
      ...to.headers,
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
    });
    let status: number | undefined;
    let afterMs: number | undefined;
    let http = 0;
    const note = (fields: Record<string, unknown>) => {
      http = Number(fields[":status"] ?? http);
      if (fields["grpc-status"] !== undefined) status = Number(fields["grpc-status"]);
      afterMs = retryDelayMs(fields["grpc-status-details-bin"]) ?? afterMs;
    };
    request.on("response", note);
    request.on("trailers", note);
    request.on("error", fail);
    const chunks: Uint8Array[] = [];
    let answered = 0;
    request.on("data", (chunk: Uint8Array) => {
      answered += chunk.length;
      if (answered <= MOST_ANSWER_BYTES) return void chunks.push(chunk);
      session.destroy();
      resolve({ kind: "refused", why: "its answer does not end" });
    });
    request.on("end", () => {
      session.close();
      // The collector may be available again for the next attempt.
      if (http === 0) return reject(new Error("The collector ended the call."));
      if (status === OK) {
        return resolve({ kind: "taken", partial: partialSuccess(messageIn(chunks), "protobuf") });
      }
      const why = status === undefined
        ? `it answered ${http} without gRPC`
        : `it answered gRPC status ${status}`;
      const later = status !== undefined &&
        (LATER.has(status) || (status === EXHAUSTED && afterMs !== undefined));
      resolve(
        later ? { kind: "later", why, ...(afterMs !== undefined && { afterMs }) } : { kind: "refused", why },
      );
    });
    request.end(Buffer.from(framed.buffer, framed.byteOffset, framed.length));
  });
}

/** The first message of an answer. No compression is offered, so a compressed one is ignored. */
function messageIn(chunks: Uint8Array[]): Uint8Array {
  const answer = Buffer.concat(chunks);
  if (answer.length < PREFIX_BYTES || answer[0] !== 0) return new Uint8Array();
  return answer.subarray(PREFIX_BYTES, PREFIX_BYTES + answer.readUInt32BE(1));
}
