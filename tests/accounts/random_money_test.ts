/**
 * Random operations on a node that is killed in between, held against a model of the rules of money: prices, budgets, periods,
 * rates, secrets, joined calls, streams that are read again, searches, hedged calls, WebSockets, lists of models, callers' own
 * credentials, a clock that is set back, a store that is away. More of it, with two workers and over PostgreSQL too, where other
 * nodes have to know of a change in the time that is promised:
 * `deno run -A --no-check tests/accounts/money/main.ts workers 7 1000`.
 */
import { Driver } from "./money/driver.ts";

const STEPS = 150;

for (const seed of [2, 71]) {
  Deno.test(`sqlite: random operations cost what a model says, seed ${seed}`, async () => {
    const folder = await Deno.makeTempDir({ prefix: "sluice-money-" });
    const stores = [{ url: `sqlite:${folder}/store.db` }];
    const driver = new Driver({ name: "SQLite", stores, workers: false, rateClock: "node" }, seed);
    try {
      await driver.start();
      for (let i = 0; i < STEPS; i++) await driver.step();
      await driver.finish();
    } catch (thrown) {
      throw new Error(driver.history.slice(-20).join("\n"), { cause: thrown });
    } finally {
      await driver.abandon();
      await Deno.remove(folder, { recursive: true });
    }
  });
}
