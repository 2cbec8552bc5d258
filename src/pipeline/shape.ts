/** How a request is served: with rounds of search, or by several calls of a provider side by side. */
import type { Prompt } from "../exchange/prompt.ts";
import type { Model } from "../models/catalog.ts";
import type { Providers } from "../providers/mod.ts";
import { wantsSearch } from "./search_loop.ts";

export interface Shape {
  search: boolean;
  /** Calls side by side: more than one where several answers are wanted of an API that gives one. */
  calls: number;
}

export function shapeOf(prompt: Prompt, model: Model, providers: Providers): Shape {
  const n = prompt.n ?? 1;
  // Whichever route answers, it must be able to.
  const together = n === 1 ||
    model.routes.every((route) => providers.apiOf(route)?.severalAnswers(prompt.stream, n));
  return { search: wantsSearch(prompt) && model.features.has("tools"), calls: together ? 1 : n };
}
