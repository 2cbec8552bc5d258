/**
 * Pool of PostgreSQL connections through `npm:postgres`. The whole pool is replaced when one of its
 * connections breaks.
 *
 * Nothing waits without a bound: connecting, each statement and each lock have a timeout, so a slow or frozen
 * server leads to {@link StoreUnavailable}. The driver is loaded on first use.
 */
import type postgres from "postgres";
import { pause } from "../../timing/waits.ts";
import { within } from "../../timing/within.ts";
import { StoreUnavailable, StoreUnfit } from "../engine.ts";
import type { connect } from "./driver.ts";
import { isConnectionLost, isFatal, isFull, translate } from "./errors.ts";
import { answerMs, type PostgresOptions, statementMs } from "./options.ts";
import type { Row } from "../rows.ts";

/** How long work waits for an open connection when the server accepts no more, in milliseconds. */
const FULL_MS = 3000;
const FULL_PAUSE_MS = 20;
/**
 * How many times it is checked whether connections share server sessions (a pooler in transaction mode). With
 * other clients in between, one check may see the same session by chance.
 */
const LOOKS = 3;
const SHARED = "Cannot use the database: a pooler in front of it shares connections between transactions, " +
  "and the gateway needs each for itself. Set the pooler to session mode (PgBouncer: pool_mode = session), " +
  "or name the database's own address.";
/** Delay before LISTEN is tried again, in milliseconds. */
const LISTEN_AGAIN_MS = 500;

/** An exclusively reserved connection. Its statements fail when it is lost; the driver would leave them pending. */
export interface LongConnection {
  unsafe(sql: string, params?: QueryArguments[1], options?: QueryArguments[2]): Promise<Row[]>;
}

type QueryArguments = Parameters<postgres.Sql["unsafe"]>;

export interface Channel {
  name: string;
  onMessage(message: string): void;
}

export class PostgresPool {
  readonly #url: string;
  readonly #options: PostgresOptions;
  /** The client's timeout, for a server that does not answer at all, in milliseconds. */
  readonly #answerMs: number;
  readonly #statementMs: number;
  #connect: typeof connect | null = null;
  /** Null: the driver has not been loaded. */
  #connections: postgres.Sql | null = null;
  #opening: Promise<postgres.Sql> | null = null;
  #channel: Channel | null = null;
  /** The connection that listens, or is being opened for that. If it breaks, the others are not replaced. */
  #listener: { on: postgres.Sql; begun: boolean } | null = null;
  #listensAgain = 0;
  /** The pool of which at least one connection has been opened; null: no connection has ever succeeded. */
  #used: postgres.Sql | null = null;
  /** The pool of which all connections have been opened. */
  #opened: postgres.Sql | null = null;
  #closed = false;
  /** Aborted when a pool is abandoned. */
  readonly #lost = new WeakMap<postgres.Sql, AbortController>();

  constructor(url: string, options: PostgresOptions) {
    this.#url = url;
    this.#options = options;
    this.#answerMs = answerMs(url);
    this.#statementMs = statementMs(url);
  }

  /** Whether messages of other processes arrive. */
  get listens(): boolean {
    return this.#channel !== null && this.#listener?.begun === true;
  }

  /** Runs work within the timeout. Throws {@link StoreUnavailable} if the database cannot be reached. */
  async run<T>(work: (on: postgres.Sql) => Promise<T>): Promise<T> {
    const began = performance.now();
    for (;;) {
      const on = this.#connections ?? await this.#open();
      try {
        const result = await this.#bounded(() => work(on));
        this.#used = on;
        this.#listenAgain();
        return result;
      } catch (error) {
        // Nothing has been sent for this work, so it can wait: open connections will soon be free again.
        const others = isFull(error) && this.#used === on && performance.now() - began < FULL_MS;
        if (!others) {
          if (isConnectionLost(error)) this.#renew(on);
          throw this.#meant(error);
        }
      }
      await pause(FULL_PAUSE_MS);
    }
  }

  #meant(error: unknown): unknown {
    const meant = translate(error);
    if (this.#used === null || !isFatal(error) || meant instanceof StoreUnavailable) return meant;
    return new StoreUnavailable("The database lets nobody in now.", { cause: error });
  }

  /** Runs work on a reserved connection, with a statement timeout in milliseconds; 0: none. */
  async runLong<T>(statementMs: number, work: (on: LongConnection) => Promise<T>): Promise<T> {
    const { reserved, lost } = await this.run(async (on) => {
      await this.#openAll(on);
      return { reserved: await on.reserve(), lost: this.#lost.get(on)!.signal };
    });
    const own: LongConnection = {
      unsafe: (...said) => unlessLost(lost, () => reserved.unsafe<Row[]>(...said)),
    };
    try {
      // JIT is disabled because compiling takes longer than running any of these statements.
      await own.unsafe(`SET statement_timeout = ${statementMs}; SET jit = off`);
      return await work(own);
    } catch (error) {
      throw translate(error);
    } finally {
      await own.unsafe(`SET statement_timeout = ${this.#statementMs}`).catch(() => {});
      reserved.release();
    }
  }

  /** Listens, and again after the connection is lost, or when the server had no connection left. */
  async listen(channel: Channel): Promise<void> {
    this.#channel = channel;
    if (this.#connections === null) await this.#open();
    try {
      await this.#listen(channel);
    } catch (error) {
      if (!isFull(error)) throw translate(error);
    }
  }

  /**
   * Throws {@link StoreUnfit} if connections share sessions (a pooler in transaction mode), so that session
   * settings may not apply to the next statement.
   */
  requireSessions(): Promise<void> {
    return this.run(async (on) => {
      const { pid, reportedPid } = await backendOf(on);
      // A pooler invents the backend PID that it reports in BackendKeyData.
      if (pid === reportedPid) return;
      const other = this.#connect!(this.#url, this.#options, () => {}, () => {});
      try {
        for (let look = 0; look < LOOKS; look++) {
          const before = (await backendOf(other)).pid;
          await begin(on, async (tx) => {
            const held = (await backendOf(tx)).pid;
            if (held === before || (await backendOf(other)).pid !== before) throw new StoreUnfit(SHARED);
          });
        }
      } catch (error) {
        if (!isFull(error)) throw error;
      } finally {
        other.end({ timeout: 0 }).catch(() => {});
      }
    });
  }

  async close(): Promise<void> {
    this.#channel = null;
    this.#closed = true;
    const connections = this.#connections ?? await this.#opening;
    await Promise.all([connections?.end({ timeout: 1 }), this.#listener?.on.end({ timeout: 1 })]);
    if (connections) this.#lost.get(connections)?.abort();
  }

  #open(): Promise<postgres.Sql> {
    return this.#opening ??= (async () => {
      if (this.#closed) throw new StoreUnavailable("The store is closed.");
      this.#connect = (await import("./driver.ts")).connect;
      return this.#connections = this.#connected(this.#connect);
    })();
  }

  #connected(connecting: typeof connect): postgres.Sql {
    const connections: postgres.Sql = connecting(this.#url, this.#options, () => this.#renew(connections));
    this.#lost.set(connections, new AbortController());
    return connections;
  }

  /**
   * The driver does not recover reliably from a broken connection, and others usually follow, so the whole
   * pool is replaced.
   */
  #renew(broken: postgres.Sql): void {
    if (broken !== this.#connections || this.#closed) return;
    this.#connections = this.#connected(this.#connect!);
    broken.end({ timeout: 0 }).catch(() => {});
    this.#lost.get(broken)?.abort();
    // A silent connection looks the same whether it is broken or idle, so the listener is replaced too.
    this.#dropListener();
  }

  /**
   * The driver never finishes a reservation that has to open a new connection, so all are opened beforehand.
   * They stay open.
   */
  async #openAll(on: postgres.Sql): Promise<void> {
    if (this.#opened === on) return;
    const opened = await Promise.allSettled(
      Array.from({ length: on.options.max }, () => on.unsafe("SELECT 1")),
    );
    const refused = opened.flatMap((one) => one.status === "rejected" ? [one.reason] : []);
    // If the server accepts only some of them, one of those is reserved.
    const error = refused.find((one) => !isFull(one)) ??
      (refused.length === opened.length ? refused[0] : null);
    if (error !== null) throw error;
    if (refused.length === 0) this.#opened = on;
  }

  #listenAgain(): void {
    if (this.#channel === null || this.#listener !== null || performance.now() < this.#listensAgain) return;
    this.#listen(this.#channel).catch(() => {});
  }

  async #listen({ name, onMessage }: Channel): Promise<void> {
    const listener = { on: this.#listening(onMessage), begun: false };
    this.#listener = listener;
    try {
      await this.#bounded(() => listener.on.unsafe(`LISTEN "${name}"`));
      listener.begun = true;
    } catch (error) {
      this.#dropListener(listener.on);
      throw error;
    }
  }

  #listening(onMessage: Channel["onMessage"]): postgres.Sql {
    const on: postgres.Sql = this.#connect!(
      this.#url,
      this.#options,
      () => this.#dropListener(on),
      onMessage,
    );
    return on;
  }

  /** The driver queues queries while it connects, and would wait as long as the server is down. */
  #bounded<T>(work: () => Promise<T>): Promise<T> {
    return within(
      this.#answerMs,
      work(),
      () => new StoreUnavailable("The database did not answer in time."),
    );
  }

  /** Drops the connection that listens. */
  #dropListener(on = this.#listener?.on): void {
    if (on === undefined || on !== this.#listener?.on) return;
    this.#listener = null;
    this.#listensAgain = performance.now() + LISTEN_AGAIN_MS;
    on.end({ timeout: 0 }).catch(() => {});
  }
}

/** Rejects when the connection is lost; the driver would leave the statement pending. */
function unlessLost<T>(lost: AbortSignal, say: () => PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(new StoreUnavailable("The connection to the database was lost."));
    if (lost.aborted) return end();
    lost.addEventListener("abort", end, { once: true });
    const done = () => lost.removeEventListener("abort", end);
    say().then((rows) => (done(), resolve(rows)), (error) => (done(), reject(error)));
  });
}

/** Does not wait for the driver's ROLLBACK when the connection is lost, since that would never end. */
export function begin<T>(on: postgres.Sql, work: (tx: postgres.TransactionSql) => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const guarded = (tx: postgres.TransactionSql) =>
      work(tx).catch((error) => {
        if (isConnectionLost(error)) reject(error);
        throw error;
      });
    (on.begin(guarded) as Promise<T>).then(resolve, reject);
  });
}

/** The backend PID as the server reports it, and as BackendKeyData reported it when the connection was opened. */
async function backendOf(
  on: postgres.Sql | postgres.TransactionSql,
): Promise<{ pid: number; reportedPid: number }> {
  const rows = await on.unsafe("SELECT pg_backend_pid() AS pid");
  return { pid: rows[0].pid, reportedPid: rows.state.pid };
}
