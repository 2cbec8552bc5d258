/**
 * The server for hosts where a process cannot open sockets or choose its address (Deno Deploy): `Deno.serve`,
 * which passes requests to a handler.
 *
 * Limits for connections and timeouts for heads and bodies are left to the host.
 */
import { HostSocket } from "./host_socket.ts";
import { PlainResponse } from "./plain_response.ts";
import { isHost } from "./request_head.ts";
import { refusal } from "./response_bytes.ts";
import type { ServeOptions, Server } from "./serve_options.ts";
import { asksForWebSocket, Upgrade } from "./websocket/upgrade_request.ts";

/** @param options limits in it have no effect */
export function serveByHost({ hostname, port, reusePort, handle, log }: ServeOptions): Server {
  log?.("the host opens no sockets for this process: bounds on connections are the host's");
  let underWay = 0;
  const sockets = new Map<HostSocket, Promise<unknown>>();
  let stopping = false;

  function open(request: Request, { user }: Upgrade): Response {
    const idleTimeout = Math.ceil(user.pingMs / 1000);
    let upgraded: Deno.WebSocketUpgrade;
    try {
      upgraded = Deno.upgradeWebSocket(request, { idleTimeout });
    } catch (thrown) {
      user.over?.();
      throw thrown;
    }
    const held = new HostSocket(upgraded.socket, user);
    sockets.set(held, held.whenClosed.finally(() => sockets.delete(held)));
    if (stopping) held.stop();
    return upgraded.response;
  }

  function drain(): void {
    stopping = true;
    for (const socket of sockets.keys()) socket.stop();
  }

  const server = Deno.serve(
    { hostname, port, reusePort, onListen: () => {} },
    async (request, { remoteAddr }) => {
      if (!isHost(request.headers.get("host") ?? "")) return refusal(400, "expected one host");
      underWay++;
      // After the upgrade the host's request cannot be read any more, but the turns need the headers of the
      // handshake.
      const asked = asksForWebSocket(request)
        ? new Request(request.url, { headers: [...request.headers] })
        : request;
      try {
        const response = await handle(asked, { remoteAddr: remoteAddr as Deno.NetAddr });
        if (response instanceof Upgrade) return open(request, response);
        return PlainResponse.forHost(response);
      } finally {
        underWay--;
      }
    },
  );
  // The host may use a listener without host name and port.
  const { addr } = server as { addr?: Deno.Addr };
  return {
    addr: addr !== undefined && "hostname" in addr ? addr : { transport: "tcp", hostname, port },
    get connections() {
      return { handling: underWay, upgraded: sockets.size };
    },
    // The host bounds them.
    busy: 0,
    most: Infinity,
    refused: 0,
    look() {},
    drain,
    async shutdown() {
      drain();
      // The host's own shutdown would cut off sockets with a current turn.
      while (sockets.size > 0) await Promise.all(sockets.values());
      await server.shutdown();
    },
  };
}
