/** What a server is told, and what it can be asked. */
import type { Clock } from "../timing/clock.ts";
import type { Host, Phase } from "./host.ts";

export interface ServeOptions {
  hostname: string;
  port: number;
  /** Several processes share the port. */
  reusePort?: boolean;
  /** The host hands over requests itself, at an address of its choice: only `Deno.serve` hears of it. */
  byHost?: boolean;
  /**
   * Most connections at once, and WebSockets beside them that wait for a message. At the bound the connection that has waited
   * longest for a request makes place. `mostFiles`: that connections may have open; absent: as many as they need.
   */
  maxConnections: { readonly most: number; readonly resting?: number; readonly mostFiles?: number };
  /** Longest time for the head of a request, and longest silence within a body. */
  headerMs: number;
  /** Longest time between requests, and until a caller takes bytes that it was sent. */
  idleMs: number;
  /** Most bytes of large answers that callers are taking; absent: 128 MiB. */
  heldBytes?: number;
  handle: Host["handle"];
  log?(line: string): void;
  /** For the bounds in time; absent: the process's own. */
  clock?: Clock;
  /** False: somebody else looks whose time is over. */
  looking?: boolean;
}

export interface Server {
  readonly addr: Deno.NetAddr;
  /** Connections that are open, by what they are about; those that are about nothing are left out. */
  readonly connections: Readonly<Partial<Record<Phase, number>>>;
  /** Connections that found no place. */
  readonly refused: number;
  /** Ends whatever has lasted too long. */
  look(): void;
  /** Closes connections that have no request, and each other one when it has been answered. New ones may ask once each. */
  drain(): void;
  /** Takes no more requests; resolves when those under way are answered. */
  shutdown(): Promise<void>;
}
