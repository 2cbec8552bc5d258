/** Price versions that this node has sent to the store: each is sent with the first record that refers to it. */
import type { PriceVersion } from "../../store/mod.ts";
import { keptVersion, pricesOfVersion } from "../budgets/money.ts";
import type { OutboxEntry } from "./outbox.ts";

export class SentPrices {
  readonly #sent = new Set<string>();

  /** Prices used by records of the batch that the store may not have. */
  lackingFor(batch: readonly OutboxEntry[]): PriceVersion[] {
    const missing = new Map<string, PriceVersion>();
    let before: { priceVersion: string | null; model: string } | undefined;
    for (const { record: { priceVersion, model } } of batch) {
      // Most records use the same version as the previous one.
      if (before?.priceVersion === priceVersion && before.model === model) continue;
      before = { priceVersion, model };
      for (const named of priceVersion?.split(", ") ?? []) {
        const version = keptVersion(named, model);
        if (this.#sent.has(version) || missing.has(version)) continue;
        const prices = pricesOfVersion(version);
        if (prices !== undefined) missing.set(version, { version, prices });
      }
    }
    return [...missing.values()];
  }

  /** The store was unavailable: a standby that has taken its place may lack what was sent last. */
  forget(): void {
    this.#sent.clear();
  }

  markSent(prices: readonly PriceVersion[]): void {
    for (const { version } of prices) this.#sent.add(version);
  }
}
