/** In how many JSON strings, each in the one around it, a text stands that comes in pieces. */

/** How JSON begins, blanks left out, perhaps behind the mark of a block of code; and what may become that. */
const OPENING = /^(?:```(?:json)?)?(?:\{["}]|\[["{[\]\d-])$/i;
const MAY_OPEN = /^(?:`{1,3}|```j(?:s(?:on?)?)?|(?:```(?:json)?)?[{[])$/i;
/** Strings in strings beyond this count as plain text. */
const DEEPEST = 4;

const NAMED = new Map([["n", "\n"], ["r", "\r"], ["t", "\t"], ["b", "\b"], ["f", "\f"]]);

export class JsonNesting {
  /** What the text begins with, until it is known whether it is JSON; null: that is known. */
  #head: string | null;
  #isJson: boolean;
  /** Of an escape in a string: what came of it behind its backslash. Null: none is open. */
  #escape: string | null = null;
  /** Of the string that is open; null: none is. */
  #inner: JsonNesting | null = null;
  readonly #depth: number;
  readonly #known: boolean;
  /** Objects and lists that are open. */
  #brackets = 0;

  /** @param known the text is JSON however it begins; else it is if it begins so */
  constructor(known: boolean, depth = 0) {
    this.#known = known;
    this.#isJson = known;
    this.#head = known ? null : "";
    this.#depth = depth;
  }

  /** Strings that are open where the text ends so far. */
  get open(): number {
    return this.#inner === null ? 0 : 1 + this.#inner.open;
  }

  read(text: string): void {
    for (let i = 0; i < text.length && (this.#isJson || this.#head !== null); i++) this.#take(text[i]);
  }

  #take(unit: string): void {
    if (this.#head !== null) this.#begin(unit);
    else if (!this.#isJson) return;
    else if (this.#inner === null) {
      if (unit === '"') this.#inner = new JsonNesting(false, this.#depth + 1);
      else if (unit === "{" || unit === "[") this.#brackets++;
      else if (unit === "}" || unit === "]") this.#close();
    } else if (this.#escape !== null) {
      this.#escape += unit;
      if (this.#escape[0] === "u" && this.#escape.length < 5) return;
      const [kind] = this.#escape;
      const says = kind === "u"
        ? String.fromCharCode(parseInt(this.#escape.slice(1), 16))
        : NAMED.get(kind) ?? kind;
      this.#escape = null;
      this.#inner.read(says);
    } else if (unit === "\\") this.#escape = "";
    else if (unit === '"') this.#inner = null;
    else this.#inner.read(unit);
  }

  #begin(unit: string): void {
    if (/\s/.test(unit)) return;
    this.#head += unit;
    if (OPENING.test(this.#head!) && this.#depth < DEEPEST) {
      this.#brackets = this.#head!.replace(/[^{[]/g, "").length;
      this.#head = null;
      this.#isJson = true;
      if (unit === '"' || unit === "}" || unit === "]") this.#take(unit);
    } else if (!MAY_OPEN.test(this.#head!)) this.#head = null;
  }

  /** Behind a whole value stands another one, or text in which quotes open nothing. */
  #close(): void {
    if (--this.#brackets > 0 || this.#known) return;
    this.#isJson = false;
    this.#head = "";
  }
}
