/**
 * Identifiers accepted by APIs of this format: at most 64 characters, item ids with the prefix of their type
 * (OpenAI: "Expected an ID that begins with 'fc'").
 */
import { digest } from "../short_id.ts";

export const LONGEST_ID = 64;

const LEGAL = /^[\w.:-]{1,64}$/;

/** A call id, or a deterministic short replacement. */
export function legalCallId(id: string): string {
  return LEGAL.test(id) ? id : `call_${digest(id)}`;
}

/** The item id if an API of this format accepts it. */
export function legalItemId(id: unknown, prefix: string): string | undefined {
  return typeof id === "string" && id.startsWith(prefix) && LEGAL.test(id) ? id : undefined;
}
