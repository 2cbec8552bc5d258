/**
 * Alerts of a fleet: what each node measured last, the node that judges, and the alerts that are open.
 *
 * An alert is opened and closed by a row that only one transaction inserts or deletes, and what is told of it goes into the
 * outbox with that row: so it is told once, whoever judges.
 */
import { type AlertData, type AlertEvent, insertEvents } from "./deliveries.ts";
import type { Engine, Query } from "./engine.ts";
import { asInt, asText } from "./rows.ts";

export interface OpenAlert {
  id: string;
  since: number;
  data: AlertData;
}

/** A change of an alert, and who is told of it. */
export interface AlertChange {
  id: string;
  now: number;
  data: AlertData;
  /** Receivers in the outbox. */
  receivers: readonly string[];
}

const JUDGE = "alerts judge";

/** Keeps what a node measured; what nodes that are gone measured goes. */
export async function putSample(query: Query, node: string, data: string): Promise<void> {
  await query(
    "INSERT INTO alert_samples (node, data) VALUES ($1, $2) ON CONFLICT (node) DO UPDATE SET data = excluded.data",
    [node, data],
  );
}

/** Whether this node judges: nobody does who is alive, or it does already. */
export async function takeJudgement(query: Query, node: string): Promise<boolean> {
  const rows = await query(
    `INSERT INTO meta (name, value) VALUES ('${JUDGE}', $1)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value
     WHERE meta.value = excluded.value OR meta.value NOT IN (SELECT id FROM nodes)
     RETURNING value`,
    [node],
  );
  return rows.length > 0;
}

/** Another node may judge at once, and what this one measured is forgotten. */
export async function leaveJudgement(query: Query, node: string): Promise<void> {
  await query(`DELETE FROM meta WHERE name = '${JUDGE}' AND value = $1`, [node]);
  await query("DELETE FROM alert_samples WHERE node = $1", [node]);
}

/** What living nodes measured last, and the alerts that are open. */
export async function readAlerts(query: Query): Promise<{ samples: string[]; open: OpenAlert[] }> {
  await query("DELETE FROM alert_samples WHERE node NOT IN (SELECT id FROM nodes)");
  const samples = await query("SELECT data FROM alert_samples");
  const open = await query("SELECT id, since, data FROM open_alerts");
  return {
    samples: samples.map((row) => asText(row.data)),
    open: open.map((row) => ({
      id: asText(row.id),
      since: asInt(row.since),
      data: JSON.parse(asText(row.data)),
    })),
  };
}

/** False: it was open already. */
export function openAlert(engine: Engine, { id, now, data, receivers }: AlertChange): Promise<boolean> {
  return engine.transaction(async (query) => {
    const rows = await query(
      "INSERT INTO open_alerts (id, since, data) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING RETURNING id",
      [id, Math.floor(now), JSON.stringify(data)],
    );
    if (rows.length === 0) return false;
    const event: AlertEvent = { event: "alert.firing", ...data, starts: Math.floor(now), ends: null };
    await insertEvents(engine, query, receivers.map((webhook) => ({ webhook, now, data: event })));
    return true;
  });
}

/** False: it was not open any more. */
export function closeAlert(engine: Engine, { id, now, data, receivers }: AlertChange): Promise<boolean> {
  return engine.transaction(async (query) => {
    const rows = await query("DELETE FROM open_alerts WHERE id = $1 RETURNING since", [id]);
    if (rows.length === 0) return false;
    const event: AlertEvent = {
      event: "alert.recovered",
      ...data,
      starts: asInt(rows[0].since),
      ends: Math.floor(now),
    };
    await insertEvents(engine, query, receivers.map((webhook) => ({ webhook, now, data: event })));
    return true;
  });
}
