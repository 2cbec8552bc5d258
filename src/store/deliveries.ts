/**
 * The outbox of events for webhooks: an event is stored in the transaction that creates it, until a receiver has accepted it.
 *
 * A node that delivers an event writes its node id into the row. Another node takes the row over only when that node is no longer
 * registered, so no timeout for deliveries is needed. The node itself says with each claim which events it is busy with: rows that
 * have its id besides are free, since the store was away when it claimed them or when it wanted to postpone them.
 */
import { sha256Hex } from "../exchange/hashes.ts";
import type { Engine, Query } from "./engine.ts";
import { asInt, asText, type Row } from "./rows.ts";
import type { BudgetWarning } from "./warnings.ts";

export interface WebhookRef {
  id: string;
  /** Event names such as `budget.80`. */
  events: readonly string[];
}

/** A warning as stored: amounts are decimal text. */
export interface WarningData extends Omit<BudgetWarning, "limit" | "spent"> {
  event: string;
  limit: string;
  spent: string;
}

/** An alert of one rule and one label group, as stored and sent. */
export interface AlertData {
  rule: string;
  /** Labels, for example `{provider: "openai"}`; empty: the rule covers everything. */
  group: Readonly<Record<string, string>>;
  metric: string;
  above: number;
  /** Null: unknown, since there were too few calls or none. */
  value: number | null;
}

/** An alert that started or ended. */
export interface AlertEvent extends AlertData {
  event: "alert.firing" | "alert.recovered";
  /** Milliseconds since the epoch. */
  starts: number;
  ends: number | null;
}

export type EventData = WarningData | AlertEvent;

export interface Delivery {
  id: string;
  created: number;
  /** Number of failed attempts. */
  attempts: number;
  data: EventData;
}

/** Writes an outbox row for each webhook that subscribes to the event, in the transaction that causes it. */
export function insertDeliveries(
  engine: Engine,
  query: Query,
  { warnings, webhooks, now }: {
    warnings: readonly BudgetWarning[];
    webhooks: readonly WebhookRef[];
    now: number;
  },
): Promise<void> {
  const events = warnings.flatMap((warning) => {
    const event = `budget.${warning.share}`;
    const { limit, spent, ...rest } = warning;
    const data: WarningData = { event, ...rest, limit: limit.toString(), spent: spent.toString() };
    return webhooks.filter(({ events }) => events.includes(event)).map(({ id }) => ({
      webhook: id,
      now,
      data,
    }));
  });
  return insertEvents(engine, query, events);
}

/** An event for one receiver. */
interface NewEvent {
  webhook: string;
  now: number;
  /** Absent: `now`. */
  created?: number;
  /** Events with the same one are delivered in the order of `created`. Absent: in any order. */
  series?: string;
  data: EventData;
}

/** Length of `evt_` and a series in an event's id. */
const SERIES_CHARS = 20;

/**
 * Writes outbox rows of an alert, one per receiver. A recovery that overtook the alert, whose delivery failed
 * and is retried later, would leave the receiver with an alert that never ends.
 */
export async function insertAlertEvents(
  engine: Engine,
  query: Query,
  { id, now, data, receivers }: { id: string; now: number; data: AlertEvent; receivers: readonly string[] },
): Promise<void> {
  if (receivers.length === 0) return;
  const series = sha256Hex(id).slice(0, SERIES_CHARS - "evt_".length);
  // The clock may have been set back since the event before.
  const [{ latest }] = await query(
    `SELECT MAX(created) AS latest FROM deliveries WHERE substr(id, 1, ${SERIES_CHARS}) = $1`,
    [`evt_${series}`],
  );
  const created = latest === null ? now : Math.max(now, asInt(latest) + 1);
  await insertEvents(engine, query, receivers.map((webhook) => ({ webhook, now, created, series, data })));
}

/** Writes outbox rows, one per event and receiver. */
export async function insertEvents(engine: Engine, query: Query, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ webhook, now, created = now, series = "", data }) => [
    `evt_${series}${crypto.randomUUID().replaceAll("-", "").slice(series.length)}`,
    webhook,
    Math.floor(created),
    Math.floor(now),
    0,
    null,
    JSON.stringify(data),
  ]);
  await engine.insertRows(query, {
    table: "deliveries",
    columns: [
      ["id", "text"],
      ["webhook", "text"],
      ["created", "int"],
      ["due", "int"],
      ["attempts", "int"],
      ["node", "text"],
      ["data", "text"],
    ],
    then: "",
  }, rows);
}

/** What a node asks for. */
export interface DeliveryClaim {
  webhook: string;
  node: string;
  now: number;
  most: number;
  /** Ids of the events that the node is busy with. */
  busy: readonly string[];
}

/** Claims deliveries that are due and that no living node has claimed. */
export function claimDeliveries(
  engine: Engine,
  { webhook, node, now, most, busy }: DeliveryClaim,
): Promise<Delivery[]> {
  return engine.transaction(async (query) => {
    const rows = await query(
      `SELECT id, created, attempts, data FROM deliveries
       WHERE webhook = $1 AND due <= $2 AND NOT (${engine.among("id", "$3")})
         AND (node IS NULL OR node = $4 OR node NOT IN (SELECT id FROM nodes))
         AND NOT EXISTS (
           SELECT 1 FROM deliveries AS earlier WHERE earlier.webhook = $1 AND earlier.created < deliveries.created
             AND substr(earlier.id, 1, ${SERIES_CHARS}) = substr(deliveries.id, 1, ${SERIES_CHARS}))
       ORDER BY due LIMIT ${most} ${engine.forUpdateOfFree}`,
      [webhook, now, JSON.stringify(busy), node],
    );
    if (rows.length === 0) return [];
    await query(`UPDATE deliveries SET node = $2 WHERE id IN (${engine.list("$1")})`, [
      JSON.stringify(rows.map((row) => row.id)),
      node,
    ]);
    return rows.map(decode);
  });
}

function decode(row: Row): Delivery {
  return {
    id: asText(row.id),
    created: asInt(row.created),
    attempts: asInt(row.attempts),
    data: JSON.parse(asText(row.data)),
  };
}

/** Deletes a delivery that succeeded or was given up. */
export async function removeDelivery(query: Query, id: string): Promise<void> {
  await query("DELETE FROM deliveries WHERE id = $1", [id]);
}

/** Releases a delivery; any node can retry it from `due` on. */
export async function postponeDelivery(query: Query, id: string, due: number): Promise<void> {
  await query("UPDATE deliveries SET node = NULL, attempts = attempts + 1, due = $2 WHERE id = $1", [
    id,
    due,
  ]);
}

/** Deletes some deliveries created before a time, whose webhook is no longer configured. */
export async function retireDeliveries(engine: Engine, before: number, most: number): Promise<number> {
  const rows = await engine.query(
    `DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE created < $1 LIMIT ${most}) RETURNING id`,
    [before],
  );
  return rows.length;
}
