/** Which versions of prices the store has from this node: it gets each with the first record that names it. */
import type { PriceVersion } from "../../store/mod.ts";
import { keptVersion, pricesOfVersion } from "../budgets/money.ts";
import type { OutboxEntry } from "./outbox.ts";

export class SentPrices {
  readonly #told = new Set<string>();

  /** Prices that records of the batch name and the store may not have. */
  lackingFor(batch: readonly OutboxEntry[]): PriceVersion[] {
    const untold = new Map<string, PriceVersion>();
    let before: { priceVersion: string | null; model: string } | undefined;
    for (const { record: { priceVersion, model } } of batch) {
      // Most records name what the one before does.
      if (before?.priceVersion === priceVersion && before.model === model) continue;
      before = { priceVersion, model };
      for (const named of priceVersion?.split(", ") ?? []) {
        const version = keptVersion(named, model);
        if (this.#told.has(version) || untold.has(version)) continue;
        const prices = pricesOfVersion(version);
        if (prices !== undefined) untold.set(version, { version, prices });
      }
    }
    return [...untold.values()];
  }

  told(prices: readonly PriceVersion[]): void {
    for (const { version } of prices) this.#told.add(version);
  }
}
