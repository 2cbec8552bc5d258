/** Tracks, for a streamed text, the number of nested JSON strings at its end. */

/** Beginnings of JSON, without white space, possibly in a code block; and their prefixes. */
const OPENING = /^(?:```(?:json)?)?(?:\{["}]|\[["{[\]\d-])$/i;
const MAY_OPEN = /^(?:`{1,3}|```j(?:s(?:on?)?)?|(?:```(?:json)?)?[{[])$/i;
/** Deeper nested strings count as plain text. */
const DEEPEST = 4;

const NAMED = new Map([["n", "\n"], ["r", "\r"], ["t", "\t"], ["b", "\b"], ["f", "\f"]]);

export class JsonNesting {
  /** The beginning of the text, until it is known whether it is JSON; null: known. */
  #head: string | null;
  #isJson: boolean;
  /** The part read so far of an escape after its backslash. Null: none. */
  #escape: string | null = null;
  /** State of the current string's contents; null: not in a string. */
  #inner: JsonNesting | null = null;
  readonly #depth: number;
  readonly #known: boolean;
  /** Number of open objects and arrays. */
  #brackets = 0;

  /** @param known the text is known to be JSON; otherwise it is detected by its beginning */
  constructor(known: boolean, depth = 0) {
    this.#known = known;
    this.#isJson = known;
    this.#head = known ? null : "";
    this.#depth = depth;
  }

  /** Number of open strings at the end of the text so far. */
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

  /** After a complete value another one may follow, or text in which quotes have no meaning. */
  #close(): void {
    if (--this.#brackets > 0 || this.#known) return;
    this.#isJson = false;
    this.#head = "";
  }
}
