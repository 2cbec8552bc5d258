/** Circuit breakers closed by administrators: every node closes its own breaker of the same route. */
import type { Engine, Query } from "./engine.ts";
import { change } from "./revision.ts";
import { asInt, asText } from "./rows.ts";

export interface ClosedBreaker {
  provider: string;
  /** Model name as in `GET /admin/providers`. */
  model: string;
  /** Milliseconds since the epoch. */
  closedAt: number;
}

export function closeBreakers(engine: Engine, closed: readonly ClosedBreaker[]): Promise<void> {
  return change(engine, async (query, rev) => {
    for (const { provider, model, closedAt } of closed) {
      await query(
        `INSERT INTO closed_breakers (provider, model, closed_at, rev) VALUES ($1, $2, $3, $4)
         ON CONFLICT (provider, model) DO UPDATE SET closed_at = excluded.closed_at, rev = excluded.rev`,
        [provider, model, closedAt, rev],
      );
    }
  });
}

/** Breakers closed by administrators after a revision. */
export async function closedSince(query: Query, rev: number): Promise<ClosedBreaker[]> {
  const rows = await query("SELECT provider, model, closed_at FROM closed_breakers WHERE rev > $1", [rev]);
  return rows.map((row) => ({
    provider: asText(row.provider),
    model: asText(row.model),
    closedAt: asInt(row.closed_at),
  }));
}
