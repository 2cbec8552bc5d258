/**
 * Random operations on nodes that are killed in between, held against a model of the rules of money: prices, budgets, periods,
 * rates, secrets, joined calls, searches. More of it: `deno run -A --no-check tests/accounts/money/main.ts sqlite 7 1000`.
 */
import { openStore } from "../../src/store/mod.ts";
import { onCluster } from "../support/cluster.ts";
import { eventually } from "../support/time.ts";
import { Driver, type Place } from "./money/driver.ts";

async function drive(place: Place, seed: number, steps: number): Promise<void> {
  const driver = new Driver(place, seed);
  try {
    await driver.start();
    for (let i = 0; i < steps; i++) await driver.step();
    await driver.finish();
  } catch (thrown) {
    throw new Error(`${place.name}, seed ${seed}: ${driver.history.slice(-20).join("\n")}`, {
      cause: thrown,
    });
  } finally {
    await driver.abandon();
  }
}

for (const workers of [1, 2]) {
  Deno.test(`sqlite: random operations cost what a model says, on ${workers} ${workers > 1 ? "workers" : "node"}`, async () => {
    const folder = await Deno.makeTempDir({ prefix: "sluice-money-" });
    const store = { url: `sqlite:${folder}/store.db` };
    const place: Place = {
      name: `${workers} on SQLite`,
      stores: Array.from({ length: workers }, () => store),
      workers: workers > 1,
      rateClock: "node",
    };
    try {
      await drive(place, 2, workers > 1 ? 60 : 150);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

onCluster((cluster) => {
  Deno.test("postgres: random operations cost what a model says, on two nodes", async () => {
    const folder = await Deno.makeTempDir({ prefix: "sluice-money-" });
    const stores = [1, 2].map((n) => ({ url: cluster().url, journal: `${folder}/node${n}` }));
    const store = openStore(cluster().url, { filePrefix: null });
    try {
      // On a busy machine it may take more than one try.
      await eventually(() => store.prepare().then(() => true, () => false));
      await store.close();
      await drive({ name: "PostgreSQL", stores, workers: false, rateClock: "database" }, 2, 60);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
});
