/**
 * Notes about records that were deliberately removed from their chains, so that the chains can still be
 * verified.
 */
import type { Columns, Engine, Query } from "../engine.ts";
import { contentOfRow } from "../records.ts";
import { asInt, asText, type Row } from "../rows.ts";
import { sealOfRemoved } from "./links.ts";

const COLUMNS: Columns = [
  ["link", "text"],
  ["id", "text"],
  ["created", "int"],
  ["data", "text"],
  ["seal", "text"],
];

/** `rows` have all columns of a record, and its link. */
export async function noteRemoved(
  engine: Engine,
  query: Query,
  key: string,
  rows: readonly Row[],
): Promise<void> {
  const linked = rows.filter((row) => row.chain !== null);
  if (linked.length === 0) return;
  const notes = linked.map((row) => {
    const [link, data] = [asText(row.chain), contentOfRow(row)];
    return [link, asText(row.id), asInt(row.created), data, sealOfRemoved(key, link, data)];
  });
  await engine.insertRows(query, { table: "removed", columns: COLUMNS, then: "" }, notes);
}
