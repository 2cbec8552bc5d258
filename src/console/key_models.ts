/** The catalog as visible to a key. */
import type { Key } from "../accounts/mod.ts";
import type { ServerState } from "../http/endpoint.ts";
import { isPermitted } from "../models/catalog.ts";
import { pageOf } from "./pages.ts";

/** The models visible to the key and its team, and whether access policies allow each of them. */
export function modelsOfKey(
  key: Key,
  { kit: { accounts, catalog } }: Pick<ServerState, "kit">,
  page: { limit?: number; cursor?: string },
) {
  const seen = catalog.list(key, { limited: accounts.isLimited(key) });
  const { data, next_cursor } = pageOf(seen, page);
  return {
    data: data.map(({ id, name, context_length, max_completion_tokens, pricing, capabilities }) => ({
      id,
      name,
      permitted: isPermitted(key, id),
      context_length,
      max_completion_tokens,
      pricing,
      features: capabilities.features,
    })),
    next_cursor,
  };
}
