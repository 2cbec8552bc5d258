/** A client of the responses format over a WebSocket, which keeps what it got. */
import { SECRET } from "./gateway.ts";
import { eventually } from "./time.ts";

// deno-lint-ignore no-explicit-any
export type SocketEvent = any;

const OVER = /^(?:error|response\.(?:completed|incomplete|failed))$/;

export class SocketClient {
  readonly socket: WebSocket;
  readonly events: SocketEvent[] = [];
  ended: CloseEvent | null = null;

  constructor(url: string, headers: Record<string, string> = { authorization: `Bearer ${SECRET}` }) {
    this.socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`, { headers });
    this.socket.onmessage = ({ data }) => this.events.push(JSON.parse(data));
    this.socket.onclose = (event) => this.ended = event;
  }

  static async open(url: string, headers?: Record<string, string>): Promise<SocketClient> {
    const client = new SocketClient(url, headers);
    await eventually(() => client.socket.readyState === WebSocket.OPEN);
    return client;
  }

  /** The events of one turn. @param message a text is sent as it is */
  async turn(message: Record<string, unknown> | string): Promise<SocketEvent[]> {
    const from = this.events.length;
    this.socket.send(
      typeof message === "string" ? message : JSON.stringify({ type: "response.create", ...message }),
    );
    await eventually(() => OVER.test(this.events.at(-1)?.type ?? "") && this.events.length > from);
    return this.events.slice(from);
  }

  async close(): Promise<void> {
    this.socket.close();
    await eventually(() => this.ended !== null);
  }
}
