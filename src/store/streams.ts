/**
 * Resumable streams: a row for each stream, and its data in pieces of several events each. All conversation
 * text in them arrives encrypted.
 *
 * A stream is written by one process, the node in its row; all nodes read it. If that node dies before the
 * end, the stream is interrupted, and its expiry counts from its last piece.
 */
import { type Columns, type Engine, isPast, type Query, StoreUnavailable } from "./engine.ts";
import { asBool, asInt, asText, optional, type Row } from "./rows.ts";

/**
 * running: its node is writing it. ended: it is complete. refused: it never started, `head` holds the error.
 * lost: a part could not be stored.
 */
export type StreamState = "running" | "ended" | "refused" | "lost";

export interface StreamStart {
  /** Id of the generation. */
  id: string;
  keyId: string;
  format: string;
  /** False: a single JSON answer, stored as one piece. */
  streamed: boolean;
  /** Hash of the caller's idempotency key; null: none. */
  claim: string | null;
  /** Hash of the request; null: not needed. */
  request: string | null;
  node: string;
  /** How long it is kept after its end, in milliseconds. */
  keepMs: number;
  created: number;
}

export interface StoredStream extends StreamStart {
  state: StreamState;
  /** Status and headers of the answer, as JSON; null: not sent yet. */
  head: string | null;
  /** Number of events, set when it has ended. For a lost stream: those that were sent with an id. */
  events: number;
  /** False: its node has been removed. */
  alive: boolean;
  /** Time of the last write. */
  written: number;
  /** Null: still running. */
  expires: number | null;
}

export interface StreamPiece {
  stream: string;
  /** Number of its first event. */
  first: number;
  events: number;
  /** Offset of the piece in the stream, in characters. */
  begins: number;
  written: number;
  data: string;
}

/** One write to a stream. */
export interface StreamUpdate {
  start: StreamStart;
  head: string | null;
  piece: StreamPiece | null;
  /** Null: the stream continues. */
  end: { state: Exclude<StreamState, "running">; events: number; expires: number } | null;
}

export interface StreamStore {
  /** Claims the idempotency key for a stream, or returns the stream that has claimed it. */
  claimStream(start: StreamStart, now: number): Promise<StoredStream | null>;
  writeStreams(updates: readonly StreamUpdate[]): Promise<void>;
  /** Null: it does not exist or has expired. */
  stream(id: string, now: number): Promise<StoredStream | null>;
  /**
   * Pieces from the one that contains an event on, up to a number of characters unless the first piece alone
   * is longer. If no piece contains the event: the last piece.
   */
  streamPieces(id: string, from: { event: number; chars: number }): Promise<StreamPiece[]>;
  /** Records that it is being read on another node. */
  followStream(id: string, now: number): Promise<void>;
  /** When each stream was last read on another node; streams that never were are left out. */
  followedStreams(ids: readonly string[]): Promise<Map<string, number>>;
  /** Deletes some expired streams. Returns how many; 0: none are left. */
  retireStreams(now: number, most: number): Promise<number>;
}

const START: Columns = [
  ["id", "text"],
  ["key_id", "text"],
  ["format", "text"],
  ["streamed", "int"],
  ["claim", "text"],
  ["request", "text"],
  ["node", "text"],
  ["keep_ms", "int"],
  ["created", "int"],
  ["state", "text"],
  ["head", "text"],
  ["events", "int"],
  ["expires", "int"],
];
const PIECE: Columns = [
  ["stream", "text"],
  ["first", "int"],
  ["events", "int"],
  ["begins", "int"],
  ["written", "int"],
  ["data", "text"],
];

const ALIVE = "EXISTS (SELECT 1 FROM nodes WHERE nodes.id = streams.node)";
const WRITTEN =
  "COALESCE((SELECT p.written FROM stream_pieces p WHERE p.stream = streams.id ORDER BY p.first DESC LIMIT 1), created)";
/** Selects a stream with the time of the database's clock, if it has one. */
const stored = (engine: Engine) =>
  `SELECT id, key_id, format, streamed, claim, request, node, keep_ms, created, state, head, events, expires,
  CASE WHEN ${ALIVE} THEN 1 ELSE 0 END AS alive, ${WRITTEN} AS written, ${
    engine.now ?? "NULL"
  } AS now FROM streams`;

/** Most pieces per read. */
const MOST_PIECES = 256;

export function streamStore(engine: Engine): StreamStore {
  const { query } = engine;
  return {
    claimStream: (start, now) => engine.transaction((query) => claim(engine, query, start, now)),
    writeStreams: (updates) => write(engine, updates),
    async stream(id, now) {
      const [row] = await query(`${stored(engine)} WHERE id = $1`, [id]);
      return row === undefined || isOver(row, now) ? null : decode(row);
    },
    streamPieces: (id, from) => pieces(query, id, from),
    async followStream(id, now) {
      await query("UPDATE streams SET followed = $2 WHERE id = $1", [id, now]);
    },
    async followedStreams(ids) {
      const rows = await query(
        `SELECT id, followed FROM streams WHERE id IN (${engine.list("$1")}) AND followed IS NOT NULL`,
        [JSON.stringify(ids)],
      );
      return new Map(rows.map((row) => [asText(row.id), asInt(row.followed)]));
    },
    retireStreams: (now, most) => retire(engine, now, most),
  };
}

async function claim(
  engine: Engine,
  query: Query,
  start: StreamStart,
  now: number,
): Promise<StoredStream | null> {
  // Repeated, because the other stream may release the claim between the insert and the read.
  for (;;) {
    for (const row of await query(`${stored(engine)} WHERE claim = $1`, [start.claim])) {
      if (!isOver(row, now)) return decode(row);
      await remove(query, "id = $1", asText(row.id));
    }
    const made = await query(
      `INSERT INTO streams (${START.map(([name]) => name).join(", ")})
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'running', NULL, 0, NULL) ON CONFLICT (claim)
       WHERE claim IS NOT NULL DO NOTHING RETURNING id`,
      startValues(start),
    );
    if (made.length > 0) return null;
  }
}

function startValues(s: StreamStart) {
  return [s.id, s.keyId, s.format, s.streamed ? 1 : 0, s.claim, s.request, s.node, s.keepMs, s.created];
}

/**
 * A stream whose node was taken for dead may have been deleted, and its claim taken by another stream. It is
 * then stored without a claim, so that the other updates of the batch are written.
 */
async function write(engine: Engine, updates: readonly StreamUpdate[]): Promise<void> {
  try {
    await writeAll(engine, updates);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    const claims = JSON.stringify(updates.flatMap(({ start }) => start.claim ?? []));
    const rows = await engine.query(
      `SELECT id, claim FROM streams WHERE claim IN (${engine.list("$1")})`,
      [claims],
    );
    const holders = new Map(rows.map((row) => [asText(row.claim), asText(row.id)]));
    const isTaken = ({ claim, id }: StreamStart) => claim !== null && (holders.get(claim) ?? id) !== id;
    if (!updates.some(({ start }) => isTaken(start))) throw error;
    await writeAll(
      engine,
      updates.map((update) =>
        isTaken(update.start) ? { ...update, start: { ...update.start, claim: null } } : update
      ),
    );
  }
}

function writeAll(engine: Engine, updates: readonly StreamUpdate[]): Promise<void> {
  const rows = updates.map(({ start, head, end }) => [
    ...startValues(start),
    end?.state ?? "running",
    head,
    end?.events ?? 0,
    end?.expires ?? null,
  ]);
  const written = updates.flatMap(({ piece }) => piece === null ? [] : [piece]);
  const values = written.map((p) => [p.stream, p.first, p.events, p.begins, p.written, p.data]);
  return engine.transaction(async (query) => {
    await engine.insertRows(query, {
      table: "streams",
      columns: START,
      // A node may repeat an update whose commit it did not hear of. A stream reported as lost stays lost:
      // some clients have received its last events without ids. A complete answer has no event ids, so it
      // counts as ended. A refused or lost stream releases or keeps its claim as its last update says.
      then: `ON CONFLICT (id) DO UPDATE SET claim = excluded.claim, state = excluded.state,
        head = COALESCE(excluded.head, streams.head), events = excluded.events, expires = excluded.expires
        WHERE streams.state = 'running'
          OR (excluded.state = 'lost' AND (streams.state <> 'ended' OR streams.streamed = 1))`,
    }, rows);
    if (values.length === 0) return;
    await engine.insertRows(query, {
      table: "stream_pieces",
      columns: PIECE,
      // A piece written again after an unconfirmed commit may contain more events.
      then: `ON CONFLICT (stream, first) DO UPDATE
        SET events = excluded.events, written = excluded.written, data = excluded.data
        WHERE excluded.events > stream_pieces.events`,
    }, values);
  });
}

async function pieces(
  query: Query,
  id: string,
  { event, chars }: { event: number; chars: number },
): Promise<StreamPiece[]> {
  const from = "COALESCE((SELECT MAX(first) FROM stream_pieces WHERE stream = $1 AND first <= $2), 0)";
  const rows = await query(
    `SELECT stream, first, events, begins, written, data FROM stream_pieces WHERE stream = $1 AND first >= ${from}
       AND (first <= $2 OR begins < $3 + (SELECT MAX(begins) FROM stream_pieces WHERE stream = $1 AND first <= $2))
     ORDER BY first LIMIT ${MOST_PIECES}`,
    [id, event, chars],
  );
  return rows.map((row) => ({
    stream: asText(row.stream),
    first: asInt(row.first),
    events: asInt(row.events),
    begins: asInt(row.begins),
    written: asInt(row.written),
    data: asText(row.data),
  }));
}

/** Whether it has expired by the database's clock too, since the node's clock may be ahead. */
function isOver(row: Row, nodesNow: number): boolean {
  const now = Math.min(nodesNow, optional(row.now, asInt) ?? Infinity);
  const { expires, alive, written, keepMs } = decode(row);
  if (expires !== null) return expires <= now;
  return !alive && written + keepMs <= now;
}

async function remove(query: Query, which: string, ...params: (string | number)[]): Promise<void> {
  await query(`DELETE FROM stream_pieces WHERE stream IN (SELECT id FROM streams WHERE ${which})`, params);
  await query(`DELETE FROM streams WHERE ${which}`, params);
}

function retire(engine: Engine, now: number, most: number): Promise<number> {
  return engine.transaction(async (query) => {
    await query(
      `UPDATE streams SET expires = ${WRITTEN} + keep_ms
       WHERE expires IS NULL AND state = 'running' AND NOT ${ALIVE}`,
    );
    const due = await query(
      `SELECT id FROM streams WHERE ${
        isPast(engine, "expires", "$1")
      } ORDER BY expires LIMIT ${most} ${engine.forUpdateOfFree}`,
      [now],
    );
    if (due.length === 0) return 0;
    await remove(query, `id IN (${engine.list("$1")})`, JSON.stringify(due.map((row) => row.id)));
    return due.length;
  });
}

function decode(row: Row): StoredStream {
  return {
    id: asText(row.id),
    keyId: asText(row.key_id),
    format: asText(row.format),
    streamed: asBool(row.streamed),
    claim: optional(row.claim, asText),
    request: optional(row.request, asText),
    node: asText(row.node),
    keepMs: asInt(row.keep_ms),
    created: asInt(row.created),
    state: asText(row.state) as StreamState,
    head: optional(row.head, asText),
    events: asInt(row.events),
    alive: asBool(row.alive),
    written: asInt(row.written),
    expires: optional(row.expires, asInt),
  };
}
