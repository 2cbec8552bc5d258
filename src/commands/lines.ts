/** Converts positions in a text to lines and columns, counted from one in UTF-16 units, as editors and compilers do. */

export interface Region {
  line: number;
  column: number;
  end_line: number;
  /** The column after the last unit. */
  end_column: number;
}

export class Lines {
  readonly #starts: number[] = [0];

  constructor(text: string) {
    const breaks = /\r\n|\r|\n/g;
    while (breaks.exec(text)) this.#starts.push(breaks.lastIndex);
  }

  region(start: number, end: number): Region {
    const first = this.#lineOf(start);
    const last = this.#lineOf(Math.max(start, end - 1));
    return {
      line: first + 1,
      column: start - this.#starts[first] + 1,
      end_line: last + 1,
      end_column: end - this.#starts[last] + 1,
    };
  }

  #lineOf(at: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle] <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
