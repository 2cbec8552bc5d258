/** Resumable streams: their data, encrypted, for a few minutes; and the keys for which they are enabled. */
import type { Dialect } from "./dialect.ts";

export function v11({ kind }: Dialect): readonly string[] {
  return [
    `ALTER TABLE keys ADD COLUMN resume_ms BIGINT`,
    `CREATE TABLE streams (
      id TEXT PRIMARY KEY, key_id TEXT NOT NULL, format TEXT NOT NULL, streamed BIGINT NOT NULL,
      claim TEXT, request TEXT, node TEXT NOT NULL, keep_ms BIGINT NOT NULL, created BIGINT NOT NULL,
      state TEXT NOT NULL, head TEXT, events BIGINT NOT NULL, expires BIGINT, followed BIGINT)`,
    `CREATE UNIQUE INDEX streams_by_claim ON streams (claim) WHERE claim IS NOT NULL`,
    `CREATE INDEX streams_by_end ON streams (expires)`,
    `CREATE TABLE stream_pieces (
      stream TEXT NOT NULL, first BIGINT NOT NULL, events BIGINT NOT NULL, begins BIGINT NOT NULL,
      written BIGINT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (stream, first)
     )${kind === "sqlite" ? " WITHOUT ROWID" : ""}`,
  ];
}
