/** Options and interface of servers. */
import type { Level } from "../exchange/log_level.ts";
import type { Clock } from "../timing/clock.ts";
import type { Host, Phase } from "./host.ts";

export interface ServeOptions {
  hostname: string;
  port: number;
  /** Several processes share the port (SO_REUSEPORT). */
  reusePort?: boolean;
  /** The host passes requests to the process, at an address chosen by the host (`Deno.serve`). */
  byHost?: boolean;
  /**
   * Maximum number of connections, and of idle WebSockets in addition. At the limit, the connection that has
   * waited longest for a request is closed. `mostFiles`: file descriptors that connections may use; absent:
   * any number.
   */
  maxConnections: { readonly most: number; readonly resting?: number; readonly mostFiles?: number };
  /** Maximum time for a request head, and maximum silence within a body, in milliseconds. */
  headerMs: number;
  /** Maximum time between requests, and until a client receives sent bytes, in milliseconds. */
  idleMs: number;
  /** Maximum unsent bytes of large answers; absent: 128 MiB. */
  heldBytes?: number;
  handle: Host["handle"];
  log?(line: string, level?: Level): void;
  /** The clock for timeouts; absent: the process's own. */
  clock?: Clock;
  /** False: the server does not check timeouts itself, see {@link Server.look}. */
  looking?: boolean;
}

export interface Server {
  readonly addr: Deno.NetAddr;
  /** Number of open connections by phase; phases without connections are omitted. */
  readonly connections: Readonly<Partial<Record<Phase, number>>>;
  /** Number of connections that are not closed in favour of others as soon as those come. */
  readonly busy: number;
  /** Maximum number of connections besides idle WebSockets. */
  readonly most: number;
  /** Number of connections rejected because the server was full. */
  readonly refused: number;
  /** Closes connections whose timeout has passed. */
  look(): void;
  /**
   * Closes connections without a request, and each other one after its answer. A new connection may send one
   * request.
   */
  drain(): void;
  /** Accepts no more requests; resolves when the current ones have been answered. */
  shutdown(): Promise<void>;
}
