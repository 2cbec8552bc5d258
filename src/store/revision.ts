/**
 * The revision of keys and accounts. Every change takes the next number in its own transaction, so numbers
 * become visible in order, and a node that asks for "all after 41" misses nothing.
 */
import type { Engine, Query, TransactionOptions } from "./engine.ts";
import { asInt } from "./rows.ts";

/** Message sent to other processes after a change. */
const CHANGED = "changed";

export function change<T>(
  engine: Engine,
  work: (query: Query, rev: number) => Promise<T>,
  options?: TransactionOptions,
): Promise<T> {
  return engine.transaction(async (query) => {
    const rows = await query("UPDATE revision SET rev = rev + 1 WHERE one = 1 RETURNING rev");
    const result = await work(query, asInt(rows[0].rev));
    await engine.notify(query, CHANGED);
    return result;
  }, options);
}

export async function currentRevision(query: Query): Promise<number> {
  return asInt((await query("SELECT rev FROM revision"))[0].rev);
}
