/** Requests to a collector and their outcomes. */

import type { PartialSuccess } from "./answers.ts";

export type Outcome =
  /** @param partial null: all data was accepted */
  | { kind: "taken"; partial: PartialSuccess | null }
  /** A retry may succeed. @param afterMs the delay that the collector asks for; undefined: none */
  | { kind: "later"; why: string; afterMs?: number }
  | { kind: "refused"; why: string };

export type Post = (body: Uint8Array<ArrayBuffer>, signal: AbortSignal) => Promise<Outcome>;

export interface Certificates {
  /** Texts in PEM. */
  ca?: string;
  cert?: string;
  key?: string;
}

export interface Sent {
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer>;
  signal: AbortSignal;
}

export interface ExportResponse {
  status: number;
  /** `Retry-After` in milliseconds; undefined: absent or invalid. */
  retryAfterMs: number | undefined;
  /** Empty: not read, too long or invalid. */
  body: Uint8Array;
}
