/**
 * Gives out names that are not taken, with a number behind those that are. Each stem remembers its number: trying all
 * numbers anew for each of many equal names would take the square of their count.
 */
export class UnusedNames {
  readonly #taken: Set<string>;
  readonly #next = new Map<string, number>();
  readonly #longest: number;

  /** @param longest longest name, at least {@link NUMBER_CHARS} */
  constructor(taken: Iterable<string> = [], longest = Infinity) {
    this.#taken = new Set(taken);
    this.#longest = longest;
  }

  /** The name, or the nearest one that nobody has. It is taken from now on. */
  take(wanted: string): string {
    let name = wanted.slice(0, this.#longest);
    if (this.#taken.has(name)) {
      // Names that differ at their ends only share a stem, and so its number.
      const stem = name.slice(0, this.#longest - NUMBER_CHARS);
      let number = this.#next.get(stem) ?? 2;
      do name = `${stem}_${number++}`; while (this.#taken.has(name));
      this.#next.set(stem, number);
    }
    this.#taken.add(name);
    return name;
  }
}

/** What a number and the line before it may take of a name. */
const NUMBER_CHARS = 8;
