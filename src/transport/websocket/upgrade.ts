/** The response that upgrades a connection to a WebSocket. */
import { Upgrade, type UpgradeRequest } from "./upgrade_request.ts";
import { acceptOf, type SocketUser, WebSocketConnection, type Wire } from "./socket.ts";

const VERSION = "13";

export class WebSocketUpgrade extends Upgrade {
  readonly #accept: string;
  readonly user: SocketUser;

  private constructor(key: string, user: SocketUser) {
    super(null, { status: 426, headers: { upgrade: "websocket", connection: "upgrade" } });
    this.#accept = acceptOf(key);
    this.user = user;
  }

  /** Null: not a handshake of version 13. */
  static of({ headers }: UpgradeRequest, user: SocketUser): WebSocketUpgrade | null {
    const key = headers.get("sec-websocket-key") ?? "";
    if (headers.get("sec-websocket-version") !== VERSION || !/^[A-Za-z0-9+/]{22}==$/.test(key)) return null;
    return new WebSocketUpgrade(key, user);
  }

  get head(): string {
    return `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n` +
      `sec-websocket-accept: ${this.#accept}\r\n\r\n`;
  }

  open(wire: Wire): WebSocketConnection {
    return new WebSocketConnection(wire, this.user);
  }
}
