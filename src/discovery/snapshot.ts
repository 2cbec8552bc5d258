/** The catalog that a gateway serves, saved in a file, so that a command can show what would change. */
import type { Model } from "../models/catalog.ts";
import type { ModelChange } from "../models/changes.ts";
import { type ModelSummary, summaryOf } from "../models/summary.ts";

/** Writes the models with their current prices. Never rejects. */
export async function saveSnapshot(file: string, models: readonly Model[], now: number): Promise<void> {
  // If it cannot be written, a command reports that it knows no running catalog.
  await save(file, models.map((model) => summaryOf(model, now)));
}

/** Changes of the catalog, saved for the next start. */
export async function saveChanges<Change>(file: string, changes: readonly Change[]): Promise<void> {
  await save(changesFile(file), changes);
}

/** The catalog that an earlier process served (null: none), and the changes up to then. */
export function readCatalog<Change extends ModelChange & { at: string }>(
  file: string,
): { models: ModelSummary[] | null; changes: Change[] } {
  return { models: readSnapshot(file), changes: read<Change>(changesFile(file)) ?? [] };
}

function changesFile(file: string): string {
  return file.replace(/json$/, "changes.json");
}

async function save(file: string, value: readonly unknown[]): Promise<void> {
  const next = `${file}.${crypto.randomUUID().slice(0, 8)}`;
  try {
    await Deno.writeTextFile(next, JSON.stringify(value), { mode: 0o600 });
    await Deno.rename(next, file);
  } catch {
    await Deno.remove(next).catch(() => {});
  }
}

/** Null: no gateway has saved a catalog here, or it cannot be read. */
export function readSnapshot(file: string): ModelSummary[] | null {
  return read(file);
}

function read<Row>(file: string): Row[] | null {
  try {
    // Read at the start, where starting a thread for it would take longer.
    const value: unknown = JSON.parse(Deno.readTextFileSync(file));
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
