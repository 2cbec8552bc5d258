/** What a server and its connections know of each other. */
import type { HeldAnswers } from "./held_answers.ts";
import type { Http2Request } from "./http2_request.ts";
import type { Incoming } from "./incoming.ts";

/** What a connection is about, as far as its bounds are concerned. */
export type Phase =
  /** Between requests: nothing of the next has come. */
  | "idle"
  /** Some of a head has come, or the connection is new. */
  | "head"
  | "body"
  | "handling"
  /** The caller has to take bytes. */
  | "writing"
  | "lingering"
  /** It is a WebSocket now. */
  | "upgraded";

/** A connection of a caller. */
export interface Hosted {
  readonly phase: Phase;
  /** Files that the process has open for it. */
  readonly files: number;
  /** When the phase ends at the latest; {@link Host.entered} sets it. */
  due: number;
  /** Resolves when the connection is closed, or a WebSocket's. Never rejects. */
  serve(): Promise<void>;
  /** Ends it, whatever is going on. */
  close(): void;
  /** The phase has lasted too long. */
  expire(): void;
  /** Says that there is no place, and closes. */
  turnAway(): Promise<void>;
  /** Ends a WebSocket that waits for a message. */
  giveWay(): void;
  /** No further requests are taken: what goes on is answered. */
  stop(): void;
}

export interface Host {
  handle(request: Incoming | Http2Request | Request, info: { remoteAddr: Deno.NetAddr }): Promise<Response>;
  /** The phase has changed. @param before what it was; absent: not known */
  entered(connection: Hosted, before?: Phase): void;
  closed(connection: Hosted): void;
  /** A WebSocket waits for a message of its caller, or does so no longer. */
  rests(connection: Hosted, rests: boolean): void;
  /** What callers have to take of large answers. */
  readonly held: HeldAnswers<Hosted>;
  /** No further requests are taken. */
  readonly stopping: boolean;
  /** Longest silence within a body, in milliseconds. */
  readonly headerMs: number;
  /** Longest time until a caller takes bytes that it was sent, in milliseconds. */
  readonly idleMs: number;
}
