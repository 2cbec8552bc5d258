/**
 * The random money test for as long as one likes:
 * `deno run -A --no-check tests/accounts/money/main.ts KIND [SEED] [STEPS]`, where KIND is `sqlite`, `workers`, `postgres`,
 * `postgres-one` or `diskless` (PostgreSQL, and nodes without journals).
 */
import { makeCluster } from "../../support/cluster.ts";
import { Driver } from "./driver.ts";
import type { Place } from "./node.ts";

const [kind = "sqlite", seed = "1", steps = "300"] = Deno.args;
const folder = await Deno.makeTempDir({ prefix: "sluice-money-" });
const cluster = kind.startsWith("postgres") || kind === "diskless" ? await makeCluster() : null;
const sqlite = { url: `sqlite:${folder}/store.db` };
const postgres = (n: number) => ({ url: cluster!.url, journal: `${folder}/node${n}` });
const places: Record<string, () => Place> = {
  sqlite: () => ({ name: kind, stores: [sqlite], workers: false, rateClock: "node" }),
  workers: () => ({ name: kind, stores: [sqlite, sqlite], workers: true, rateClock: "node" }),
  postgres: () => ({ name: kind, stores: [postgres(1), postgres(2)], workers: false, rateClock: "database" }),
  diskless: () => ({
    name: kind,
    stores: [{ url: cluster!.url, journal: null }, { url: cluster!.url, journal: null }],
    workers: false,
    diskless: true,
    rateClock: "database",
  }),
  "postgres-one": () => ({ name: kind, stores: [postgres(1)], workers: false, rateClock: "database" }),
};
const driver = new Driver(places[kind](), Number(seed), cluster);
try {
  await driver.start();
  for (let i = 0; i < Number(steps); i++) await driver.step();
  await driver.finish();
  console.log(kind, seed, steps, JSON.stringify(driver.counts));
} catch (thrown) {
  const history = `${folder}.history`;
  await Deno.writeTextFile(history, driver.history.join("\n"));
  console.error(`${driver.history.slice(-60).join("\n")}\nall of it: ${history}`);
  console.error(kind, seed, "after", driver.history.length, JSON.stringify(driver.counts));
  for (const node of driver.nodes) console.error(node.said.slice(-3000));
  throw thrown;
} finally {
  await driver.abandon();
  await cluster?.remove();
  await Deno.remove(folder, { recursive: true });
}
