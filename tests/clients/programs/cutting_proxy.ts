/** A proxy on loopback that cuts connections at random bytes of what the server says. */

export interface CuttingProxy {
  url: string;
  cuts: number;
  connections: number;
  close(): Promise<void>;
}

/** Numbers that look random and are the same each time. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** @param most cuts, so that everything comes to an end; a connection is cut within its first `within` bytes, or not at all */
export function cuttingProxy(
  target: string,
  { seed, most, within, share }: { seed: number; most: number; within: number; share: number },
): CuttingProxy {
  const { hostname, port } = new URL(target);
  const random = numbers(seed);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  const proxy: CuttingProxy = {
    url: `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`,
    cuts: 0,
    connections: 0,
    async close() {
      listener.close();
      for (const conn of open) end(conn);
      await accepting;
    },
  };

  function end(conn: Deno.Conn): void {
    open.delete(conn);
    try {
      conn.close();
    } catch {
      // The other direction has closed it.
    }
  }

  async function pass(from: Deno.Conn, to: Deno.Conn, cutAfter: number): Promise<void> {
    const buffer = new Uint8Array(4096);
    let left = cutAfter;
    try {
      for (let n = await from.read(buffer); n !== null; n = await from.read(buffer)) {
        const part = buffer.subarray(0, Math.min(n, left));
        for (let at = 0; at < part.length;) at += await to.write(part.subarray(at));
        left -= n;
        if (left > 0) continue;
        proxy.cuts++;
        break;
      }
    } catch {
      // One of them has left.
    } finally {
      end(from);
      end(to);
    }
  }

  async function serve(caller: Deno.Conn): Promise<void> {
    proxy.connections++;
    open.add(caller);
    let server: Deno.Conn;
    try {
      server = await Deno.connect({ hostname, port: Number(port) });
    } catch {
      return end(caller);
    }
    open.add(server);
    const cut = proxy.cuts < most && random() < share ? 1 + Math.floor(random() * within) : Infinity;
    await Promise.all([pass(caller, server, Infinity), pass(server, caller, cut)]);
  }

  const accepting = (async () => {
    const serving: Promise<void>[] = [];
    try {
      for await (const caller of listener) serving.push(serve(caller));
    } finally {
      await Promise.all(serving);
    }
  })();
  return proxy;
}
