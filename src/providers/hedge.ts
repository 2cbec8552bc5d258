/**
 * A call that is asked of a second route when the first takes longer than 19 of 20 calls do. Whichever answers first stays; the
 * other one is cancelled.
 */
import type { Providers } from "./mod.ts";
import type { OpenAnswer, Opening } from "./opening.ts";
import type { Route } from "./provider.ts";

/** What one try of the two is told: when it is cancelled, and how its requests are made. */
export type OpeningOf<T> = (which: "first" | "second", signal: AbortSignal) => Opening<T>;

export interface HedgeOptions<T> {
  opening: OpeningOf<T>;
  /** Whether there is money for a second call. */
  affords(): Promise<boolean>;
  /** The slower one had begun to answer when it was cancelled. */
  lost(answer: OpenAnswer<T>): void;
}

/**
 * Asks a second route when the first is slower than usual, and takes whichever answers first; the other is cancelled.
 */
export async function openHedged<T>(
  providers: Providers,
  routes: readonly Route[],
  { opening, affords, lost }: HedgeOptions<T>,
): Promise<OpenAnswer<T> & { which: "first" | "second" }> {
  const ending = { first: new AbortController(), second: new AbortController() };
  const options = opening("first", ending.first.signal);
  const turns = providers.inTurn(routes, options).map((route) => ({ ...route, weight: null }));
  const patience = turns.length > 1 ? providers.p95(turns[0]) : null;
  const open = (which: "first" | "second", from: readonly Route[]) =>
    providers.open(from, { ...opening(which, ending[which].signal), order: "written" })
      .then((answer) => ({ ...answer, which }));
  const first = open("first", turns);
  if (patience === null || await settledWithin(first, patience)) return await first;
  const settled = first.then(() => false, () => false);
  // It may wait for money for longer than the first route takes.
  if (!await Promise.race([affords(), settled])) return await first;
  const second = open("second", turns.slice(1));
  try {
    // Of two failures the first route's says more.
    const winner = await Promise.any([first, second]).catch(() => first);
    const loser = winner.which === "first" ? second : first;
    loser.then((answer) => {
      answer.opened.close();
      lost(answer);
    }, () => {});
    ending[winner.which === "first" ? "second" : "first"].abort();
    return winner;
  } catch (thrown) {
    ending.second.abort();
    throw thrown;
  }
}

/** Whether a promise is settled within some time. */
async function settledWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<false>((resolve) => timer = setTimeout(() => resolve(false), ms));
  const done = promise.then(() => true, () => true);
  try {
    return await Promise.race([done, over]);
  } finally {
    clearTimeout(timer);
  }
}
