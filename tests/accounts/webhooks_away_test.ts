/** Webhooks beside a store that goes away while an event is on its way to its receiver. */
import { assertEquals } from "@std/assert";
import { Webhooks } from "../../src/accounts/webhooks.ts";
import { WEBHOOKS } from "../../src/accounts/config.ts";
import { insertEvents } from "../../src/store/deliveries.ts";
import { type DeliveryStore, StoreUnavailable } from "../../src/store/mod.ts";
import { sha256Hex } from "../../src/exchange/hashes.ts";
import { onBothEngines } from "../support/cluster.ts";
import { standStill } from "../support/stand_still.ts";
import { eventually, StoppedClock } from "../support/time.ts";
import { NOON } from "./support.ts";

const NODE = "node_1";

/** A store whose method fails once as it does when it is away: before it has done anything, or with its answer lost. */
function awayOnce<S extends DeliveryStore>(
  store: S,
  method: keyof DeliveryStore,
  when: "before" | "after",
): S {
  const real = store[method] as (...args: unknown[]) => Promise<unknown>;
  let away = true;
  const failing = async (...args: unknown[]) => {
    if (away && when === "before") {
      away = false;
      throw new StoreUnavailable("It is away.");
    }
    const done = await real(...args);
    if (away) {
      away = false;
      throw new StoreUnavailable("It is away.");
    }
    return done;
  };
  return { ...store, [method]: failing };
}

function eventFor(url: string) {
  return {
    webhook: sha256Hex(url).slice(0, 16),
    now: NOON,
    data: {
      event: "budget.50",
      share: 50,
      budget: "k:1",
      scope: "key" as const,
      owner: "key_1",
      starts: 0,
      ends: null,
      limit: "2",
      spent: "1",
    },
  };
}

const ANSWER_MS = 300;

/** A receiver that accepts each event, after whose answer the whole process stands still for long. */
function standingStill(): { url: string; told(): number; close(): Promise<void> } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let told = 0;
  const serve = async (conn: Deno.Conn) => {
    let text = "";
    const decoder = new TextDecoder();
    for await (const bytes of conn.readable.values({ preventCancel: true })) {
      text += decoder.decode(bytes);
      if (!text.trimEnd().endsWith("}")) continue;
      text = "";
      told++;
      await conn.write(new TextEncoder().encode("HTTP/1.1 204 No Content\r\n\r\n"));
      standStill(3 * ANSWER_MS);
    }
  };
  const serving = (async () => {
    for await (const conn of listener) void serve(conn).catch(() => {}).finally(() => conn.close());
  })();
  return {
    url: `http://127.0.0.1:${listener.addr.port}/`,
    told: () => told,
    async close() {
      listener.close();
      await serving;
    },
  };
}

onBothEngines(({ name, place }) => {
  for (const method of ["claimDeliveries", "postponeDelivery", "removeDelivery"] as const) {
    for (const when of ["before", "after"] as const) {
      Deno.test(`${name}: an event is told where the store is away ${when} ${method}()`, async () => {
        const here = place();
        const clock = new StoppedClock(NOON);
        const store = here.open();
        const told: string[] = [];
        // It takes nothing at first where postponing is what goes wrong.
        let refusals = method === "postponeDelivery" ? 1 : 0;
        const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
          if (refusals-- > 0) return new Response(null, { status: 500 });
          told.push(request.headers.get("x-svc-delivery")!);
          return new Response(null, { status: 204 });
        });
        const url = `http://127.0.0.1:${server.addr.port}/`;
        const webhooks = new Webhooks({
          store: awayOnce(store, method, when),
          node: NODE,
          clock,
          configured: () => configured,
          ready: () => true,
          keyName: () => null,
          ended() {},
          warn() {},
        });
        const configured = WEBHOOKS.parse([{ url, secret: "whsec" }]);
        const engine = here.engine();
        try {
          await store.prepare();
          await store.registerNode(NODE);
          await insertEvents(engine, engine.query, [eventFor(url)]);
          await eventually(async () => {
            clock.move(60_000);
            await webhooks.round().catch(() => {});
            return told.length > 0 && (await engine.query("SELECT id FROM deliveries")).length === 0;
          }, { what: () => `told ${told.length} times` });
          assertEquals(told.length, 1);
        } finally {
          await webhooks.stop();
          await server.shutdown();
          await engine.close();
          await store.close();
          here.remove();
        }
      });
    }
  }

  Deno.test(`${name}: an event whose answer came while the process stood still is told once`, async () => {
    const here = place();
    const clock = new StoppedClock(NOON);
    const store = here.open();
    const receiver = standingStill();
    const outcomes: string[] = [];
    const configured = WEBHOOKS.parse([{ url: receiver.url, secret: "whsec" }]);
    const webhooks = new Webhooks({
      store,
      node: NODE,
      clock,
      configured: () => configured,
      ready: () => true,
      keyName: () => null,
      ended: (outcome) => outcomes.push(outcome),
      warn() {},
    }, { answerMs: ANSWER_MS });
    const engine = here.engine();
    try {
      await store.prepare();
      await store.registerNode(NODE);
      await insertEvents(engine, engine.query, [eventFor(receiver.url)]);
      await eventually(async () => {
        clock.move(60_000);
        await webhooks.round();
        return (await engine.query("SELECT id FROM deliveries")).length === 0;
      }, { what: () => `told ${receiver.told()} times` });
      assertEquals([receiver.told(), outcomes], [1, ["delivered"]]);
    } finally {
      await webhooks.stop();
      await receiver.close();
      await engine.close();
      await store.close();
      here.remove();
    }
  });
});
