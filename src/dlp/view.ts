/**
 * A view: a reading of a text with a position map, so that findings can be reported and masked in the
 * original text. A view may be derived from another view; its map always refers to the original text.
 */

export interface View {
  readonly text: string;
  /** For each unit, start and end of its origin in the original text; absent: the view is the original text. */
  readonly from?: Uint32Array;
  readonly to?: Uint32Array;
}

/** A range of units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A range of a view's text and its replacement. */
export interface Spot extends Span {
  readonly says: string;
}

/** The range in the original text for a range of a view. */
export function sentSpan(view: View, start: number, end: number): { start: number; end: number } {
  return {
    start: view.from ? view.from[start] : start,
    end: view.to ? view.to[end - 1] : end,
  };
}

/** Whether a range of a view, extended by `reach` units on both sides, differs from the original text. */
export function isReread(view: View, start: number, end: number, reach: number): boolean {
  const { from, to } = view;
  if (!from || !to) return true;
  const stop = Math.min(from.length, end + reach);
  for (let i = Math.max(0, start - reach); i < stop; i++) {
    // The separator between windows has no origin, and the units beside it are not adjacent in the original.
    if (from[i] === to[i]) continue;
    if (to[i] - from[i] !== 1) return true;
    if (i + 1 < stop && from[i + 1] !== to[i + 1] && from[i + 1] !== to[i]) return true;
  }
  return false;
}

/** Builds a view that consists of windows of another view, with the origin of each unit. */
export class ViewWriter {
  #texts: string[] = [];
  #n = 0;
  #from = new Uint32Array(1024);
  #to = new Uint32Array(1024);

  constructor(readonly base: View) {}

  #room(more: number): void {
    if (this.#n + more <= this.#from.length) return;
    const size = Math.max(this.#from.length * 2, this.#n + more);
    const [from, to] = [new Uint32Array(size), new Uint32Array(size)];
    from.set(this.#from);
    to.set(this.#to);
    [this.#from, this.#to] = [from, to];
  }

  copy(start: number, end: number): void {
    if (end <= start) return;
    this.#texts.push(this.base.text.slice(start, end));
    this.#room(end - start);
    const { from, to } = this.base;
    let n = this.#n;
    for (let i = start; i < end; i++, n++) {
      this.#from[n] = from ? from[i] : i;
      this.#to[n] = to ? to[i] : i + 1;
    }
    this.#n = n;
  }

  say(spot: Spot): void {
    this.#texts.push(spot.says);
    const length = spot.says.length;
    this.#room(length);
    const { start, end } = sentSpan(this.base, spot.start, spot.end);
    this.#from.fill(start, this.#n, this.#n + length);
    this.#to.fill(end, this.#n, this.#n + length);
    this.#n += length;
  }

  /** Ends a window: an empty line without origin separates it from the next. */
  part(): void {
    if (this.#n === 0) return;
    this.#texts.push("\n\n");
    this.#room(2);
    const last = this.#to[this.#n - 1];
    this.#from.fill(last, this.#n, this.#n + 2);
    this.#to.fill(last, this.#n, this.#n + 2);
    this.#n += 2;
  }

  view(): View {
    return {
      text: this.#texts.join(""),
      from: this.#from.subarray(0, this.#n),
      to: this.#to.subarray(0, this.#n),
    };
  }
}

/** `over` is a reading of `view.text`; returns it with a map to the original text. */
export function compose(view: View, over: View): View {
  const { from, to } = view;
  if (!from || !to || !over.from || !over.to) return from ? { ...over, from, to } : over;
  return {
    text: over.text,
    from: over.from.map((at) => from[at]),
    to: over.to.map((at) => to[at - 1]),
  };
}
