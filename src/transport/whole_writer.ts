/** Writes complete answers to a connection. */
import { Buffer } from "node:buffer";
import type { HeldBody } from "./held_body.ts";
import { PlainResponse } from "./plain_response.ts";
import { chunk, headOf } from "./response_bytes.ts";
import { headAndText, headBytes } from "./text_bytes.ts";

/** What is needed from a connection. */
export interface WholePlace {
  write(bytes: Uint8Array): Promise<void>;
  /** Writes a head, and a large body in pieces. */
  pass(head: Uint8Array, body: HeldBody): Promise<void>;
}

/**
 * Resolves when everything is written.
 *
 * @param more further header lines
 * @param bare only the head is sent (HEAD)
 */
export async function writeWhole(
  place: WholePlace,
  response: Response,
  more: string,
  bare: boolean,
): Promise<void> {
  const { status } = response;
  if (bare || status === 204 || status === 304) return await place.write(headBytes(headOf(response, more)));
  const held = PlainResponse.heldOf(response);
  if (held !== null) {
    return await place.pass(headBytes(headOf(response, withLength(held.length, more))), held);
  }
  const text = PlainResponse.textOf(response);
  if (text !== null) {
    const size = Buffer.byteLength(text);
    return await place.write(headAndText(headOf(response, withLength(size, more)), text, size));
  }
  const body = await response.bytes();
  await place.write(chunk(headOf(response, withLength(body.length, more)), body, false));
}

const withLength = (length: number, more: string) => `content-length: ${length}\r\n${more}`;
