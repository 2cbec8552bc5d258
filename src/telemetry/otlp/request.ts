/** What a request to a collector is made of, and what comes of it. */

export type Outcome =
  | { kind: "taken" }
  /** Another try may do. @param afterMs as it asked for; undefined: it did not say */
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
