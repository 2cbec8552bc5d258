/** The catalog as visible to a key. */
import type { Key } from "../accounts/mod.ts";
import type { ServerState } from "../http/endpoint.ts";
import { AUTO, type Catalog, isPermitted } from "../models/catalog.ts";
import { pageOf } from "./pages.ts";

/** The models visible to the key and its team, and whether access policies allow each of them. */
export function modelsOfKey(
  key: Key,
  { kit: { accounts, catalog } }: Pick<ServerState, "kit">,
  page: { limit?: number; cursor?: string },
) {
  const limited = accounts.isLimited(key);
  const seen = catalog.list(key, { limited });
  const { data, next_cursor } = pageOf(seen, page);
  return {
    data: data.map(({ id, name, context_length, max_completion_tokens, pricing, capabilities }) => ({
      id,
      name,
      permitted: id === AUTO ? mayChoose(key, catalog, limited) : isPermitted(key, catalog.find(id)!),
      context_length,
      max_completion_tokens,
      pricing,
      features: capabilities.features,
    })),
    next_cursor,
  };
}

function mayChoose(key: Key, catalog: Catalog, limited: boolean): boolean {
  try {
    return catalog.choices(key, { limited }) !== null;
  } catch {
    return false;
  }
}
