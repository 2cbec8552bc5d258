/**
 * The payload log: requests and answers of calls after masking, encrypted with the operator's key. Off unless
 * a key or a policy enables it. Writing happens in the background and delays no call.
 */
import { hostname } from "node:os";
import type { PayloadsConfig } from "./config.ts";
import { open, payloadKeys, UnreadablePayload } from "./envelope.ts";
import { openFiles } from "./files.ts";
import { Retention } from "./retention.ts";
import { openS3, type S3Keys } from "./s3.ts";
import { isGenerationId, type PayloadStorage } from "./storage.ts";
import { type PayloadOutcome, PayloadWriter } from "./writer.ts";

export type { PayloadOutcome } from "./writer.ts";

/** The part that the pipeline uses. */
export interface PayloadLog {
  /** @param bytes approximate size of the payload, which `make` creates later */
  add(id: string, key: string, bytes: number, make: () => unknown): void;
}

export interface OpenPayloads extends PayloadLog {
  readonly config: PayloadsConfig;
  /** Size of the payloads that wait to be written, in bytes. */
  bytes(): number;
  /** Null: it is not in the storage. Throws {@link UnreadablePayload} and errors of the storage. */
  read(id: string): Promise<unknown>;
  /** Deletes payloads whose retention period is over. */
  sweep(): Promise<void>;
  idle(): Promise<void>;
  close(): Promise<void>;
}

export interface PayloadsOptions {
  env(name: string): string | undefined;
  /** Credentials for the storage if the configuration has none. */
  awsKeys?(region: string): Promise<S3Keys>;
  now(): number;
  /** The time that decides which payloads are deleted; null: currently unknown. Default: `now`. */
  sharedNow?(): Promise<number | null>;
  warn(line: string): void;
  ended?(outcome: PayloadOutcome): void;
  stored?(id: string): void;
  sleep?(ms: number): Promise<void>;
  /** Called with the milliseconds that a task blocked the event loop. */
  held?(ms: number): void;
  /** False: this process deletes nothing. */
  sweeps?: boolean;
}

/**
 * Opens the payload log. It writes in the background and deletes payloads that are older than the
 * configuration allows.
 */
export async function openPayloads(config: PayloadsConfig, options: PayloadsOptions): Promise<OpenPayloads> {
  const { now, warn, ended = () => {}, stored, sleep, held, sweeps = true } = options;
  const sharedNow = options.sharedNow ?? (() => Promise.resolve(now()));
  const storage = storageOf(config, options);
  const keys = await payloadKeys(config.key);
  const { queueBytes } = config;
  const writer = new PayloadWriter({
    storage,
    key: keys[0],
    queueBytes,
    ended,
    stored,
    warn,
    now,
    sleep,
    held,
  });
  const retention = new Retention({ storage, days: config.retentionDays, now: sharedNow, warn });
  if (sweeps) retention.start();
  return {
    config,
    add: (id, key, bytes, make) => writer.add(id, key, bytes, make),
    bytes: () => writer.bytes,
    async read(id) {
      if (!isGenerationId(id)) return null;
      const sealed = await storage.get(id);
      return sealed === null ? null : await contentOf(await open(sealed, id, keys));
    },
    sweep: () => retention.round(),
    idle: () => writer.idle(),
    async close() {
      await retention.stop();
      await writer.close();
    },
  };
}

/** The name of this machine, under which operators find its files. */
export function nodeName(): string {
  try {
    return hostname();
  } catch {
    return "an unnamed machine";
  }
}

function storageOf(config: PayloadsConfig, { env, awsKeys, now }: PayloadsOptions): PayloadStorage {
  const { to } = config;
  if (to.kind === "file") return openFiles(to.folder, `file:${to.folder}`, now);
  const region = config.region ?? env("AWS_REGION") ?? env("AWS_DEFAULT_REGION") ?? "us-east-1";
  const { accessKeyId, secretAccessKey } = config;
  const fixed = accessKeyId !== null && secretAccessKey !== null ? { accessKeyId, secretAccessKey } : null;
  const endpoint = config.endpoint || env("AWS_ENDPOINT_URL_S3")?.replace(/\/+$/, "") ||
    `https://s3.${region}.amazonaws.com`;
  return openS3({
    place: `s3://${to.bucket}/${to.prefix}`,
    bucket: to.bucket,
    prefix: to.prefix,
    endpoint,
    region,
    keys() {
      if (fixed) return Promise.resolve(fixed);
      if (awsKeys) return awsKeys(region);
      throw new Error("no keys for the storage are configured");
    },
  });
}

async function contentOf(packed: Uint8Array<ArrayBuffer>): Promise<unknown> {
  try {
    return await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")))
      .json();
  } catch {
    throw new UnreadablePayload("it is damaged: the decrypted data is not a payload");
  }
}
