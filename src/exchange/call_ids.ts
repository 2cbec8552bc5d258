/**
 * Ids of calls that no two calls share. Providers number the calls of each answer anew, and some give the calls of one
 * answer a single id; most APIs refuse such a history, or pair its results wrongly.
 */
import type { Content, Turn } from "./prompt.ts";
import { UnusedNames } from "./unused_names.ts";

export interface CallIdRules {
  /** The id as the API takes it. */
  legal(id: string): string;
  /** Most characters that the API takes. */
  longest?: number;
  /** An id may come again once its call has its result: the API pairs calls and results turn by turn. */
  again?: boolean;
}

/** Calls of one id that wait for their results, of one of the assistant's rows of turns. */
interface Waiting {
  run: number;
  ids: string[];
  /** The first that still waits: taking it from the list would move all that follow. */
  next: number;
}

/**
 * The same turns with such ids. A result goes to the first call of its id that has none, in the assistant's latest row of
 * turns that has one: a call of long ago may have been given up.
 */
export function distinctCalls(turns: Turn[], rules: CallIdRules): Turn[] {
  const { legal, longest, again = false } = rules;
  const originals: string[] = [];
  for (const turn of turns) for (const c of turn.content) if (c.type === "call") originals.push(c.id);
  if (originals.length === 0) return turns;
  const wanted = originals.map(legal);
  if (new Set(wanted).size === wanted.length && wanted.every((id, i) => id === originals[i])) return turns;

  const taken = new Set<string>();
  const spare = new UnusedNames(wanted, longest);
  const waiting = new Map<string, Waiting[]>();
  const latest = new Map<string, string>();
  let run = 0;
  const rowsOf = (id: string): Waiting[] => {
    const rows = waiting.get(id) ?? [];
    while (rows.length > 0 && rows[rows.length - 1].next === rows[rows.length - 1].ids.length) rows.pop();
    return rows;
  };
  const call = (id: string): string => {
    const rows = rowsOf(id);
    const own = legal(id);
    const free = !taken.has(own) || (again && rows.length === 0 && latest.get(id) === own);
    const given = free ? own : spare.take(own);
    taken.add(given);
    const last = rows.at(-1);
    if (last?.run === run) last.ids.push(given);
    else rows.push({ run, ids: [given], next: 0 });
    waiting.set(id, rows);
    latest.set(id, given);
    return given;
  };
  const answer = (id: string): string | undefined => {
    const last = rowsOf(id).at(-1);
    return last ? last.ids[last.next++] : latest.get(id);
  };
  let speaks = false;
  return turns.map((turn) => {
    if (turn.role === "assistant" && !speaks) run++;
    speaks = turn.role === "assistant";
    let changed = false;
    const content = turn.content.map((c): Content => {
      if (c.type === "call") {
        const id = call(c.id);
        if (id === c.id) return c;
        changed = true;
        return { ...c, id };
      }
      if (c.type !== "result") return c;
      const callId = answer(c.callId);
      if (callId === undefined || callId === c.callId) return c;
      changed = true;
      return { ...c, callId };
    });
    return changed ? { ...turn, content } : turn;
  });
}
