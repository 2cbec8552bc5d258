/**
 * Generates unique names by appending numbers. Each stem remembers its last number: searching anew for each
 * of many equal names would take quadratic time.
 */
export class UnusedNames {
  readonly #taken: Set<string>;
  readonly #next = new Map<string, number>();
  readonly #longest: number;

  /** @param longest maximum length, at least {@link NUMBER_CHARS} */
  constructor(taken: Iterable<string> = [], longest = Infinity) {
    this.#taken = new Set(taken);
    this.#longest = longest;
  }

  /** The name, or a similar one that is unused. It counts as used from here on. */
  take(wanted: string): string {
    let name = wanted.slice(0, this.#longest);
    if (this.#taken.has(name)) {
      // Names that differ only at their truncated ends share a stem, and its number.
      const stem = name.slice(0, this.#longest - NUMBER_CHARS);
      let number = this.#next.get(stem) ?? 2;
      do name = `${stem}_${number++}`; while (this.#taken.has(name));
      this.#next.set(stem, number);
    }
    this.#taken.add(name);
    return name;
  }
}

/** Maximum length of a number and its separator. */
const NUMBER_CHARS = 8;
