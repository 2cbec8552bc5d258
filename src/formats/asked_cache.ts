/**
 * Cache breakpoints for callers that ask for a cached prompt with `prompt_cache_key` alone, as Codex and pi do.
 * OpenAI's caches need no breakpoints; Claude caches nothing without.
 */
import { type Content, marksCache, type Prompt, type Turn } from "../exchange/prompt.ts";

/**
 * A prompt with breakpoints after the system text, which the requests of a key share, and after the last and
 * the last but one message of the user: each turn finds what the one before has written. Unchanged if the
 * caller does not ask, or sets breakpoints itself.
 */
export function withAskedCache(prompt: Prompt): Prompt {
  if (prompt.cacheKey === undefined || prompt.cache || marksCache(prompt)) return prompt;
  const { turns } = prompt;
  const system = turns.findIndex((turn) => turn.role !== "system") - 1;
  const last = lastOfUser(turns, turns.length);
  const before = lastOfUser(turns, turns.findLastIndex((turn, i) => i < last && turn.role === "assistant"));
  const marked = new Set([system, before, last]);
  return { ...prompt, turns: turns.map((turn, i) => marked.has(i) ? withMark(turn) : turn) };
}

/** The last turn of the user before a place; negative: none. */
function lastOfUser(turns: readonly Turn[], end: number): number {
  return turns.findLastIndex((turn, i) => i < end && turn.role === "user");
}

function withMark(turn: Turn): Turn {
  const last = turn.content.findLastIndex(takesMark);
  if (last < 0) return turn;
  return { ...turn, content: turn.content.map((c, i) => i === last ? { ...c, cache: {} } : c) };
}

function takesMark(c: Content): boolean {
  return c.type === "text"
    ? c.text.trim() !== ""
    : c.type === "result" || c.type === "image" || c.type === "document";
}
