/** Messages of AWS's binary event stream, made by AWS's own library. */
import { EventStreamCodec } from "@smithy/eventstream-codec";

const encoder = new TextEncoder();
export const codec = new EventStreamCodec(
  (bytes) => new TextDecoder().decode(bytes as Uint8Array),
  (text) => encoder.encode(text),
);

function message(headers: Record<string, string>, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const typed = Object.entries(headers).map(([name, value]) => [name, { type: "string" as const, value }]);
  return new Uint8Array(codec.encode({ headers: Object.fromEntries(typed), body }));
}

/** `payload` as JSON, unless it is text already. */
export function eventMessage(type: string, payload: unknown): Uint8Array<ArrayBuffer> {
  const body = typeof payload === "string" ? payload : JSON.stringify(payload);
  return message(
    { ":event-type": type, ":content-type": "application/json", ":message-type": "event" },
    encoder.encode(body),
  );
}

export function exceptionMessage(
  type: string,
  said: string,
  more: Record<string, unknown> = {},
): Uint8Array<ArrayBuffer> {
  return message(
    { ":exception-type": type, ":content-type": "application/json", ":message-type": "exception" },
    encoder.encode(JSON.stringify({ message: said, ...more })),
  );
}

export function errorMessage(code: string, said: string): Uint8Array<ArrayBuffer> {
  return message(
    { ":error-code": code, ":error-message": said, ":message-type": "error" },
    new Uint8Array(0),
  );
}

/** An event of a model's own API, as InvokeModelWithResponseStream sends it. */
export function chunkMessage(event: unknown): Uint8Array<ArrayBuffer> {
  const bytes = encoder.encode(JSON.stringify(event)).toBase64();
  return eventMessage("chunk", { bytes, p: "abcdefghijklmnop" });
}

export function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(pieces.reduce((n, piece) => n + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** The frames of a scenario's `.sse` as messages of a binary stream. */
export function binaryOf(sse: string): Uint8Array<ArrayBuffer> {
  const frames = [...sse.matchAll(/^event: (.*)\ndata: (.*)$/gm)];
  return joined(frames.map(([, event, data]) => eventMessage(event, data)));
}

/** The same of messages' events, each in a chunk. */
export function chunksOf(sse: string): Uint8Array<ArrayBuffer> {
  const frames = [...sse.matchAll(/^data: (.*)$/gm)];
  return joined(frames.map(([, data]) => chunkMessage(JSON.parse(data))));
}
