/** The catalog as a key sees it. */
import type { Key } from "../accounts/mod.ts";
import type { ServerState } from "../http/endpoint.ts";
import { isPermitted } from "../models/catalog.ts";
import { pageOf } from "./pages.ts";

/** What the key's models and its team's leave, and whether access policies let it call each of them. */
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
