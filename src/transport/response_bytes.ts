/** Serializes answers as HTTP/1.1. */
import { STATUS_TEXT, type StatusCode } from "@std/http/status.js";
import { Buffer } from "node:buffer";
import { generationId } from "../exchange/request_ids.ts";
import { PlainResponse } from "./plain_response.ts";
import { sharedChunk } from "./shared_bytes.ts";
import { headBytes, putBytes } from "./text_bytes.ts";

/** Whether an answer is streamed. Does not read the property `body`, which would create a stream. */
export function isStream(response: Response): boolean {
  if (PlainResponse.textOf(response) !== null) return false;
  const fields = PlainResponse.fieldsOf(response);
  const type = fields === null ? response.headers.get("content-type") : fields["content-type"];
  return response.status === 200 && /^text\/(?:event-stream|csv)\b/.test(type ?? "");
}

/** Whether the connection must be closed after the answer. */
export function endsConnection(response: Response): boolean {
  const fields = PlainResponse.fieldsOf(response);
  return (fields === null ? response.headers.get("connection") : fields.connection) === "close";
}

/**
 * The `connection` field including CR LF; empty if HTTP/1.1 needs none.
 *
 * @param minor minor version of the request: 0 or 1
 */
export function connectionField(keeps: boolean, minor: number): string {
  return keeps ? (minor === 0 ? "connection: keep-alive\r\n" : "") : "connection: close\r\n";
}

/**
 * The head of an answer including the empty line.
 *
 * @param more further fields added by the server, each with CR LF
 */
export function headOf(response: Response, more: string): string {
  const { status } = response;
  let head = `HTTP/1.1 ${status} ${STATUS_TEXT[status as StatusCode] ?? ""}\r\n`;
  const fields = PlainResponse.fieldsOf(response);
  if (fields !== null) {
    for (const name in fields) if (!isOurs(name)) head += `${name}: ${fields[name]}\r\n`;
  } else {
    for (const [name, value] of response.headers) if (!isOurs(name)) head += `${name}: ${value}\r\n`;
  }
  return `${head}${more}date: ${httpDate()}\r\n\r\n`;
}

/** Whether the field concerns the connection, and is therefore set by the server. */
function isOurs(name: string): boolean {
  return name === "content-length" || name === "transfer-encoding" || name === "connection";
}

/** The last-chunk of a chunked body. */
export const LAST_CHUNK = "0\r\n\r\n";

/**
 * A chunk together with the head before it.
 * @param last whether it ends the chunked body
 */
export function chunk(head: string, bytes: Uint8Array, chunked: boolean, last = false): Uint8Array {
  if (head === "" && !last) {
    if (!chunked) return bytes;
    const shared = sharedChunk(bytes, () => joinedChunk("", bytes, "\r\n"));
    if (shared !== null) return shared;
  }
  return joinedChunk(head, bytes, !chunked ? "" : last ? "\r\n" + LAST_CHUNK : "\r\n");
}

/** @param behind bytes after the data; empty: not chunked */
function joinedChunk(head: string, bytes: Uint8Array, behind: string): Uint8Array {
  const before = behind !== "" ? `${head}${bytes.length.toString(16)}\r\n` : head;
  const joined = Buffer.allocUnsafe(before.length + bytes.length + behind.length);
  putBytes(joined, before, 0);
  joined.set(bytes, before.length);
  putBytes(joined, behind, before.length + bytes.length);
  return joined;
}

let dateSecond = 0;
let dateText = "";

function httpDate(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * 1000).toUTCString();
  }
  return dateText;
}

interface RefusalParts {
  fields: { "content-type": string; "x-request-id": string; "request-id": string };
  body: string;
}

function refusalParts(status: StatusCode, message: string): RefusalParts {
  const error = {
    code: STATUS_TEXT[status].toLowerCase().replaceAll(/[^a-z]+/g, "_"),
    message: `Cannot read the request: ${message}.`,
  };
  // The same error types as in the envelopes of the endpoints.
  const type = status === 408 || status >= 500 ? "api_error" : "invalid_request_error";
  const body = JSON.stringify({ error: { ...error, type, param: null } });
  const id = generationId(Date.now());
  return { fields: { "content-type": "application/json", "x-request-id": id, "request-id": id }, body };
}

/** The answer to a request that is rejected before it is handled, for servers that serialize it themselves. */
export function refusal(status: StatusCode, message: string): Response {
  const { fields, body } = refusalParts(status, message);
  return new Response(body, { status, headers: { ...fields } });
}

/** The answer to an unreadable request; closes the connection. */
export function refusalBytes(status: StatusCode, message: string, more: string): Uint8Array {
  const { fields, body } = refusalParts(status, message);
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return headBytes(
    `HTTP/1.1 ${status} ${STATUS_TEXT[status]}\r\n${lines}` +
      `content-length: ${body.length}\r\n${more}date: ${httpDate()}\r\nconnection: close\r\n\r\n${body}`,
  );
}
