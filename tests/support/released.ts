/** Stores as released versions leave them. */
import type { Engine } from "../../src/store/engine.ts";
import type { Place } from "./cluster.ts";

const SQL = Deno.readTextFileSync(new URL("./released/0.1.0.sql", import.meta.url));

/** A node of 0.1.0 that runs on, by its id. */
export const NODE_010 = "node_010";

export async function registerNode010(engine: Pick<Engine, "query">): Promise<void> {
  await engine.query(`INSERT INTO nodes (id, seq, beat) VALUES ('${NODE_010}', 1, 1)`);
}

/** Makes the tables of 0.1.0 where a store will be opened, with the rows that it wrote. */
export async function restore010(place: Pick<Place, "engine">, { rows = true } = {}): Promise<void> {
  const engine = place.engine();
  try {
    await engine.transaction(async (query) => {
      await engine.lockMigrations(query);
      const text = SQL.replace(/^--.*$/gm, "").replaceAll("{money}", engine.moneyType);
      for (const statement of text.split(/;\n/)) {
        const wanted = rows || !/^\s*INSERT/.test(statement) ||
          /INTO (revision|schema_version)/.test(statement);
        if (statement.trim() !== "" && wanted) await query(statement);
      }
    });
  } finally {
    await engine.close();
  }
}
