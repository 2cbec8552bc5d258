/** Requests to a collector and their outcomes. */

export type Outcome =
  | { kind: "taken" }
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
  retryAfter: string | null;
}
