/** Waits: for a time, for a time with cancellation, for a promise that is about to resolve. */

/** Waits this many milliseconds; 0: until events that have arrived were processed. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits this many milliseconds, or until the signal is aborted. Removes its listener from the signal. */
export function rest(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal.addEventListener("abort", over);
  });
}

/** Waits for a promise, but not longer than this many milliseconds. */
export async function atMost(ms: number, promise: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([promise, rest(ms, over.signal)]);
  } finally {
    over.abort();
  }
}

/** Gives a promise that is about to settle the chance to do so. Returns whether it was fulfilled or rejected. */
export async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  promise.then(() => done = true, () => done = true);
  for (let i = 0; i < 4 && !done; i++) await undefined;
  return done;
}
