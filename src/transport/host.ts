/** The interface between a server and its connections. */
import type { UnsentAnswers } from "./unsent_answers.ts";
import type { Http2Request } from "./http2_request.ts";
import type { Incoming } from "./incoming.ts";

/** The phase of a connection, which determines its timeout. */
export type Phase =
  /** Between requests: no byte of the next one has been received. */
  | "idle"
  /** A part of a head has been received, or the connection is new. */
  | "head"
  | "body"
  | "handling"
  /** Waiting for the client to receive bytes. */
  | "writing"
  | "lingering"
  /** The connection has become a WebSocket. */
  | "upgraded";

/** A client connection. */
export interface Hosted {
  readonly phase: Phase;
  /** File descriptors used by the connection. */
  readonly files: number;
  /** Timeout of the current phase; set by {@link Host.entered}. */
  due: number;
  /** Number of phases entered, by which progress is seen; counted by {@link Host.entered}. */
  steps: number;
  /** Resolves when the connection, including a WebSocket on it, is closed. Never rejects. */
  serve(): Promise<void>;
  /** Closes the connection at once. */
  close(): void;
  /** Called when the phase has timed out. */
  expire(): void;
  /** Answers that the server is full, and closes. */
  turnAway(): Promise<void>;
  /** Closes a WebSocket that is waiting for a message. */
  closeSocket(): void;
  /** Closes the connection after the current request. */
  stop(): void;
}

export interface Host {
  handle(request: Incoming | Http2Request | Request, info: { remoteAddr: Deno.NetAddr }): Promise<Response>;
  /**
   * Called when the phase has changed.
   * @param before the previous phase; absent: unknown
   */
  entered(connection: Hosted, before?: Phase): void;
  closed(connection: Hosted): void;
  /** A WebSocket started or stopped waiting for a message. */
  rests(connection: Hosted, rests: boolean): void;
  /** Unsent bytes of large answers. */
  readonly unsent: UnsentAnswers<Hosted>;
  /** Connections close after their current request. */
  readonly stopping: boolean;
  /** Maximum silence within a body, in milliseconds. */
  readonly headerMs: number;
  /** Maximum time until the client receives sent bytes, in milliseconds. */
  readonly idleMs: number;
}
