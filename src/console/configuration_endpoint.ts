/** Administration endpoint of the configuration. */
import type { Endpoint } from "../http/endpoint.ts";
import { Failure } from "../exchange/failure.ts";
import { jsonBytes } from "../exchange/json_bytes.ts";
import { StoreUnavailable } from "../store/mod.ts";
import { endpoint } from "./operations.ts";

export const CONFIGURATION: readonly Endpoint[] = [
  endpoint(
    "GET",
    "/admin/config",
    "Shows the active configuration without secrets, and the result of the last reload of each process.",
    "RunningConfiguration",
    async ({ state: { operation, kit: { slices } } }) => {
      const { config, defaults } = await operation.configuration();
      const shown = { config, defaults, ...operation.about(), nodes: await others(operation.nodes()) };
      // With a hundred thousand keys it has 60 MB.
      return await slices.run("", jsonBytes(shown), "convert");
    },
    { access: "read" },
  ),
];

/** Null: unknown, because the store is unavailable. */
async function others<T>(nodes: Promise<T>): Promise<T | null> {
  try {
    return await nodes;
  } catch (thrown) {
    if (thrown instanceof StoreUnavailable || thrown instanceof Failure) return null;
    throw thrown;
  }
}
