/** What seals reasoning on its way through callers, with a secret that the nodes share. */
import { hmacSha256 } from "../exchange/hashes.ts";
import type { Config } from "../config/schema.ts";
import { type LateSealer, lateSealer, sealer } from "../pipeline/seal.ts";
import { type Store, StoreUnavailable } from "../store/mod.ts";

/** Seals with a secret that is the same on every node and after a restart; while the store is away, for this process. */
export async function openSealer(
  config: Config,
  store: Store,
  log: (line: string) => void,
): Promise<LateSealer> {
  const made = () => crypto.randomUUID() + crypto.randomUUID();
  const keyOf = (secret: string) => hmacSha256(secret, "seal");
  const shared = async () => keyOf(config.store.pepper ?? await store.shared("seal", made));
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
