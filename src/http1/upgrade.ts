/** The answer to a request that wants to go on as a WebSocket. */
import { acceptOf, type SocketUser } from "./websocket.ts";

/** What a request must say to go on as a WebSocket. */
interface UpgradeRequest {
  readonly method: string;
  readonly headers: Pick<Headers, "get">;
}

const VERSION = "13";

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
export class WebSocketUpgrade extends Response {
  readonly #accept: string;
  /** Talks over the socket, and is told when it is over: also where none comes of this. */
  readonly user: SocketUser;

  private constructor(key: string, user: SocketUser) {
    super(null, { status: 426, headers: { upgrade: "websocket", connection: "upgrade" } });
    this.#accept = acceptOf(key);
    this.user = user;
  }

  /** Null: the handshake is not one of version 13. */
  static of({ headers }: UpgradeRequest, user: SocketUser): WebSocketUpgrade | null {
    const key = headers.get("sec-websocket-key") ?? "";
    if (headers.get("sec-websocket-version") !== VERSION || !/^[A-Za-z0-9+/]{22}==$/.test(key)) return null;
    return new WebSocketUpgrade(key, user);
  }

  /** Header lines of the switch. */
  get head(): string {
    return `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n` +
      `sec-websocket-accept: ${this.#accept}\r\n\r\n`;
  }
}
