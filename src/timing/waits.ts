/** Waits: for a time, for a time that an end cuts short, for a promise that is about to resolve. */

/** Waits so many milliseconds; 0: until what has come meanwhile has had its turn. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits so many milliseconds, or until the signal is aborted, and leaves nothing on the signal. */
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

/** Gives a promise that is about to resolve the time for it. Answers whether it did, or failed. */
export async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  promise.then(() => done = true, () => done = true);
  for (let i = 0; i < 4 && !done; i++) await undefined;
  return done;
}
