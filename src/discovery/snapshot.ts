/** The catalog that a gateway serves, kept beside its lists, so that a command can say what would change. */
import type { Model } from "../models/catalog.ts";
import { type ModelSummary, summaryOf } from "../models/summary.ts";

export async function saveSnapshot(file: string, models: readonly Model[], now: number): Promise<void> {
  const next = `${file}.${crypto.randomUUID().slice(0, 8)}`;
  try {
    await Deno.writeTextFile(next, JSON.stringify(models.map((model) => summaryOf(model, now))), {
      mode: 0o600,
    });
    await Deno.rename(next, file);
  } catch {
    // A command then knows of no running catalog, which it says.
    await Deno.remove(next).catch(() => {});
  }
}

/** Null: no gateway has served from here, or what it left cannot be read. */
export async function readSnapshot(file: string): Promise<ModelSummary[] | null> {
  try {
    const value: unknown = JSON.parse(await Deno.readTextFile(file));
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
