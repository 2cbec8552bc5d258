/**
 * Alert state shared by all nodes: the last sample of each node, the node that evaluates the rules, and the
 * open alerts.
 *
 * An alert is opened or closed by inserting or deleting one row, which only one transaction can do. The
 * notification is written to the outbox in the same transaction, so each change is sent once, whichever node
 * evaluates the rules.
 */
import { type AlertData, type AlertEvent, insertAlertEvents } from "./deliveries.ts";
import type { Engine, Query } from "./engine.ts";
import { asInt, asText } from "./rows.ts";

export interface OpenAlert {
  id: string;
  since: number;
  data: AlertData;
}

/** An alert that opens or closes, and the webhooks to notify. */
export interface AlertChange {
  id: string;
  now: number;
  data: AlertData;
  /** Ids of the webhooks whose outbox rows are written. */
  receivers: readonly string[];
}

const JUDGE = "alerts judge";

/** Stores this node's sample and deletes samples of nodes that are no longer registered. */
export async function putSample(query: Query, node: string, data: string): Promise<void> {
  await query(
    "INSERT INTO alert_samples (node, data) VALUES ($1, $2) ON CONFLICT (node) DO UPDATE SET data = excluded.data",
    [node, data],
  );
}

/** Tries to become the node that evaluates the rules. True: this node already is, or no living node is. */
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

/** Gives up the evaluation, so that another node can take it at once, and deletes this node's sample. */
export async function leaveJudgement(query: Query, node: string): Promise<void> {
  await query(`DELETE FROM meta WHERE name = '${JUDGE}' AND value = $1`, [node]);
  await query("DELETE FROM alert_samples WHERE node = $1", [node]);
}

/** The last sample of each living node, and the open alerts. */
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

/** False: the alert was already open. */
export function openAlert(engine: Engine, { id, now, data, receivers }: AlertChange): Promise<boolean> {
  return engine.transaction(async (query) => {
    const rows = await query(
      "INSERT INTO open_alerts (id, since, data) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING RETURNING id",
      [id, Math.floor(now), JSON.stringify(data)],
    );
    if (rows.length === 0) return false;
    const event: AlertEvent = { event: "alert.firing", ...data, starts: Math.floor(now), ends: null };
    await insertAlertEvents(engine, query, { id, now, data: event, receivers });
    return true;
  });
}

/** False: the alert was not open. */
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
    await insertAlertEvents(engine, query, { id, now, data: event, receivers });
    return true;
  });
}
