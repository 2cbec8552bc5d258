/**
 * Recorded provider traffic, read in place from `../shared/corpus` beside the checkout. Its README.md describes the
 * fields.
 */

import { haveShared, shared } from "./shared.ts";

export type RecordedApi = "openai-chat" | "openai-responses" | "anthropic-messages" | "gemini-generate";

export interface Recording {
  id: string;
  api: RecordedApi;
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

/**
 * All of them, or those of one API, in order of their ids; none where the folder is absent.
 * @param api the middle of an id
 */
export function readRecordings<T = Recording>(api?: "chat" | "msgs" | "resp" | "gem"): T[] {
  if (!haveShared("corpus/")) return [];
  const ids = Deno.readTextFileSync(new URL("INDEX.jsonl", FOLDER)).trim().split("\n")
    .map((line) => (JSON.parse(line) as { id: string }).id)
    .filter((id) => api === undefined || id.includes(`.${api}.`));
  return ids.sort().map((id) => JSON.parse(Deno.readTextFileSync(new URL(`${id}.json`, FOLDER))) as T);
}

/** Errors known from public reports, written afresh. */
export function readReconstructed(): Recording[] {
  const { items } = JSON.parse(Deno.readTextFileSync(new URL("RECONSTRUCTED-ERRORS.json", FOLDER))) as {
    items: (Partial<Recording> & { api: RecordedApi; id: string; status: number })[];
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
