/**
 * Results of tool calls by call id, in the order of the conversation. Ids may repeat in a long conversation
 * (some providers number calls per answer); then calls and results are paired in order.
 */
import type { ResultContent, Turn } from "./prompt.ts";

interface Queue {
  entries: { turn: number; result: ResultContent }[];
  /** Index of the next result to return: removing entries would shift the array. */
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

  /**
   * The next result for this call.
   * @param from index of the first turn to consider; must not decrease
   */
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

  /** Whether the result has been returned. */
  taken(result: ResultContent): boolean {
    return this.#taken.has(result);
  }
}
