/** A connection that is lost at the end of a transaction, before or after the database has heard of it. */
import { assertEquals, assertRejects } from "@std/assert";
import { StoreUnavailable } from "../../src/store/engine.ts";
import { openStore } from "../../src/store/mod.ts";
import { onCluster } from "../support/cluster.ts";
import { NOW } from "./samples.ts";

interface Proxy {
  port: number;
  /** What the next transaction's end loses its connection before: the database hears of it, or its answer is heard. */
  cut: "heard" | "answered" | null;
  close(): void;
}

/** Passes everything on between a database and who uses it. */
function proxyTo(port: number): Proxy {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  const proxy: Proxy = {
    port: (listener.addr as Deno.NetAddr).port,
    cut: null,
    close() {
      listener.close();
      open.forEach(closeQuietly);
    },
  };
  async function pass(from: Deno.Conn, to: Deno.Conn, mayPass: (text: string) => boolean): Promise<void> {
    const bytes = new Uint8Array(1 << 16);
    try {
      for (let read; (read = await from.read(bytes)) !== null;) {
        if (!mayPass(new TextDecoder("latin1").decode(bytes.subarray(0, read)))) break;
        for (let done = 0; done < read;) done += await to.write(bytes.subarray(done, read));
      }
    } catch {
      // The other side is gone.
    }
    [from, to].forEach(closeQuietly);
  }
  void (async () => {
    for await (const client of listener) {
      const server = await Deno.connect({ hostname: "127.0.0.1", port });
      open.add(client).add(server);
      let waits = false;
      void pass(client, server, (text) => {
        if (proxy.cut === null || !text.includes("commit")) return true;
        waits = proxy.cut === "answered";
        proxy.cut = null;
        return waits;
      });
      void pass(server, client, () => !waits);
    }
  })();
  return proxy;
}

function closeQuietly(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // It is closed.
  }
}

onCluster((cluster) => {
  Deno.test("postgres: credits are added once where the end of it is not heard, and not at all where it does not pass", async () => {
    const address = new URL(cluster().url);
    const proxy = proxyTo(Number(address.port));
    address.port = `${proxy.port}`;
    const schema = `t${crypto.randomUUID().replaceAll("-", "")}`;
    const [store, first, second] = [cluster().url, address.href, address.href].map((url) =>
      openStore(url, { schema })
    );
    const addition = { amount: 5n, now: NOW, note: null };
    const added = async () => (await store.account("acme"))?.added;
    try {
      await store.prepare();
      await store.addCredits("acme", addition);
      // Each has a connection of its own, on which nothing has been said before.
      proxy.cut = "answered";
      await first.addCredits("acme", addition);
      assertEquals([proxy.cut, await added()], [null, 10n]);
      proxy.cut = "heard";
      await assertRejects(() => second.addCredits("acme", addition), StoreUnavailable);
      assertEquals([proxy.cut, await added()], [null, 10n]);
    } finally {
      for (const one of [store, first, second]) await one.close();
      proxy.close();
    }
  });
});
