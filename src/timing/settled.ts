/** Gives a promise that is about to resolve the time for it. Answers whether it did, or failed. */
export async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  promise.then(() => done = true, () => done = true);
  for (let i = 0; i < 4 && !done; i++) await undefined;
  return done;
}
