/**
 * The connections to PostgreSQL through `npm:postgres`, replaced as a whole when one of them breaks.
 *
 * Nothing waits for ever: connecting, each statement and each lock have their bound, so that a slow or frozen server
 * turns into {@link StoreUnavailable} for whoever asked.
 */
import postgres from "postgres";
import { StoreUnavailable } from "./engine.ts";
import { isConnectionLost, translate } from "./postgres_errors.ts";
import { openSocket } from "./postgres_socket.ts";

const CONNECT_TIMEOUT_MS = 5000;
const STATEMENT_TIMEOUT_MS = 5000;
/** The client's own bound, for a server that does not answer at all. */
const CALL_TIMEOUT_MS = 8000;

const CONNECTIONS = 4;

export interface PostgresOptions {
  /** Where tables live; null: the connection's own search path. */
  schema?: string | null;
  /** At most, the one that listens among them. */
  connections?: number;
  /** True: minutes of rates are told by the clocks of nodes, which a test can move, and not by the database's. */
  timeOfNodes?: boolean;
}

export interface Channel {
  name: string;
  onMessage(message: string): void;
}

export class PostgresPool {
  readonly #url: string;
  readonly #options: PostgresOptions;
  #connections: postgres.Sql;
  #channel: Channel | null = null;
  /** The connections that have been told to listen; after a renewal there are others. */
  #listening: postgres.Sql | null = null;
  /** The connections on which listening has begun. */
  #heard: postgres.Sql | null = null;
  /** Those of which each connection has been opened. */
  #opened: postgres.Sql | null = null;
  #closed = false;

  constructor(url: string, options: PostgresOptions) {
    this.#url = url;
    this.#options = options;
    this.#connections = this.#connect();
  }

  /** Whether messages of other processes arrive: those connections that were told to listen are in use. */
  get listens(): boolean {
    return this.#channel !== null && this.#heard === this.#connections;
  }

  /** Runs work in its time. Throws {@link StoreUnavailable} where the database cannot be reached. */
  async run<T>(work: (on: postgres.Sql) => Promise<T>): Promise<T> {
    const on = this.#connections;
    try {
      const result = await bounded(() => work(on));
      if (this.#channel !== null && this.#listening !== this.#connections) {
        this.#listen(this.#connections, this.#channel).catch(() => {});
      }
      return result;
    } catch (error) {
      if (isConnectionLost(error)) this.#renew(on);
      throw translate(error);
    }
  }

  /** Runs work that may take longer on a connection of its own: so many milliseconds a statement, 0 for any time. */
  async runLong<T>(statementMs: number, work: (on: postgres.Sql) => Promise<T>): Promise<T> {
    const reserved = await this.run(async (on) => {
      await this.#openAll(on);
      return await on.reserve();
    });
    try {
      // Compiling a statement takes longer than to run one of these.
      await reserved.unsafe(`SET statement_timeout = ${statementMs}; SET jit = off`);
      return await work(reserved);
    } catch (error) {
      throw translate(error);
    } finally {
      await reserved.unsafe(`SET statement_timeout = ${STATEMENT_TIMEOUT_MS}`).catch(() => {});
      reserved.release();
    }
  }

  /** Listens, on the connections of later too. */
  async listen(channel: Channel): Promise<void> {
    this.#channel = channel;
    try {
      await this.#listen(this.#connections, channel);
    } catch (error) {
      throw translate(error);
    }
  }

  async close(): Promise<void> {
    this.#channel = null;
    this.#closed = true;
    await this.#connections.end({ timeout: 1 });
  }

  #connect(): postgres.Sql {
    const connections: postgres.Sql = connect(this.#url, this.#options, () => this.#renew(connections));
    return connections;
  }

  /** The driver cannot be trusted with a connection that broke, and where one did others follow: all of them go. */
  #renew(broken: postgres.Sql): void {
    if (broken !== this.#connections || this.#closed) return;
    this.#connections = this.#connect();
    broken.end({ timeout: 0 }).catch(() => {});
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

function connect(url: string, options: PostgresOptions, onBroken: () => void): postgres.Sql {
  const sslMode = new URL(url).searchParams.get("sslmode");
  const settings: postgres.Options<Record<string, postgres.PostgresType>> & { socket: unknown } = {
    // The driver opens one more to listen.
    max: Math.max(1, (options.connections ?? CONNECTIONS) - 1),
    ssl: false,
    socket: (address: Parameters<typeof openSocket>[0]) =>
      openSocket(address, { sslMode, timeoutMs: CONNECT_TIMEOUT_MS, onClosed: onBroken }),
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
  return postgres(url, settings);
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
