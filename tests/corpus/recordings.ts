/**
 * Recorded provider traffic, read in place from `../shared/corpus` beside the checkout. Its README.md describes the
 * fields. A checkout without that folder has no recordings, and the tests that want them say so and pass.
 */

import { haveShared, shared } from "../support/shared.ts";

export type Api = "openai-chat" | "openai-responses" | "anthropic-messages" | "gemini-generate";

export interface Recording {
  id: string;
  api: Api;
  /** The request asked for a stream. */
  stream: boolean;
  status: number;
  tags: string[];
  response_headers: Record<string, string> | null;
  /** Null in recordings that kept the answer only. */
  request?: unknown;
  /** The parsed body; a string when it was not JSON; null for a stream. */
  response: unknown;
  /** The stream's text, byte for byte. */
  sse: string | null;
}

const FOLDER = shared("corpus/");

/** True when there is something to test against. */
export function haveRecordings(): boolean {
  return haveShared("corpus/");
}

/** All of them, in the order of the index. */
export function readRecordings(): Recording[] {
  return Deno.readTextFileSync(new URL("INDEX.jsonl", FOLDER)).trim().split("\n").map((line) => {
    const { id } = JSON.parse(line) as { id: string };
    return JSON.parse(Deno.readTextFileSync(new URL(`${id}.json`, FOLDER))) as Recording;
  });
}

/** Errors known from public reports, written afresh. */
export function readReconstructed(): Recording[] {
  const { items } = JSON.parse(Deno.readTextFileSync(new URL("RECONSTRUCTED-ERRORS.json", FOLDER))) as {
    items: (Partial<Recording> & { api: Api; id: string; status: number })[];
  };
  return items.map((item) => ({
    stream: false,
    tags: ["error"],
    response_headers: null,
    response: null,
    sse: null,
    ...item,
  }));
}
