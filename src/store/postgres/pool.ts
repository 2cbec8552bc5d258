/**
 * The connections to PostgreSQL through `npm:postgres`, replaced as a whole when one of them breaks.
 *
 * Nothing waits for ever: connecting, each statement and each lock have their bound, so that a slow or frozen server
 * turns into {@link StoreUnavailable} for whoever asked. The driver is loaded when it is first used.
 */
import type postgres from "postgres";
import { pause } from "../../timing/waits.ts";
import { within } from "../../timing/within.ts";
import { StoreUnavailable, StoreUnfit } from "../engine.ts";
import type { connect } from "./driver.ts";
import { isConnectionLost, isFatal, isFull, translate } from "./errors.ts";
import { answerMs, type PostgresOptions, statementMs } from "./options.ts";
import type { Row } from "../rows.ts";

/** So long work waits for one of the connections that are open, where the server has no more. */
const FULL_MS = 3000;
const FULL_PAUSE_MS = 20;
/** So often it is looked whether connections share sessions: with others in between, one of them may seem to have kept its own. */
const LOOKS = 3;
const SHARED = "Cannot use the database: a pooler in front of it shares connections between transactions, " +
  "and the gateway needs each for itself. Set the pooler to session mode (PgBouncer: pool_mode = session), " +
  "or name the database's own address.";
/** Listening that failed is tried again after so long. */
const LISTEN_AGAIN_MS = 500;

/** A connection that is somebody's own. What is said on it fails once it is lost, which the driver never says. */
export interface LongConnection {
  unsafe(sql: string, params?: Said[1], options?: Said[2]): Promise<Row[]>;
}

type Said = Parameters<postgres.Sql["unsafe"]>;

export interface Channel {
  name: string;
  onMessage(message: string): void;
}

export class PostgresPool {
  readonly #url: string;
  readonly #options: PostgresOptions;
  /** The client's own bound, for a server that does not answer at all. */
  readonly #answerMs: number;
  readonly #statementMs: number;
  #connect: typeof connect | null = null;
  /** Null: the driver has not been loaded. */
  #connections: postgres.Sql | null = null;
  #opening: Promise<postgres.Sql> | null = null;
  #channel: Channel | null = null;
  /** The connection that listens, or is about to. What befalls it alone does not touch the others. */
  #listener: { on: postgres.Sql; begun: boolean } | null = null;
  #listensAgain = 0;
  /** Connections of which at least one has been opened; null: the server has never let this process in. */
  #used: postgres.Sql | null = null;
  /** Those of which each has been opened. */
  #opened: postgres.Sql | null = null;
  #closed = false;
  /** Aborted where connections have been given up. */
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

  /** Runs work in its time. Throws {@link StoreUnavailable} where the database cannot be reached. */
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
        // Nothing of the work has been said. What is open has other work, and is free again soon.
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

  /** Runs work that may take longer on a connection of its own: so many milliseconds a statement, 0 for any time. */
  async runLong<T>(statementMs: number, work: (on: LongConnection) => Promise<T>): Promise<T> {
    const { reserved, lost } = await this.run(async (on) => {
      await this.#openAll(on);
      return { reserved: await on.reserve(), lost: this.#lost.get(on)!.signal };
    });
    const own: LongConnection = {
      unsafe: (...said) => unlessLost(lost, () => reserved.unsafe<Row[]>(...said)),
    };
    try {
      // Compiling a statement takes longer than to run one of these.
      await own.unsafe(`SET statement_timeout = ${statementMs}; SET jit = off`);
      return await work(own);
    } catch (error) {
      throw translate(error);
    } finally {
      await own.unsafe(`SET statement_timeout = ${this.#statementMs}`).catch(() => {});
      reserved.release();
    }
  }

  /** Listens, and again where its connection is lost, or where the server has none to give now. */
  async listen(channel: Channel): Promise<void> {
    this.#channel = channel;
    if (this.#connections === null) await this.#open();
    try {
      await this.#listen(channel);
    } catch (error) {
      if (!isFull(error)) throw translate(error);
    }
  }

  /** Throws {@link StoreUnfit} where connections share sessions, and what is said on one of them may not reach the next statement. */
  requireSessions(): Promise<void> {
    return this.run(async (on) => {
      const { pid, told } = await backendOf(on);
      // A pooler makes up the number that it tells.
      if (pid === told) return;
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

  /** The driver cannot be trusted with a connection that broke, and where one did others follow: all of them go. */
  #renew(broken: postgres.Sql): void {
    if (broken !== this.#connections || this.#closed) return;
    this.#connections = this.#connected(this.#connect!);
    broken.end({ timeout: 0 }).catch(() => {});
    this.#lost.get(broken)?.abort();
    // One over which nothing comes looks the same, whether it is broken or not.
    this.#deafen();
  }

  /** The driver waits for ever for a connection that it opens only to reserve it. They stay open from here on. */
  async #openAll(on: postgres.Sql): Promise<void> {
    if (this.#opened === on) return;
    const opened = await Promise.allSettled(
      Array.from({ length: on.options.max }, () => on.unsafe("SELECT 1")),
    );
    const refused = opened.flatMap((one) => one.status === "rejected" ? [one.reason] : []);
    // Where the server has no more than some of them, one of those is reserved.
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
      this.#deafen(listener.on);
      throw error;
    }
  }

  #listening(onMessage: Channel["onMessage"]): postgres.Sql {
    const on: postgres.Sql = this.#connect!(this.#url, this.#options, () => this.#deafen(on), onMessage);
    return on;
  }

  /** The driver queues while it connects and would wait as long as the server is away. */
  #bounded<T>(work: () => Promise<T>): Promise<T> {
    return within(
      this.#answerMs,
      work(),
      () => new StoreUnavailable("The database did not answer in time."),
    );
  }

  /** Nothing is heard any more of the connection that listens. */
  #deafen(on = this.#listener?.on): void {
    if (on === undefined || on !== this.#listener?.on) return;
    this.#listener = null;
    this.#listensAgain = performance.now() + LISTEN_AGAIN_MS;
    on.end({ timeout: 0 }).catch(() => {});
  }
}

/** What is said on a connection that has been lost would never be answered. */
function unlessLost<T>(lost: AbortSignal, say: () => PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(new StoreUnavailable("The connection to the database was lost."));
    if (lost.aborted) return end();
    lost.addEventListener("abort", end, { once: true });
    const done = () => lost.removeEventListener("abort", end);
    say().then((rows) => (done(), resolve(rows)), (error) => (done(), reject(error)));
  });
}

/** Where the connection is gone the driver would wait for ever to roll back on it. */
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

/** The backend that answers on a connection: its own number, and the one that the connection was told at its start. */
async function backendOf(on: postgres.Sql | postgres.TransactionSql): Promise<{ pid: number; told: number }> {
  const rows = await on.unsafe("SELECT pg_backend_pid() AS pid");
  return { pid: rows[0].pid, told: rows.state.pid };
}
