/** Nothing of this process runs for so many milliseconds, as when others have its processor. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Stands still for so long in each turn of the event loop until the work is over. Gives how often. */
export async function standStillUntil(over: Promise<unknown>, ms: number): Promise<number> {
  let stood = 0;
  let ended = false;
  const turn = () => {
    if (ended) return;
    stood++;
    standStill(ms);
    setImmediate(turn);
  };
  setImmediate(turn);
  await over.catch(() => {});
  ended = true;
  return stood;
}
