/** Serializes work: each piece starts after the previous one has ended, successfully or not. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

/**
 * Returns a function that runs `work`, which must not reject. Runs do not overlap, since an earlier run could
 * finish last, with older data. A call while another run is waiting to begin starts no further run.
 */
export function oneByOne(work: () => Promise<void>): () => void {
  const turns = new Turns();
  let waits = false;
  return () => {
    if (waits) return;
    waits = true;
    void turns.run(() => {
      waits = false;
      return work();
    });
  };
}
