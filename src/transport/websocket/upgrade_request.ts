/** The part of WebSocket support that is always loaded; the rest is loaded on the first upgrade. */
import type { SocketUser, WebSocketConnection, Wire } from "./socket.ts";

/** What is needed from an upgrade request. */
export interface UpgradeRequest {
  readonly method: string;
  readonly headers: Pick<Headers, "get">;
}

/** Whether a request asks for a WebSocket, of any version. */
export function asksForWebSocket({ method, headers }: UpgradeRequest): boolean {
  const has = (name: string, word: string) =>
    (headers.get(name) ?? "").toLowerCase().split(",").some((part) => part.trim() === word);
  return method === "GET" && has("upgrade", "websocket") && has("connection", "upgrade");
}

/**
 * A response that the servers in this folder convert to status 101. Elsewhere it has status 426, because a
 * Response cannot have status 101.
 */
export abstract class Upgrade extends Response {
  /** The user of the socket; it is also notified if the upgrade fails. */
  abstract readonly user: SocketUser;
  /** Header lines of the 101 response. */
  abstract get head(): string;
  /** Creates the WebSocket, after the head has been sent. */
  abstract open(wire: Wire): WebSocketConnection;
}
