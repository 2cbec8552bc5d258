/** A client that reads a stream over connections which break, and a proxy that breaks them. */

export interface CuttingProxy {
  /** `http://127.0.0.1:PORT` */
  url: string;
  close(): void;
}

/** Passes connections on, and cuts the next one after so many bytes of its answer; `Infinity`: not. */
export function cuttingProxy(target: string, bytes: () => number): CuttingProxy {
  const { hostname, port } = new URL(target);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  const pass = async (from: Deno.Conn, to: Deno.Conn, most: number) => {
    const buffer = new Uint8Array(16_384);
    for (let left = most; left > 0;) {
      const n = await from.read(buffer);
      if (n === null) break;
      const some = buffer.subarray(0, Math.min(n, left));
      for (let done = 0; done < some.length;) done += await to.write(some.subarray(done));
      left -= some.length;
    }
  };
  const serve = async (client: Deno.Conn) => {
    open.add(client);
    const server = await Deno.connect({ hostname, port: Number(port) }).catch(() => null);
    if (server !== null) {
      open.add(server);
      await Promise.race([
        pass(client, server, Infinity).then(() => server.closeWrite()).then(() => new Promise(() => {})),
        pass(server, client, bytes()),
      ]).catch(() => {});
    }
    for (const one of [client, server]) {
      if (one !== null && open.delete(one)) one.close();
    }
  };
  void (async () => {
    for await (const client of listener) void serve(client).catch(() => {});
  })().catch(() => {});
  return {
    url: `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`,
    close() {
      listener.close();
      for (const one of open) one.close();
    },
  };
}

export interface Resumed {
  /** The events that came whole, each once, with their ids. */
  text: string;
  /** The generation's id. */
  id: string;
  connections: number;
  status: number;
}

export interface Reading {
  /** Of the gateway, or of a proxy before it. */
  url(): string;
  path: string;
  body: unknown;
  headers: Record<string, string>;
  /** When the first connection's answer has begun. */
  begun?(): void;
  /** Before each further connection. */
  before?(): Promise<void>;
  /** At most so many connections. */
  most?: number;
}

/** Reads a stream to its end over as many connections as it takes. */
export async function readResuming(
  { url, path, body, headers, before, begun, most = 200 }: Reading,
): Promise<Resumed> {
  const resumed: Resumed = { text: "", id: "", connections: 0, status: 0 };
  let last: string | null = null;
  while (resumed.connections++ < most) {
    if (resumed.connections > 1) await before?.();
    try {
      const response: Response = resumed.id === ""
        ? await fetch(url() + path, { method: "POST", headers, body: JSON.stringify(body) })
        : await fetch(`${url()}/v1/generations/${resumed.id}/stream`, {
          headers: { ...headers, ...(last !== null && { "last-event-id": last }) },
        });
      resumed.status = response.status;
      if (resumed.connections === 1) begun?.();
      if (!response.ok) {
        await response.body?.cancel();
        if (response.status >= 500 && resumed.id !== "") continue;
        return resumed;
      }
      resumed.id = response.headers.get("x-request-id")!;
      if (response.status === 204) return resumed;
      let rest = "";
      for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
        rest += piece;
        const end = rest.lastIndexOf("\n\n") + 2;
        if (end < 2) continue;
        for (const event of rest.slice(0, end).split(/(?<=\n\n)/)) {
          if (event.startsWith(":")) continue;
          resumed.text += event;
          last = /^id: (.*)$/m.exec(event)?.[1] ?? last;
        }
        rest = rest.slice(end);
      }
      return resumed;
    } catch {
      // The connection broke.
    }
  }
  return resumed;
}

/** Numbers from 0 to 1 that are the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
