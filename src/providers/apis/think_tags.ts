/** The API of a provider that writes reasoning between tags of the text. */
import { lazy } from "../../exchange/lazy.ts";
import type { ThinkTags } from "../../formats/think_tags.ts";
import type { ProviderApi } from "./api.ts";

export type { ThinkTags };

/** One object per API and tags, so that APIs can be compared by identity. */
const made = new WeakMap<ProviderApi, Map<string, ProviderApi>>();

/** @param tags absent: the same API */
export function inThinkTags(api: ProviderApi, tags: ThinkTags | undefined): ProviderApi {
  if (tags === undefined) return api;
  const ofApi = made.get(api) ?? new Map<string, ProviderApi>();
  made.set(api, ofApi);
  const key = JSON.stringify(tags);
  let found = ofApi.get(key);
  if (found === undefined) {
    const format = lazy(async () => {
      const { withThinkTags } = await import("../../formats/think_tags.ts");
      return withThinkTags(await api.format.open(), tags);
    });
    found = { ...api, format };
    ofApi.set(key, found);
  }
  return found;
}
