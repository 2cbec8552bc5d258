/**
 * Unique ids of tool calls. Some providers number the calls of each answer from the beginning, some give all
 * calls of an answer the same id; most APIs reject such a history, or pair its results wrongly.
 */
import type { Part } from "./part.ts";
import type { Content, Prompt, Turn } from "./prompt.ts";
import { UnusedNames } from "./unused_names.ts";

export interface CallIdRules {
  /** Converts an id to the form that the API accepts. */
  legal(id: string): string;
  /** Maximum length of an id. */
  longest?: number;
  /** An id may be reused once its call has a result: the API pairs calls and results turn by turn. */
  again?: boolean;
}

/** Calls with the same id that wait for their results, in one run of consecutive assistant turns. */
interface Waiting {
  run: number;
  ids: string[];
  /** Index of the first waiting call: removing it would shift the array. */
  next: number;
}

/**
 * The same turns with unique ids. A result belongs to the first call with its id that has no result, in the
 * latest run of assistant turns that has one: an earlier call may have been abandoned.
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

/**
 * Gives calls of an answer ids that no call of the request has, for callers of the messages format: they pair
 * calls and results by ids alone, in the whole conversation. Null: nothing can collide. Stateful: one per answer.
 */
export function newCallIds({ format, turns }: Prompt): ((parts: readonly Part[]) => readonly Part[]) | null {
  if (format !== "messages") return null;
  const earlier = new Set<string>();
  for (const turn of turns) for (const c of turn.content) if (c.type === "call") earlier.add(c.id);
  if (earlier.size === 0) return null;
  /** The new ids by those of the provider. */
  const given = new Map<string, string>();
  let unused: UnusedNames | undefined;
  const idOf = (id: string) => {
    let other = given.get(id);
    if (other === undefined) given.set(id, other = (unused ??= new UnusedNames(earlier)).take(id));
    return other;
  };
  const collides = (part: Part) => part.type === "call-start" && earlier.has(part.id);
  return (parts) => {
    if (given.size === 0 && !parts.some(collides)) return parts;
    return parts.map((part) => {
      const changed = part.type === "call-start" ? { ...part, id: idOf(part.id) } : part;
      if (!("proof" in changed) || changed.proof?.call === undefined) return changed;
      const { proof } = changed;
      return { ...changed, proof: { ...proof, call: given.get(proof.call!) ?? proof.call } };
    });
  };
}
