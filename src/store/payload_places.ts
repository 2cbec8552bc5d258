/** The machine that stores the payload of a generation, where each machine keeps payloads in its own files. */
import type { Engine, Query } from "./engine.ts";
import { asText } from "./rows.ts";

export interface PayloadPlace {
  id: string;
  /** Milliseconds since the epoch. */
  created: number;
  place: string;
}

export async function insertPayloadPlaces(engine: Engine, places: readonly PayloadPlace[]): Promise<void> {
  const rows = places.map(({ id, created, place }) => [id, created, place]);
  await engine.transaction((query) =>
    engine.insertRows(query, {
      table: "payload_places",
      columns: [["id", "text"], ["created", "int"], ["place", "text"]],
      then: "ON CONFLICT (id) DO NOTHING",
    }, rows)
  );
}

/** Null: no machine has reported it. */
export async function payloadPlace(query: Query, id: string): Promise<string | null> {
  const rows = await query("SELECT place FROM payload_places WHERE id = $1", [id]);
  return rows.length === 0 ? null : asText(rows[0].place);
}

/** Deletes up to `most` rows older than `before`; returns how many. 0: none are left. */
export async function retirePayloadPlaces(query: Query, before: number, most: number): Promise<number> {
  const deleted = await query(
    `DELETE FROM payload_places WHERE id IN (SELECT id FROM payload_places WHERE created < $1 LIMIT ${most}) RETURNING id`,
    [Math.floor(before)],
  );
  return deleted.length;
}
