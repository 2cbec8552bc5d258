/**
 * The payload log of a gateway, with the credentials of its cloud. The places of payload files are recorded
 * in the store that all nodes share.
 */
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
  /** Where the places of payload files are recorded; null: this process writes no payloads. */
  store: Pick<Store, "kind" | "insertPayloadPlaces" | "retirePayloadPlaces" | "time"> | null;
  ended?(outcome: PayloadOutcome): void;
  sleep?(ms: number): Promise<void>;
  held?(ms: number): void;
  sweeps?: boolean;
}

/** Opens the payload log, in the folder or the bucket that the configuration names. */
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
  // Nodes that share an SQLite file run on one machine, so the places of files need no record.
  const places = config.to.kind === "file" && store?.kind === "postgres"
    ? new PayloadPlaces({ store, place: nodeName(), days: config.retentionDays, now })
    : null;
  const opened = await openPayloads(config, {
    env,
    awsKeys,
    now,
    sharedNow: store === null ? undefined : async () => {
      // Use the earlier of the two clocks, so that a node whose clock is ahead does not delete payloads of
      // all nodes. If the store is unavailable, try again in the next round.
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
