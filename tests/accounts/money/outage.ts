/** A store that cannot be used for a while, as calls begin and end. */
import { DatabaseSync } from "node:sqlite";
import type { Cluster } from "../../support/cluster.ts";
import { eventually, pause } from "../../support/time.ts";
import { ADMIN } from "./config.ts";
import type { Driver } from "./driver.ts";

/** As long as a backup by another program may hold the file. */
const LOCKED_MS = 500;

export class Outage {
  readonly #driver: Driver;
  readonly #cluster: Cluster | null;
  isOn = false;

  /** @param cluster of the nodes' store; null: they have a file */
  constructor(driver: Driver, cluster: Cluster | null) {
    this.#driver = driver;
    this.#cluster = cluster;
  }

  async come(): Promise<void> {
    const driver = this.#driver;
    driver.note("the store is away");
    const held = [...driver.running.keys()].filter(() => driver.chance(0.6));
    const begun: Promise<void>[] = [];
    this.isOn = true;
    const end = await this.#begin();
    for (const nonce of held) driver.world.release(nonce);
    for (let i = 0; i < 4; i++) begun.push(driver.call());
    for (const one of begun) one.catch(() => {});
    await pause(driver.random(1500));
    await end();
    this.isOn = false;
    await this.#found();
    driver.note("the store is there again");
    driver.stall.felt();
    for (const one of begun) await one;
    for (const nonce of held) await driver.release(nonce);
    driver.count("outages");
    await driver.checks.all();
  }

  async #begin(): Promise<() => Promise<void>> {
    const cluster = this.#cluster;
    if (cluster !== null) {
      await cluster.stop();
      return () => cluster.start();
    }
    const file = new DatabaseSync((this.#driver.place.stores[0].url as string).slice("sqlite:".length));
    file.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
    return async () => {
      await pause(LOCKED_MS);
      file.exec("COMMIT");
      file.close();
    };
  }

  /** Until then, nodes answer administrators with what they know themselves. */
  async #found(): Promise<void> {
    for (const { url } of this.#driver.nodes) {
      const headers = { authorization: `Bearer ${ADMIN}` };
      await eventually(async () => {
        const response = await fetch(`${url}/admin/generations?limit=1`, { headers });
        return (await response.json()).store !== "away";
      }, { what: `${url} finds its store` });
    }
  }
}
