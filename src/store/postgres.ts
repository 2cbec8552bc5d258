/**
 * The engine for many nodes: PostgreSQL through `npm:postgres`.
 *
 * Nothing waits for ever: connecting, each statement and each lock have their bound, so that a slow or frozen server
 * turns into {@link StoreUnavailable} for whoever asked.
 */
import postgres from "postgres";
import { type Columns, type Engine, type Query, type Row, StoreUnavailable, type Value } from "./engine.ts";
import { openSocket } from "./postgres_socket.ts";

const CHANNEL = "sluice";
/** "sluice" in ASCII: the lock that migrating processes share. */
const MIGRATION_LOCK = 0x736c75696365;
const ATTEMPTS = 5;
/** Serialization failure and deadlock: the same transaction again is expected to pass. */
const CONFLICTS = new Set(["40001", "40P01"]);
/**
 * Classes of SQLSTATE that say "not now": connection, resources (full disk, too many connections), an operator's hand
 * (shutdown, starting up, cancelled statement), system error. 55P03 is a lock that did not come in time.
 */
const TRANSIENT = /^(08|53|57|58)|^55P03$/;
/** 25006: a standby, before or after a failover. */
const READ_ONLY = "25006";
const CONNECT_TIMEOUT_MS = 5000;
const STATEMENT_TIMEOUT_MS = 5000;
/** The client's own bound, for a server that does not answer at all. */
const CALL_TIMEOUT_MS = 8000;

export interface PostgresOptions {
  /** Where tables live; null: the connection's own search path. */
  schema?: string | null;
  connections?: number;
}

export function openPostgres(url: string, options: PostgresOptions = {}): Engine {
  const schema = options.schema ?? null;
  const channel = schema === null ? CHANNEL : `${CHANNEL}_${schema}`;
  let closed = false;
  let pool = connect(url, options, renew);
  /** The pool that has been told to listen; after a renewal it is another one. */
  let listening: postgres.Sql | null = null;
  let onMessage: ((message: string) => void) | null = null;

  const run = (on: postgres.Sql | postgres.TransactionSql): Query => async (text, params = []) =>
    await on.unsafe(text, params.map(bound), { prepare: true }) as unknown as Row[];

  /** The driver cannot be trusted with a connection that broke, and where one did others follow: the whole pool goes. */
  function renew(broken: postgres.Sql): void {
    if (broken !== pool || closed) return;
    pool = connect(url, options, renew);
    broken.end({ timeout: 0 }).catch(() => {});
  }

  async function attempt<T>(work: (on: postgres.Sql) => Promise<T>): Promise<T> {
    const on = pool;
    try {
      const result = await bounded(() => work(on));
      if (onMessage !== null && listening !== pool) listenOn(pool, onMessage).catch(() => {});
      return result;
    } catch (error) {
      if (isBroken(error)) renew(on);
      throw translate(error);
    }
  }

  async function listenOn(on: postgres.Sql, callback: (message: string) => void): Promise<void> {
    listening = on;
    try {
      await bounded(() => on.listen(channel, callback));
    } catch (error) {
      if (listening === on) listening = null;
      throw error;
    }
  }

  return {
    kind: "postgres",
    query: (text, params) => attempt((on) => run(on)(text, params)),
    transaction: async <T>(work: (query: Query) => Promise<T>): Promise<T> => {
      for (let count = 1;; count++) {
        try {
          return await attempt((on) => begin(on, (tx) => work(run(tx))));
        } catch (error) {
          if (count >= ATTEMPTS || !CONFLICTS.has(sqlState(error))) throw error;
        }
      }
    },
    rows: jsonRows,
    insertNew: async (query, table, columns, rows) => {
      const names = columns.map(([name]) => name);
      const inserted = await query(
        `INSERT INTO ${table} (${names.join(", ")}) SELECT ${names.join(", ")} FROM ${jsonRows("$1", columns)}
         ON CONFLICT (${names[0]}) DO NOTHING RETURNING ${names[0]} AS id`,
        [`[${rows.join(",")}]`],
      );
      const ids = new Set(inserted.map((row) => row.id));
      // A row that is twice among those given was inserted once.
      return rows.map((row): Value[] => JSON.parse(row)).filter(([id]) => ids.delete(id));
    },
    list: (param) => `SELECT jsonb_array_elements_text(${param}::text::jsonb)`,
    forUpdate: "FOR UPDATE",
    lockTable: async (query, table) => {
      // This mode excludes itself, so two that both go on to insert cannot wait for each other.
      await query(`LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`);
    },
    lockMigrations: async (query) => {
      await query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
      if (schema !== null) await query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    },
    moneyType: "NUMERIC(38,0)",
    notify: async (query, message) => {
      await query("SELECT pg_notify($1, $2)", [channel, message]);
    },
    listen: async (callback) => {
      onMessage = callback;
      try {
        await listenOn(pool, callback);
      } catch (error) {
        throw translate(error);
      }
    },
    close: async () => {
      onMessage = null;
      closed = true;
      await pool.end({ timeout: 1 });
    },
  };
}

function connect(
  url: string,
  options: PostgresOptions,
  onBroken: (pool: postgres.Sql) => void,
): postgres.Sql {
  const sslMode = new URL(url).searchParams.get("sslmode");
  const settings: postgres.Options<Record<string, postgres.PostgresType>> & { socket: unknown } = {
    max: options.connections ?? 4,
    ssl: false,
    socket: (address: Parameters<typeof openSocket>[0]) =>
      openSocket(address, { sslMode, timeoutMs: CONNECT_TIMEOUT_MS, onClosed: () => onBroken(pool) }),
    connect_timeout: CONNECT_TIMEOUT_MS / 1000,
    // The driver never hears of a socket's end, so it must not end one by itself.
    idle_timeout: 0,
    max_lifetime: null,
    // A failed attempt is the caller's to repeat; the driver's own pause would only hide how long it has been.
    backoff: () => 0.2,
    onnotice: () => {},
    fetch_types: false,
    types: {
      // int8 and numeric: sums of int8 are numeric, and every numeric here is whole.
      whole: {
        to: 20,
        from: [20, 21, 23, 1700],
        serialize: (value: unknown) => String(value),
        parse: (text: string) => BigInt(text),
      },
    },
    connection: {
      application_name: "sluice",
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: 2 * STATEMENT_TIMEOUT_MS,
      ...(options.schema == null ? {} : { search_path: options.schema }),
    },
  };
  const pool: postgres.Sql = postgres(url, settings);
  return pool;
}

/** Where the connection is gone the driver would wait for ever to roll back on it. */
function begin<T>(on: postgres.Sql, work: (tx: postgres.TransactionSql) => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const guarded = (tx: postgres.TransactionSql) =>
      work(tx).catch((error) => {
        if (isBroken(error)) reject(error);
        throw error;
      });
    (on.begin(guarded) as Promise<T>).then(resolve, reject);
  });
}

function jsonRows(param: string, columns: Columns): string {
  const fields = columns.map(([name, type], i) => `(value ->> ${i})::${COLUMN_TYPES[type]} AS ${name}`);
  return `(SELECT ${fields.join(", ")} FROM jsonb_array_elements(${param}::text::jsonb)) AS r`;
}

const COLUMN_TYPES = { text: "text", int: "bigint", money: "numeric" } as const;

function bound(value: Value): string | number | null {
  return typeof value === "bigint" ? value.toString() : value;
}

/** The driver queues while it connects and would wait as long as the server is away. */
async function bounded<T>(work: () => Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new StoreUnavailable("The database did not answer in time.")),
      CALL_TIMEOUT_MS,
    );
  });
  const working = work();
  working.catch(() => {});
  try {
    return await Promise.race([working, late]);
  } finally {
    clearTimeout(timer);
  }
}

function sqlState(error: unknown): string {
  const code = (error as { code?: unknown })?.code;
  return typeof code === "string" ? code : "";
}

/** The driver's own codes for a lost or refused connection are words, a server's are five characters. */
const LOST = /^(CONNECT|CONNECTION_|E[A-Z]{4,}|ENOTFOUND)/;

/** The connection is gone, going, or was given up on; its pool may hold more like it. */
function isBroken(error: unknown): boolean {
  const code = sqlState(error);
  return error instanceof StoreUnavailable || LOST.test(code) || /^(08|57P)/.test(code);
}

function translate(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error;
  const code = sqlState(error);
  return LOST.test(code) || code === READ_ONLY || TRANSIENT.test(code)
    ? new StoreUnavailable("The database cannot be reached now.", { cause: error })
    : error;
}
