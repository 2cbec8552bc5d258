/**
 * The payload log: what calls asked and were answered, after masking, encrypted with the operator's key. Off unless a key or
 * a policy asks for it; nothing of it is on the path of a call.
 */
import { hostname } from "node:os";
import type { PayloadsConfig } from "./config.ts";
import { open, payloadKeys, UnreadablePayload } from "./envelope.ts";
import { openFiles } from "./files.ts";
import { Retention } from "./retention.ts";
import { openS3, type S3Keys } from "./s3.ts";
import { isGenerationId, type PayloadStorage } from "./storage.ts";
import { type PayloadOutcome, PayloadWriter } from "./writer.ts";

export { UnreadablePayload } from "./envelope.ts";
export type { PayloadOutcome } from "./writer.ts";

/** What the pipeline needs of it. */
export interface PayloadLog {
  /** @param bytes about how many the payload has, which is made once there is time */
  add(id: string, key: string, bytes: number, make: () => unknown): void;
}

export interface OpenPayloads extends PayloadLog {
  readonly config: PayloadsConfig;
  /** Of what waits to be written. */
  bytes(): number;
  /** Null: it is not in the storage. Throws {@link UnreadablePayload}, and what the storage throws. */
  read(id: string): Promise<unknown>;
  /** Deletes what is past its time. */
  sweep(): Promise<void>;
  idle(): Promise<void>;
  close(): Promise<void>;
}

export interface PayloadsOptions {
  env(name: string): string | undefined;
  /** Keys for the storage, where the configuration has none. */
  awsKeys?(region: string): Promise<S3Keys>;
  now(): number;
  /** The time that payloads are deleted by; null: it cannot be told now. Absent: `now`. */
  sharedNow?(): Promise<number | null>;
  warn(line: string): void;
  ended?(outcome: PayloadOutcome): void;
  stored?(id: string): void;
  sleep?(ms: number): Promise<void>;
  /** Told how long pieces of work held the event loop, in milliseconds. */
  held?(ms: number): void;
  /** False: nothing is deleted here. */
  sweeps?: boolean;
}

/** Opens the payload log: writes in the background, and deletes what is older than the configuration allows. */
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

/** Where files of this process are, as an operator knows the machine. */
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
    throw new UnreadablePayload("it is damaged: what was encrypted is no payload");
  }
}
