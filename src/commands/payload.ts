/**
 * `sluice payload` and `sluice replay`: the stored request and answer of a generation, and the answer to the
 * same request now.
 */
import type { AccountsService } from "../accounts/mod.ts";
import type { Config } from "../config/schema.ts";
import { Failure } from "../exchange/failure.ts";
import { isObject } from "../exchange/json.ts";
import type { Command } from "./command.ts";
import type { KeptPayload, Replayed } from "./replay.ts";

export interface PayloadCommandOptions {
  accounts: Pick<AccountsService, "payloadAsked" | "payloadPlace" | "generation">;
  env(name: string): string | undefined;
  /** Opens the storage. */
  open: (
    config: NonNullable<Config["payloads"]>,
  ) => Promise<{ read(id: string): Promise<unknown>; close(): Promise<void> }>;
}

/** The payload as JSON, or the differences after sending its request again. Throws `not_found`. */
export async function payloadCommand(
  command: Extract<Command, { command: "payload" | "replay" }>,
  config: Config,
  options: PayloadCommandOptions,
): Promise<Replayed> {
  const payload = await readPayload(command.id, config, options);
  if (command.command === "payload") return { text: JSON.stringify(payload, null, 2), failed: false };
  const { replay } = await import("./replay.ts");
  return await replay(command, payload as KeptPayload, config, options);
}

async function readPayload(
  id: string,
  { payloads }: Config,
  options: PayloadCommandOptions,
): Promise<unknown> {
  if (payloads === null) throw notFound("The payload log is off: the configuration has no `payloads`.");
  await options.accounts.payloadAsked(id);
  const log = await options.open(payloads);
  try {
    const found = await log.read(id);
    if (isObject(found)) return found;
  } catch (thrown) {
    throw new Failure(
      "service_unavailable",
      `The payload of ${id} cannot be read: ${
        thrown instanceof Error ? thrown.message : "no reason is known"
      }.`,
    );
  } finally {
    await log.close();
  }
  const place = await options.accounts.payloadPlace(id);
  throw notFound(
    place === null
      ? `There is no payload of ${JSON.stringify(id)}: it was not stored, or it has expired.`
      : `The payload of ${
        JSON.stringify(id)
      } is on ${place}, in that node's own files, unless it has expired.`,
  );
}

function notFound(message: string): Failure {
  return new Failure("not_found", message);
}
