/** What seals reasoning on its way through callers, with a secret that the nodes share. */
import { hmacSha256 } from "../exchange/hashes.ts";
import type { Config } from "../config/schema.ts";
import { type LateSealer, lateSealer, sealer } from "../pipeline/seal.ts";
import { type Store, StoreUnavailable } from "../store/mod.ts";

export interface SealerOptions {
  store: Pick<Store, "shared">;
  /** False: the store is away, or a new one that has no tables yet. */
  ready(): boolean;
  log(line: string): void;
}

/** Seals with a secret that is the same on every node and after a restart; while the store is away, for this process. */
export async function openSealer(
  config: { store: Pick<Config["store"], "pepper"> },
  { store, ready, log }: SealerOptions,
): Promise<LateSealer> {
  const made = () => crypto.randomUUID() + crypto.randomUUID();
  const keyOf = (secret: string) => hmacSha256(secret, "seal");
  const shared = async () => {
    const { pepper } = config.store;
    if (pepper === null && !ready()) throw new StoreUnavailable("The store is not ready.");
    return keyOf(pepper ?? await store.shared("seal", made));
  };
  try {
    return { ...sealer(await shared()), close() {} };
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    log(
      "the store is unavailable: until it is back, reasoning sealed by other nodes or before cannot be read",
    );
    return lateSealer(keyOf(made()), shared);
  }
}
