/** Determines how a request is served: with search rounds, or with several parallel provider calls. */
import type { Prompt, SearchOptions } from "../exchange/prompt.ts";
import type { Model } from "../models/catalog.ts";
import type { Providers } from "../providers/mod.ts";

/** Default and maximum number of searches per request. */
const USUAL_SEARCHES = 10;
const MOST_SEARCHES = 20;
/** Maximum number of rounds without an executed search, after which the answer ends. */
export const MOST_IDLE_ROUNDS = 15;

export interface Shape {
  search: boolean;
  /** Number of parallel provider calls: more than one if several answers are requested and the API supports only one. */
  calls: number;
}

/** Determines whether a call uses search, and the number of parallel provider calls. */
export function shapeOf(prompt: Prompt, model: Model, providers: Providers): Shape {
  const n = prompt.n ?? 1;
  // Any of the routes may answer, so all of them must support it.
  const together = n === 1 ||
    model.routes.every((route) => providers.apiOf(route)?.severalAnswers(prompt.stream, n));
  return { search: wantsSearch(prompt) && model.features.has("tools"), calls: together ? 1 : n };
}

/** The maximum number of searches of a request. */
export function searchLimit({ maxUses = USUAL_SEARCHES, maxCalls = MOST_SEARCHES }: SearchOptions): number {
  return Math.max(0, Math.min(Math.floor(maxUses), maxCalls, MOST_SEARCHES));
}

/** Whether a request is served with search. Not if several choices are requested or no tools are allowed. */
export function wantsSearch(prompt: Prompt): boolean {
  const choice = prompt.toolChoice;
  return prompt.search !== undefined && (prompt.n ?? 1) === 1 && searchLimit(prompt.search) > 0 &&
    choice?.type !== "none" && choice?.type !== "tool";
}

interface Asking {
  key: { readonly repair: boolean };
  header(name: string): string | null;
}

/** Whether arguments of tool calls are repaired, by the key or the request. */
export function repairs({ key, header }: Asking): boolean {
  return key.repair || header("x-svc-repair") === "true";
}
