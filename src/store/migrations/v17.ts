/** What nodes saw in spans of time, for the console's charts. */
export function v17(): readonly string[] {
  return [
    `CREATE TABLE rollups (
      span BIGINT NOT NULL, starts BIGINT NOT NULL, node TEXT NOT NULL, data TEXT NOT NULL,
      PRIMARY KEY (span, starts, node))`,
  ];
}
