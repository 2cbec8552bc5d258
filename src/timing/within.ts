/**
 * A bound on how long something may take, in time in which this process ran.
 *
 * A process that stood still, because others had its processor or because it collected garbage, has not looked at what came
 * meanwhile: a timer's time would be over, and what was waited for there. So the time is divided into steps, and what has
 * come is looked at between two of them.
 */
const STEPS = 10;
/** So often what has come is looked at, however late each step is: a process that is late at all of them must not wait on and on. */
export const LOOKS = 3;

/** The work's own end, or a rejection with `late()` when that takes longer than so many milliseconds. */
export async function within<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<never>((_, reject) => {
    let left = ms;
    let looked = performance.now();
    const wait = () => timer = setTimeout(step, Math.min(left, ms / STEPS));
    const step = () => {
      const now = performance.now();
      left -= Math.min(now - looked, ms / LOOKS);
      looked = now;
      // Timers are as exact as that.
      if (left < 1) reject(late());
      else wait();
    };
    wait();
  });
  work.catch(() => {});
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
