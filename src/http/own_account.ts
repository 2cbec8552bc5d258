/** What a key may know of itself: `GET /v1/key` and `GET /v1/generations/{id}`. */
import type { Administration } from "../accounts/administration.ts";
import type { Key } from "../accounts/mod.ts";
import { nameIn } from "./path.ts";

export function isOwnAccount(path: string): boolean {
  return path === "/v1/key" || path.startsWith("/v1/generations/");
}

export async function ownAccount(path: string, key: Key, accounts: Administration): Promise<unknown> {
  if (path === "/v1/key") return await accounts.keyStatus(key);
  return await accounts.generation(nameIn(path.slice("/v1/generations/".length)), { owner: key });
}
