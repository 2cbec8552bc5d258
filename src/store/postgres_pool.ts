/**
 * The connections to PostgreSQL through `npm:postgres`, replaced as a whole when one of them breaks.
 *
 * Nothing waits for ever: connecting, each statement and each lock have their bound, so that a slow or frozen server
 * turns into {@link StoreUnavailable} for whoever asked. The driver is loaded when it is first used.
 */
import type postgres from "postgres";
import { within } from "../timing/within.ts";
import { StoreUnavailable } from "./engine.ts";
import type { connect } from "./postgres_driver.ts";
import { isConnectionLost, translate } from "./postgres_errors.ts";
import { type PostgresOptions, STATEMENT_TIMEOUT_MS } from "./postgres_options.ts";
import type { Row } from "./rows.ts";

/** The client's own bound, for a server that does not answer at all. */
const CALL_TIMEOUT_MS = 8000;

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
  #connect: typeof connect | null = null;
  /** Null: the driver has not been loaded. */
  #connections: postgres.Sql | null = null;
  #opening: Promise<postgres.Sql> | null = null;
  #channel: Channel | null = null;
  /** The connections that have been told to listen; after a renewal there are others. */
  #listening: postgres.Sql | null = null;
  /** The connections on which listening has begun. */
  #heard: postgres.Sql | null = null;
  /** Those of which each connection has been opened. */
  #opened: postgres.Sql | null = null;
  #closed = false;
  /** Aborted where connections have been given up. */
  readonly #lost = new WeakMap<postgres.Sql, AbortController>();

  constructor(url: string, options: PostgresOptions) {
    this.#url = url;
    this.#options = options;
  }

  /** Whether messages of other processes arrive: those connections that were told to listen are in use. */
  get listens(): boolean {
    return this.#channel !== null && this.#heard !== null && this.#heard === this.#connections;
  }

  /** Runs work in its time. Throws {@link StoreUnavailable} where the database cannot be reached. */
  async run<T>(work: (on: postgres.Sql) => Promise<T>): Promise<T> {
    const on = this.#connections ?? await this.#open();
    try {
      const result = await bounded(() => work(on));
      const current = this.#connections;
      if (this.#channel !== null && current !== null && this.#listening !== current) {
        this.#listen(current, this.#channel).catch(() => {});
      }
      return result;
    } catch (error) {
      if (isConnectionLost(error)) this.#renew(on);
      throw translate(error);
    }
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
      await own.unsafe(`SET statement_timeout = ${STATEMENT_TIMEOUT_MS}`).catch(() => {});
      reserved.release();
    }
  }

  /** Listens, on the connections of later too. */
  async listen(channel: Channel): Promise<void> {
    this.#channel = channel;
    const on = this.#connections ?? await this.#open();
    try {
      await this.#listen(on, channel);
    } catch (error) {
      throw translate(error);
    }
  }

  async close(): Promise<void> {
    this.#channel = null;
    this.#closed = true;
    const connections = this.#connections ?? await this.#opening;
    await connections?.end({ timeout: 1 });
    if (connections) this.#lost.get(connections)?.abort();
  }

  #open(): Promise<postgres.Sql> {
    return this.#opening ??= (async () => {
      if (this.#closed) throw new StoreUnavailable("The store is closed.");
      this.#connect = (await import("./postgres_driver.ts")).connect;
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
  }

  /** The driver waits for ever for a connection that it opens only to reserve it. They stay open from here on. */
  async #openAll(on: postgres.Sql): Promise<void> {
    if (this.#opened === on) return;
    await Promise.all(Array.from({ length: on.options.max }, () => on.unsafe("SELECT 1")));
    this.#opened = on;
  }

  async #listen(on: postgres.Sql, { name, onMessage }: Channel): Promise<void> {
    this.#listening = on;
    try {
      await bounded(() => on.listen(name, onMessage));
      this.#heard = on;
    } catch (error) {
      if (this.#listening === on) this.#listening = null;
      throw error;
    }
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

/** The driver queues while it connects and would wait as long as the server is away. */
function bounded<T>(work: () => Promise<T>): Promise<T> {
  return within(
    CALL_TIMEOUT_MS,
    work(),
    () => new StoreUnavailable("The database did not answer in time."),
  );
}
