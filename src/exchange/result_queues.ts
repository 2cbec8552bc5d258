/**
 * Results of tool calls by the id of their call, in the order of the conversation. Ids may repeat in a long
 * conversation (some providers number calls per answer); then calls and results pair off in order.
 */
import type { ResultContent, Turn } from "./prompt.ts";

interface Queue {
  entries: { turn: number; result: ResultContent }[];
  /** The first entry that is still to be given out: taking it from the list would move all that follow. */
  next: number;
}

export class ResultQueues {
  readonly #byCall = new Map<string, Queue>();
  readonly #taken = new Set<ResultContent>();

  constructor(turns: readonly Turn[]) {
    turns.forEach((t, turn) => {
      for (const result of t.content) {
        if (result.type !== "result") continue;
        const queue = this.#byCall.get(result.callId);
        if (queue) queue.entries.push({ turn, result });
        else this.#byCall.set(result.callId, { entries: [{ turn, result }], next: 0 });
      }
    });
  }

  /** The first result of this call that was not given out. @param from the first turn to look at; never less than before */
  take(callId: string, from = 0): ResultContent | undefined {
    const queue = this.#byCall.get(callId);
    if (!queue) return undefined;
    const { entries } = queue;
    while (queue.next < entries.length && entries[queue.next].turn < from) queue.next++;
    if (queue.next === entries.length) return undefined;
    const { result } = entries[queue.next++];
    this.#taken.add(result);
    return result;
  }

  /** Whether the result was given out. */
  taken(result: ResultContent): boolean {
    return this.#taken.has(result);
  }
}
