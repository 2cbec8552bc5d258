/**
 * What tells that calls belong to one conversation, as far as the prompt caches of providers are concerned: who asks, which
 * model, and how the prompt begins. A caller who groups requests with a cache key says it better.
 */
import type { Turn } from "../exchange/prompt.ts";
import type { Call } from "./call.ts";

/** Of each of the first texts: more of a long system prompt tells no more, and takes time. */
const READ_CHARS = 1024;

/** Null: every route of the model is as good as another. */
export function conversationOf({ arrival, prompt, model }: Call): string | null {
  // By price or latency the order is another than the weights make.
  if ((model.order ?? "written") !== "written") return null;
  if (!model.stickyCache || !model.routes.some(({ weight }) => weight !== null)) return null;
  const beginning = prompt.cacheKey ?? firstTexts(prompt.turns);
  return `${arrival.key.id}\0${model.id}\0${beginning}`;
}

/** The beginning of the conversation up to its first turn of the user: later turns only add to it. */
function firstTexts(turns: readonly Turn[]): string {
  let texts = "";
  for (const { role, content } of turns) {
    for (const piece of content) {
      if (piece.type === "text") texts += `${role}\0${piece.text.slice(0, READ_CHARS)}\0`;
      if (texts.length > 4 * READ_CHARS) return texts;
    }
    if (role === "user") break;
  }
  return texts;
}
