/**
 * Identifies the conversation of a call, for the providers' prompt caches: key, model, and the cache key that the
 * caller sets, else its session, else the start of the prompt. All conversations of an agent's session begin with the
 * same instructions and tools, so they share a part of the cache.
 */
import type { Turn } from "../exchange/prompt.ts";
import { withoutNote } from "../formats/billing_note.ts";
import type { Call } from "./call.ts";

/** Characters used of each of the first texts: more would cost time without improving the result. */
const READ_CHARS = 1024;

/**
 * Providers cache no prompt of fewer than 1,024 tokens, and a token has at least one character. The calls with shorter
 * prompts share the load by the weights alone, however often one of them is repeated.
 */
const LEAST_CACHED_CHARS = 1024;

/** Null: routes of the model are not chosen by conversation. */
export function conversationOf({ arrival, prompt, model, size, labels }: Call): string | null {
  // With another order, routes are not chosen by their weights.
  if ((model.order ?? "written") !== "written") return null;
  if (!model.stickyCache || !model.routes.some(({ weight }) => weight !== null)) return null;
  const name = prompt.cacheKey ?? labels?.session ?? undefined;
  if (name === undefined && size.chars < LEAST_CACHED_CHARS && size.attachments === 0) return null;
  return `${arrival.key.id}\0${model.id}\0${name ?? firstTexts(prompt.turns)}`;
}

/** The start of the conversation up to its first user turn: later turns are only appended. */
function firstTexts(turns: readonly Turn[]): string {
  let texts = "";
  for (const { role, content } of turns) {
    for (const piece of content) {
      if (piece.type === "text") texts += `${role}\0${withoutNote(piece.text.slice(0, READ_CHARS))}\0`;
      if (texts.length > 4 * READ_CHARS) return texts;
    }
    if (role === "user") break;
  }
  return texts;
}
