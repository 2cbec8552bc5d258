/** The length that a response says its body has, for clients whose framing does not depend on it. */
import { WireError } from "../transport/body_framing.ts";

/** Null: none is given, or there is no body. Throws {@link WireError}. @param length the value of `content-length` */
export function bodyLength(status: number, length: string | null | undefined): number | null {
  if (length === null || length === undefined || status === 204 || status === 304) return null;
  if (!/^\d{1,15}$/.test(length)) throw new WireError("content-length is not a number");
  return Number(length);
}

export function wrongLength(): WireError {
  return new WireError("the body has another length than content-length");
}
