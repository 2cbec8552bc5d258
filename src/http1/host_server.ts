/**
 * The server of hosts that open no sockets themselves (Deno Deploy): `Deno.serve`, which hands over requests one by one.
 *
 * What it lacks is the host's to bound: connections, and how long heads and bodies may take.
 */
import type { ServeOptions, Server } from "./serve_options.ts";

/** @param options of which bounds have no effect */
export function serveByHost({ hostname, port, reusePort, handle, log }: ServeOptions): Server {
  log?.("the host opens no sockets for this process: bounds on connections are the host's");
  let underWay = 0;
  const server = Deno.serve(
    { hostname, port, reusePort, onListen: () => {} },
    async (request, { remoteAddr }) => {
      underWay++;
      try {
        const response = await handle(request, { remoteAddr: remoteAddr as Deno.NetAddr });
        // Of an answer that makes its Headers when they are asked for, the host would see none.
        void response.headers;
        return response;
      } finally {
        underWay--;
      }
    },
  );
  return {
    addr: (server.addr ?? { transport: "tcp", hostname, port }) as Deno.NetAddr,
    get connections() {
      return { handling: underWay };
    },
    refused: 0,
    look() {},
    shutdown: () => server.shutdown(),
  };
}
