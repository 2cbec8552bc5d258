/**
 * Identifiers that an API of this format accepts: at most 64 characters, and those of items with the prefix of their
 * kind (OpenAI refuses others by name: "Expected an ID that begins with 'fc'").
 */
import { digest } from "../short_id.ts";

export const LONGEST_ID = 64;

const LEGAL = /^[\w.:-]{1,64}$/;

/** A call id as it is, or a short stand-in that is the same wherever the same id occurs. */
export function legalCallId(id: string): string {
  return LEGAL.test(id) ? id : `call_${digest(id)}`;
}

/** The item id if an API of this format would take it back. */
export function legalItemId(id: unknown, prefix: string): string | undefined {
  return typeof id === "string" && id.startsWith(prefix) && LEGAL.test(id) ? id : undefined;
}
