/** Metrics of nodes per time span, for the charts of the console. */
export function v17(): readonly string[] {
  return [
    `CREATE TABLE rollups (
      span BIGINT NOT NULL, starts BIGINT NOT NULL, node TEXT NOT NULL, data TEXT NOT NULL,
      PRIMARY KEY (span, starts, node))`,
  ];
}
