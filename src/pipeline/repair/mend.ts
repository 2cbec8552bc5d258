/**
 * Repairs the syntax of tool call arguments that are not valid JSON, or whose values have other types than
 * declared: removes code fences, decodes doubly encoded JSON, corrects quotes, commas and brackets, converts
 * quoted numbers. Values are not changed.
 */
import { Declared, type Kind, kindOf } from "./declared.ts";

/** The text cannot be repaired. */
class Beyond extends Error {}

const FENCE = "```";
const FENCE_BEGINS = /^```[\w-]*[ \t]*/;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WHOLE_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER = /^-?(?:0|[1-9]\d*)$/;
/** Literals of JSON, Python and JavaScript. */
const WORDS: Readonly<Record<string, string>> = {
  true: "true",
  True: "true",
  false: "false",
  False: "false",
  null: "null",
  None: "null",
  undefined: "null",
};
const MOST_LEVELS = 200;

/**
 * @param complete the model ended the arguments itself, so that only brackets can be missing at the end
 * @returns JSON of an object; null: cannot be repaired
 */
export function mend(text: string, declared: Declared, { complete }: { complete: boolean }): string | null {
  try {
    const mended = new Mender(bare(text), complete).all(declared);
    JSON.parse(mended);
    return mended;
  } catch {
    return null;
  }
}

/** The text without code fences and the like. */
function bare(text: string): string {
  let inner = text.trim();
  for (let layer = 0; layer < 3; layer++) {
    if (inner.startsWith(FENCE) && inner.endsWith(FENCE) && inner.length >= 2 * FENCE.length) {
      inner = inner.slice(0, -FENCE.length).replace(FENCE_BEGINS, "").trim();
    } else if (inner.startsWith('"')) {
      const value: unknown = JSON.parse(inner);
      if (typeof value !== "string") break;
      inner = value.trim();
    } else break;
  }
  return inner;
}

class Mender {
  readonly #text: string;
  readonly #complete: boolean;
  #at = 0;
  #level = 0;

  constructor(text: string, complete: boolean) {
    this.#text = text;
    this.#complete = complete;
  }

  all(declared: Declared): string {
    if (this.#text[0] !== "{") throw new Beyond();
    const mended = this.#value(declared);
    // Surplus closing brackets.
    while (/[\s}\]]/.test(this.#text[this.#at] ?? "")) this.#at++;
    if (this.#at < this.#text.length) throw new Beyond();
    return mended;
  }

  /** Reads white space unchanged. */
  #space(): string {
    const from = this.#at;
    while (/[ \t\n\r]/.test(this.#text[this.#at] ?? "")) this.#at++;
    return this.#text.slice(from, this.#at);
  }

  #value(declared: Declared): string {
    const letter = this.#text[this.#at];
    if (letter === "{" || letter === "[") {
      if (++this.#level > MOST_LEVELS) throw new Beyond();
      const mended = letter === "{" ? this.#object(declared) : this.#array(declared);
      this.#level--;
      return mended;
    }
    if (letter === '"' || letter === "'") return asDeclared(this.#string(), declared);
    NUMBER.lastIndex = this.#at;
    const number = NUMBER.exec(this.#text)?.[0];
    const word = number ?? /^[A-Za-z]{4,9}/.exec(this.#text.slice(this.#at, this.#at + 10))?.[0] ?? "";
    const literal = number ?? (Object.hasOwn(WORDS, word) ? WORDS[word] : undefined);
    if (literal === undefined || /[\w.]/.test(this.#text[this.#at + word.length] ?? "")) throw new Beyond();
    this.#at += word.length;
    if (declared.allows(kindOf(JSON.parse(literal))) || !declared.allows("string")) return literal;
    return literal === "null" ? literal : JSON.stringify(literal);
  }

  #object(declared: Declared): string {
    let out = "{";
    this.#at++;
    for (let first = true;; first = false) {
      const space = this.#space();
      if (this.#ends("}")) return `${out}${space}}`;
      if (!first) out += ",";
      const name = this.#name();
      out += `${space}${name}${this.#space()}`;
      if (this.#text[this.#at] !== ":") throw new Beyond();
      this.#at++;
      out += `:${this.#space()}`;
      out += this.#value(declared.property(JSON.parse(name))) + this.#space();
      this.#separator("}");
    }
  }

  #array(declared: Declared): string {
    let out = "[";
    this.#at++;
    for (let first = true;; first = false) {
      const space = this.#space();
      if (this.#ends("]")) return `${out}${space}]`;
      if (!first) out += ",";
      out += space + this.#value(declared.item()) + this.#space();
      this.#separator("]");
    }
  }

  /** Whether the object or array ends here: by its bracket, or because the text ends. */
  #ends(bracket: string): boolean {
    if (this.#at === this.#text.length && this.#complete) return true;
    if (this.#text[this.#at] !== bracket) return false;
    this.#at++;
    return true;
  }

  /** Reads a comma. Without one, the object or array must end. */
  #separator(bracket: string): void {
    const letter = this.#text[this.#at];
    if (letter === ",") this.#at++;
    else if (letter !== undefined && letter !== bracket) throw new Beyond();
    else if (letter === undefined && !this.#complete) throw new Beyond();
  }

  #name(): string {
    const letter = this.#text[this.#at];
    if (letter === '"' || letter === "'") return JSON.stringify(this.#string());
    const bare = /^[A-Za-z_$][\w$-]*/.exec(this.#text.slice(this.#at, this.#at + 256))?.[0];
    if (bare === undefined) throw new Beyond();
    this.#at += bare.length;
    return JSON.stringify(bare);
  }

  /** Reads a string in single or double quotes. An unterminated one cannot be repaired: its rest is unknown. */
  #string(): string {
    const quote = this.#text[this.#at];
    let json = '"';
    for (let i = this.#at + 1; i < this.#text.length; i++) {
      const letter = this.#text[i];
      if (letter === quote) {
        this.#at = i + 1;
        return JSON.parse(`${json}"`);
      }
      if (letter === "\\") {
        const next = this.#text[++i] ?? "";
        // An invalid escape sequence is taken literally; an escaped single quote needs no escape.
        json += /["\\/bfnrtu]/.test(next) ? `\\${next}` : next === "'" ? "'" : `\\\\${escaped(next)}`;
      } else json += letter === '"' ? '\\"' : escaped(letter);
    }
    throw new Beyond();
  }
}

function escaped(letter: string): string {
  return letter < " " ? JSON.stringify(letter).slice(1, -1) : letter;
}

/** A string as JSON; or as the declared type, if that is not string and the text is exactly such a value. */
function asDeclared(text: string, declared: Declared): string {
  if (declared.allows("string")) return JSON.stringify(text);
  const inner = text.trim();
  const kinds: readonly [Kind, boolean][] = [
    ["number", (declared.whole ? INTEGER : WHOLE_NUMBER).test(inner)],
    ["boolean", inner === "true" || inner === "false"],
    ["null", inner === "null"],
    ["object", inner.startsWith("{")],
    ["array", inner.startsWith("[")],
  ];
  for (const [kind, fits] of kinds) {
    if (!fits || !declared.allows(kind)) continue;
    // Throws if only the beginning is valid.
    JSON.parse(inner);
    return inner;
  }
  return JSON.stringify(text);
}
