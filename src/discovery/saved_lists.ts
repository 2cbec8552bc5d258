/** The file that keeps lists of models between two starts. */
import { isObject } from "../exchange/json.ts";
import type { Listed } from "../models/discovered/merge.ts";

export interface SavedList {
  provider: string;
  /** The base URL that it came from: another server may have other models. */
  address: string;
  /** Milliseconds since the epoch. */
  at: number;
  models: readonly Listed[];
}

/** The content of the file. */
export function encodeLists(lists: readonly SavedList[]): string {
  return JSON.stringify({ version: 1, lists });
}

/** Invalid entries are ignored: the file may be damaged or of another version. */
export function decodeLists(text: string): SavedList[] {
  const value: unknown = JSON.parse(text);
  const lists = isObject(value) && value.version === 1 && Array.isArray(value.lists) ? value.lists : [];
  return lists.filter((list): list is SavedList =>
    isObject(list) && typeof list.provider === "string" && typeof list.address === "string" &&
    typeof list.at === "number" && Array.isArray(list.models) &&
    list.models.every((model: unknown) => isObject(model) && typeof model.id === "string")
  );
}
