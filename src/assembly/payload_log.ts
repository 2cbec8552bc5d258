/** The payload log of a gateway: with the keys of its cloud, and its places noted in the store that its nodes share. */
import { awsSource } from "../providers/credentials/aws/sources.ts";
import type { AwsKeys } from "../providers/credentials/aws/keys.ts";
import { RenewedToken } from "../providers/credentials/renewed_token.ts";
import { ServiceClock } from "../providers/credentials/service_clock.ts";
import type { PayloadsConfig } from "../payloads/config.ts";
import { nodeName, type OpenPayloads, openPayloads, type PayloadOutcome } from "../payloads/mod.ts";
import { PayloadPlaces } from "../payloads/places.ts";
import type { Store } from "../store/mod.ts";
import { pause } from "../timing/waits.ts";

export interface PayloadLogOptions {
  env?(name: string): string | undefined;
  now(): number;
  log(line: string, level?: "info" | "warn"): void;
  /** Where places are noted; null: nothing is written here. */
  store: Pick<Store, "kind" | "insertPayloadPlaces" | "retirePayloadPlaces" | "time"> | null;
  ended?(outcome: PayloadOutcome): void;
  sleep?(ms: number): Promise<void>;
  held?(ms: number): void;
  sweeps?: boolean;
}

/** Opens the payload log, with the files or the bucket that the configuration names. */
export async function payloadLog(config: PayloadsConfig, options: PayloadLogOptions): Promise<OpenPayloads> {
  const { now, log, store, sweeps, ended, sleep, held, env = () => undefined } = options;
  const surroundings = {
    env,
    readText: Deno.readTextFile,
    now,
    log,
    sleep: pause,
  };
  let keys: RenewedToken<AwsKeys> | undefined;
  const awsKeys = async (region: string) => {
    const settings = { profile: null, roleArn: null, externalId: null };
    const context = { surroundings, clock: new ServiceClock(surroundings), region };
    keys ??= new RenewedToken("the AWS credential of payloads", awsSource(settings, context), surroundings);
    return await keys.get();
  };
  // Nodes with one SQLite file are on one machine.
  const places = config.to.kind === "file" && store?.kind === "postgres"
    ? new PayloadPlaces({ store, place: nodeName(), days: config.retentionDays, now })
    : null;
  const opened = await openPayloads(config, {
    env,
    awsKeys,
    now,
    sharedNow: store === null ? undefined : async () => {
      // A clock that has run ahead must not delete what all nodes wrote; a store that is away is asked in the next round.
      const time = await store.time().catch(() => NaN);
      return Number.isNaN(time) ? null : Math.min(now(), time ?? Infinity);
    },
    warn: (line) => log(line, "warn"),
    ended,
    stored: places ? (id) => places.add(id) : undefined,
    sleep,
    held,
    sweeps,
  });
  return {
    ...opened,
    async close() {
      await opened.close();
      await places?.close();
    },
  };
}
