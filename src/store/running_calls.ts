/**
 * Running calls, published by each node while somebody watches calls in the console. The data is opaque to
 * the store.
 */
import type { Engine, Query } from "./engine.ts";
import { change } from "./revision.ts";
import { asText } from "./rows.ts";

/** Informs every node that somebody watches calls at this one. */
export function noteWatch(engine: Engine, node: string): Promise<void> {
  return change(engine, async (query, rev) => {
    await query(
      "INSERT INTO watches (node, rev) VALUES ($1, $2) ON CONFLICT (node) DO UPDATE SET rev = excluded.rev",
      [node, rev],
    );
  });
}

/** Nodes at which somebody started or continued to watch calls since a revision. */
export async function watchesSince(query: Query, rev: number): Promise<string[]> {
  const rows = await query("SELECT node FROM watches WHERE rev > $1", [rev]);
  return rows.map((row) => asText(row.node));
}

/** @param data null: nobody watches any more */
export async function putRunningCalls(query: Query, node: string, data: string | null): Promise<void> {
  if (data === null) {
    await query("DELETE FROM running_calls WHERE node = $1", [node]);
    return;
  }
  await query(
    "INSERT INTO running_calls (node, data) VALUES ($1, $2) ON CONFLICT (node) DO UPDATE SET data = excluded.data",
    [node, data],
  );
}

export interface RunningCalls {
  node: string;
  data: string;
}

/** Data of all registered nodes except this one. */
export async function runningCalls(query: Query, except: string): Promise<RunningCalls[]> {
  const rows = await query(
    "SELECT c.node AS node, c.data AS data FROM running_calls c JOIN nodes n ON n.id = c.node WHERE c.node <> $1",
    [except],
  );
  return rows.map((row) => ({ node: asText(row.node), data: asText(row.data) }));
}
