/** The commands for the store: backup, restore, and its state. Each returns the text to print. */
import { countOf } from "../exchange/printable.ts";
import { fingerprintOf, pepperPath, readPepper } from "../accounts/keys/pepper.ts";
import { findJournals, removeQuietly } from "../accounts/journal/journal_files.ts";
import {
  asideOf,
  backup,
  BadDump,
  CareRefused,
  type Copied,
  info,
  pathOf,
  restore,
} from "../store/care/mod.ts";
import type { StoreConfig } from "../store/config.ts";
import { makeFolderOf } from "../store/sqlite/file.ts";
import { StoreUnavailable } from "../store/mod.ts";
import type { Command } from "./command.ts";
import { UsageError } from "./option_values.ts";

type CareCommand = Extract<Command, { command: "backup" | "restore" | "store" }>;

/** Resolves with the text to print. Throws `UsageError` if the store is not in the state that the command needs. */
export async function storeCommand(command: CareCommand, store: CareConfig): Promise<string> {
  try {
    switch (command.command) {
      case "backup":
        return await backupText(command, store);
      case "restore":
        return await restoreText(command, store);
      case "store":
        return await infoText(command, store);
    }
  } catch (error) {
    throw asUsageError(error);
  }
}

/** Converts errors that the operator can fix to `UsageError`, which is shown without a stack trace. */
export function asUsageError(error: unknown): unknown {
  const can = [CareRefused, BadDump, StoreUnavailable].some((kind) => error instanceof kind);
  if (!can) return error;
  const { message } = error as Error;
  const isComplete = !(error instanceof StoreUnavailable) || error.cause === undefined;
  return new UsageError(isComplete ? message : `${message} It says: ${error.reason}.`);
}

export type CareConfig = Pick<StoreConfig, "url" | "pepper" | "journal">;

async function backupText(
  { file, force, json }: Extract<CareCommand, { command: "backup" }>,
  store: CareConfig,
): Promise<string> {
  const path = pathOf(store);
  const pepper = store.pepper ?? (path === null ? null : readPepper(pepperPath(path)));
  const copied = await backup(store, file, { pepper, force });
  const bytes = (await Deno.stat(file)).size;
  if (json) return JSON.stringify({ file, bytes, ...viewOf(copied) }, null, 2);
  return `Backed up ${summary(copied)} to ${file} (${countOf(bytes, "byte")}). ` +
    (copied.head.pepper === null
      ? "There is no pepper yet."
      : "It holds the pepper: keep it as safe as the keys.");
}

async function restoreText(
  { file, force, json }: Extract<CareCommand, { command: "restore" }>,
  store: CareConfig,
): Promise<string> {
  const path = pathOf(store);
  const place = path === null || store.pepper !== null ? null : pepperPath(path);
  const draft = `${place}.restoring`;
  let copied: Copied;
  try {
    copied = await restore(store, file, {
      force,
      pepperConfigured: store.pepper !== null,
      accept({ pepper }) {
        if (store.pepper !== null && pepper !== null && store.pepper !== pepper) {
          throw new CareRefused(
            "The keys of this backup were hashed with another pepper than store.pepper: leave store.pepper out, or set " +
              "the one of the backup.",
          );
        }
        // Before the database is replaced: without room for its pepper it would be of no use.
        if (place !== null && pepper !== null) draftPepper(draft, pepper);
      },
    });
    if (place !== null && copied.head.pepper !== null) placePepper(place, draft);
  } finally {
    if (place !== null) removeQuietly(draft);
  }
  const kept = copied.aside ?? null;
  if (json) return JSON.stringify({ ...viewOf(copied), replaced: kept }, null, 2);
  return `Restored ${
    summary(copied)
  }, as of ${copied.head.created}; every count and sum is that of the backup.` +
    (kept === null ? "" : ` What was there is now ${kept}.`);
}

function draftPepper(draft: string, pepper: string): void {
  makeFolderOf(draft);
  Deno.writeTextFileSync(draft, pepper, { mode: 0o600 });
}

/** Writes the pepper atomically. A different existing pepper is kept under another name. */
function placePepper(path: string, draft: string): void {
  const before = readPepper(path);
  if (before === readPepper(draft)) return;
  if (before !== null) Deno.renameSync(path, asideOf(path));
  Deno.renameSync(draft, path);
}

async function infoText(
  { json }: Extract<CareCommand, { command: "store" }>,
  store: CareConfig,
): Promise<string> {
  const path = pathOf(store);
  const found = await info(store);
  const pepper = store.pepper ?? (path === null ? null : readPepper(pepperPath(path)));
  const journals = journalsBeside(path ?? store.journal);
  const time = (ms: number | null) => ms === null ? null : new Date(ms).toISOString();
  const day = (ms: number | null) => time(ms)?.slice(0, 10) ?? null;
  const view = {
    kind: found.kind,
    place: withoutPassword(store.url),
    schema: found.schema,
    bytes: found.bytes,
    rows: found.rows,
    oldest_record: time(found.oldestRecord),
    newest_record: time(found.newestRecord),
    sums: { from: day(found.firstDay), to: day(found.lastDay), whole: found.sumsWhole },
    retired_before: found.retiredBefore === 0 ? null : day(found.retiredBefore),
    nodes: found.nodes,
    pepper: {
      fingerprint: found.pepperFingerprint,
      here: pepper === null ? null : fingerprintOf(pepper),
    },
    journals,
  };
  return json ? JSON.stringify(view, null, 2) : lines(view).join("\n");
}

function journalsBeside(filePrefix: string | null): { file: string; bytes: number }[] {
  if (filePrefix === null) return [];
  try {
    return [...findJournals(filePrefix)].filter(({ onlyLock }) => !onlyLock)
      .map(({ path }) => ({ file: path, bytes: Deno.statSync(path).size }));
  } catch (error) {
    // The folder does not exist, or another process has just removed the journal.
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

function withoutPassword(url: string): string {
  if (url.startsWith("sqlite:")) return url;
  const shown = new URL(url);
  if (shown.password !== "") shown.password = "***";
  shown.search = "";
  return shown.href;
}

function viewOf({ head, tables }: Copied) {
  const { pepper, sluice_backup: _, ...rest } = head;
  return {
    ...rest,
    pepper: pepper === null ? null : fingerprintOf(pepper),
    tables: Object.fromEntries(tables.map(({ table, totals }) => [table, totals])),
  };
}

function summary({ head, tables }: Copied): string {
  const rows = (name: string) => tables.find(({ table }) => table === name)?.totals.rows ?? 0;
  return `a store of schema ${head.schema} with ${countOf(rows("generations"), "generation")} and ${
    countOf(rows("keys"), "key")
  }`;
}

/** Names and values as lines; those of an object are indented. */
function lines(view: object, indent = ""): string[] {
  return Object.entries(view).flatMap(([name, value]) => {
    if (value === null) return [`${indent}${name}: none`];
    if (typeof value !== "object") return [`${indent}${name}: ${value}`];
    if (!Array.isArray(value)) return [`${indent}${name}:`, ...lines(value, `${indent}  `)];
    if (value.length === 0) return [`${indent}${name}: none`];
    return [
      `${indent}${name}:`,
      ...value.map((item) =>
        `${indent}  ${Object.entries(item).map(([key, v]) => `${key} ${v ?? "none"}`).join(", ")}`
      ),
    ];
  });
}
