/** What servers know of WebSockets before a caller asks for one: all else is loaded then. */
import type { SocketUser, WebSocketConnection, Wire } from "./websocket.ts";

/** What a request must say to go on as a WebSocket. */
export interface UpgradeRequest {
  readonly method: string;
  readonly headers: Pick<Headers, "get">;
}

/** Whether a request asks for a WebSocket, in whatever version of it. */
export function asksForWebSocket({ method, headers }: UpgradeRequest): boolean {
  const has = (name: string, word: string) =>
    (headers.get(name) ?? "").toLowerCase().split(",").some((part) => part.trim() === word);
  return method === "GET" && has("upgrade", "websocket") && has("connection", "upgrade");
}

/**
 * A response that the servers of this folder turn into status 101; to any other it is status 426, because a Response cannot have
 * status 101.
 */
export abstract class Upgrade extends Response {
  /** Talks over the socket, and is told when it is over: also where none comes of this. */
  abstract readonly user: SocketUser;
  /** Header lines of the switch. */
  abstract get head(): string;
  /** The socket, once the lines have been sent. */
  abstract open(wire: Wire): WebSocketConnection;
}
