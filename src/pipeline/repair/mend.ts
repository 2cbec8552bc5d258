/**
 * Repairs the syntax of tool call arguments that are not valid JSON, or whose values have other types than
 * declared: removes code fences, comments and tokens of a chat template, decodes doubly encoded JSON, corrects
 * quotes, commas and brackets, converts quoted numbers. Values are not changed.
 */
import { Declared, type Kind, kindOf } from "./declared.ts";

/** The text cannot be repaired. */
class Beyond extends Error {}

const FENCE = "```";
const FENCE_BEGINS = /^```[\w-]*[ \t]*/;
/** The number is followed by its sign, its digits and its exponent. Those of JavaScript may begin with a plus or a point. */
const NUMBER = /([+-]?)(0|[1-9]\d*)?(\.\d+)?([eE][+-]?\d+)?/y;
const WHOLE_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER = /^-?(?:0|[1-9]\d*)$/;
/** Literals of JSON, Python and JavaScript. */
const WORDS: Readonly<Record<string, string>> = {
  true: "true",
  True: "true",
  TRUE: "true",
  false: "false",
  False: "false",
  FALSE: "false",
  null: "null",
  None: "null",
  NULL: "null",
  undefined: "null",
};

/** The marks that begin a string, with those that end it. */
const QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", "`": "`", "“": "”“", "„": "“”" };

/** White space and comments. */
const BLANK = /([ \t\n\r]+)|\/\/[^\n]*|#[^\n]*|\/\*[^]*?\*\//y;

/** A special token of a chat template, which models may write at the end of what they say. */
const TOKEN = /^(?:<\|[\w ]{1,40}\|>|<\/s>|<\/?tool_call>)$/;
const LONGEST_TOKEN = 50;

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
  let inner = withoutTokens(text.trim());
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

function withoutTokens(text: string): string {
  let rest = text;
  while (rest.endsWith(">")) {
    const last = rest.slice(-LONGEST_TOKEN);
    const token = last.slice(Math.max(0, last.lastIndexOf("<")));
    if (!TOKEN.test(token)) break;
    rest = rest.slice(0, -token.length).trimEnd();
  }
  return rest;
}

class Mender {
  readonly #text: string;
  readonly #complete: boolean;
  #at = 0;
  /** The brackets that end the open objects and arrays, the innermost last. */
  readonly #closing: string[] = [];

  constructor(text: string, complete: boolean) {
    this.#text = text;
    this.#complete = complete;
  }

  all(declared: Declared): string {
    if (this.#text[0] !== "{") throw new Beyond();
    const mended = this.#value(declared);
    const first = this.#text.slice(0, this.#at);
    // Surplus closing brackets, and the same once more.
    while (this.#at < this.#text.length) {
      if (this.#text.startsWith(first, this.#at)) this.#at += first.length;
      else if (/[\s}\];]/.test(this.#text[this.#at])) this.#at++;
      else throw new Beyond();
    }
    return mended;
  }

  /** Reads white space, which is kept, and comments, which are not. */
  #space(): string {
    let space = "";
    for (;;) {
      BLANK.lastIndex = this.#at;
      const blank = BLANK.exec(this.#text);
      if (blank === null) return space;
      this.#at += blank[0].length;
      space += blank[1] ?? "";
    }
  }

  #value(declared: Declared): string {
    const letter = this.#text[this.#at];
    if (letter === "{" || letter === "[") {
      if (this.#closing.push(letter === "{" ? "}" : "]") > MOST_LEVELS) throw new Beyond();
      const mended = letter === "{" ? this.#object(declared) : this.#array(declared);
      this.#closing.pop();
      return mended;
    }
    if (Object.hasOwn(QUOTES, letter ?? "")) return asDeclared(this.#string(), declared);
    const { word, literal } = this.#number() ?? this.#word();
    if (/[\w.]/.test(this.#text[this.#at + word.length] ?? "")) throw new Beyond();
    this.#at += word.length;
    if (declared.allows(kindOf(JSON.parse(literal))) || !declared.allows("string")) return literal;
    return literal === "null" ? literal : JSON.stringify(literal);
  }

  /** The number that begins here, as it is and in JSON; undefined: there is none. */
  #number(): { word: string; literal: string } | undefined {
    NUMBER.lastIndex = this.#at;
    const [word, sign, digits, fraction = "", exponent = ""] = NUMBER.exec(this.#text)!;
    if (digits === undefined && fraction === "") return undefined;
    return { word, literal: `${sign === "-" ? "-" : ""}${digits ?? "0"}${fraction}${exponent}` };
  }

  #word(): { word: string; literal: string } {
    const word = /^[A-Za-z]{4,9}/.exec(this.#text.slice(this.#at, this.#at + 10))?.[0] ?? "";
    if (!Object.hasOwn(WORDS, word)) throw new Beyond();
    return { word, literal: WORDS[word] };
  }

  #object(declared: Declared): string {
    let out = "{";
    this.#at++;
    for (let first = true;; first = false) {
      let space = this.#space();
      while (this.#text[this.#at] === ",") {
        this.#at++;
        space += this.#space();
      }
      if (this.#ends("}")) return `${out}${space}}`;
      if (!first) out += ",";
      const name = this.#name();
      out += `${space}${name}${this.#space()}`;
      if (this.#text[this.#at] !== ":") throw new Beyond();
      this.#at++;
      out += `:${this.#space()}`;
      const value = this.#value(declared.property(JSON.parse(name)));
      const after = this.#space();
      out += value + after;
      // A name behind white space begins the next member, without a comma.
      if (after === "" || this.#text[this.#at] !== '"') this.#separator("}");
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

  /** Whether the object or array ends here: by its bracket, by that of one around it, or because the text ends. */
  #ends(bracket: string): boolean {
    const letter = this.#text[this.#at];
    if (letter === undefined) return this.#complete;
    if (letter !== bracket) return this.#endsOuter(letter);
    this.#at++;
    return true;
  }

  #endsOuter(letter: string): boolean {
    return this.#closing.lastIndexOf(letter, -2) >= 0;
  }

  /** Reads a comma. Without one, the object or array must end. */
  #separator(bracket: string): void {
    const letter = this.#text[this.#at];
    if (letter === ",") this.#at++;
    else if (letter !== undefined && letter !== bracket && !this.#endsOuter(letter)) throw new Beyond();
    else if (letter === undefined && !this.#complete) throw new Beyond();
  }

  #name(): string {
    const letter = this.#text[this.#at];
    if (Object.hasOwn(QUOTES, letter ?? "")) return JSON.stringify(this.#string());
    const bare = /^[A-Za-z_$][\w$-]*/.exec(this.#text.slice(this.#at, this.#at + 256))?.[0];
    if (bare === undefined) throw new Beyond();
    this.#at += bare.length;
    return JSON.stringify(bare);
  }

  /** Reads a string in quotes of any kind. An unterminated one cannot be repaired: its rest is unknown. */
  #string(): string {
    const ends = QUOTES[this.#text[this.#at]];
    let json = '"';
    for (let i = this.#at + 1; i < this.#text.length; i++) {
      const letter = this.#text[i];
      if (ends.includes(letter)) {
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
