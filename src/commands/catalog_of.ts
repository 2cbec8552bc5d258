/** The catalog that a gateway with a configuration would serve, for one command. */
import type { Level } from "../exchange/log_level.ts";
import type { Config } from "../config/schema.ts";
import { Discovery } from "../discovery/discovery.ts";
import { askedOf, effectiveModels } from "../discovery/effective_catalog.ts";
import { readSnapshot } from "../discovery/snapshot.ts";
import type { Model } from "../models/catalog.ts";
import type { ModelSummary } from "../models/summary.ts";
import { Credentials } from "../providers/credentials/open_credential.ts";
import type { Env } from "../providers/presets.ts";
import { pause } from "../timing/waits.ts";

interface Surroundings {
  env: Env;
  log(line: string, level?: Level): void;
}

/** The models that a start with this configuration would serve, including discovered ones. */
export async function catalogOf(config: Config, { env, log }: Surroundings): Promise<readonly Model[]> {
  const credentials = new Credentials({
    env,
    readText: Deno.readTextFile,
    now: Date.now,
    sleep: pause,
    log,
  });
  const prefix = filePrefix(config);
  const discovery = new Discovery({
    file: prefix && `${prefix}.models.json`,
    keeps: false,
    follower: 1,
    now: Date.now,
    log,
    changed: () => {},
  });
  try {
    const asked = await askedOf(config, credentials);
    await discovery.follow(asked, config.catalog.discoverHours * 3_600_000);
    return await effectiveModels(config, { discovery, asked, now: Date.now() });
  } finally {
    discovery.close();
  }
}

/** The models that a running gateway has saved on this machine; null: there are none. */
export function runningCatalog(config: Config): ModelSummary[] | null {
  const prefix = filePrefix(config);
  return prefix === null ? null : readSnapshot(`${prefix}.catalog.json`);
}

function filePrefix({ store }: Config): string | null {
  if (store.url === "sqlite::memory:") return null;
  return store.url.startsWith("sqlite:") ? store.url.slice("sqlite:".length) : store.journal;
}
