/**
 * Hedged requests: if the first route takes longer than the 95th percentile of its recent calls, the request is also sent to a second
 * route. The first answer is used, and the other call is cancelled.
 */
import type { Providers } from "./mod.ts";
import type { OpenAnswer, Opening } from "./opening.ts";
import type { Route } from "./provider.ts";

/** Parameters of one of the two calls: the signal of its cancellation, and how its requests are made. */
export type OpeningOf<T> = (which: "first" | "second", signal: AbortSignal) => Opening<T>;

export interface HedgeOptions<T> {
  opening: OpeningOf<T>;
  /** Whether the budget suffices for a second call. */
  affords(): Promise<boolean>;
  /** Is called if the slower call had begun to answer when it was cancelled. */
  lost(answer: OpenAnswer<T>): void;
}

/** Sends the request to a second route if the first is slower than usual, and returns the first answer; the other call is cancelled. */
export async function openHedged<T>(
  providers: Providers,
  routes: readonly Route[],
  { opening, affords, lost }: HedgeOptions<T>,
): Promise<OpenAnswer<T> & { which: "first" | "second" }> {
  const ending = { first: new AbortController(), second: new AbortController() };
  const options = opening("first", ending.first.signal);
  const turns = providers.inTurn(routes, options).map((route) => ({ ...route, weight: null }));
  /** Which call tries a route: no route gets both. */
  const taken = new Map<Route, "first" | "second">();
  const open = (which: "first" | "second", from: readonly Route[]) => {
    const claims = (route: Route) => {
      const by = taken.get(route) ?? which;
      taken.set(route, by);
      return by === which;
    };
    return providers.open(from, { ...opening(which, ending[which].signal), order: "written", claims })
      .then((answer) => ({ ...answer, which }));
  };
  const others = () => turns.filter((route) => !taken.has(route));
  const first = open("first", turns);
  // Routes that are out of service have been passed over by now.
  const current = [...taken.keys()].at(-1) ?? turns[0];
  const patience = others().length > 0 ? providers.p95(current, options.stream) : null;
  if (patience === null || await settledWithin(first, patience) || others().length === 0) return await first;
  const settled = first.then(() => false, () => false);
  // The wait for the budget may take longer than the first route.
  if (!await Promise.race([affords(), settled])) return await first;
  const rest = others();
  if (rest.length === 0) return await first;
  const second = open("second", rest);
  try {
    // If both fail, the failure of the first route is more informative.
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

/** Whether a promise settles within some time. */
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
