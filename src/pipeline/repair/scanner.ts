/**
 * Checks the arguments of a tool call while they are streamed, and finds the first error: they must be JSON,
 * an object, with values of the types that the tool's schema declares. Each character is processed once.
 */
import { Declared, type Kind } from "./declared.ts";

interface Container {
  kind: "object" | "array";
  declared: Declared;
  /** Name of the current member. */
  name: string;
}

type State =
  /** Expects a value; `first`: or the end of an empty array. */
  | "value"
  | "first"
  /** Expects a name; `members`: or the end of an empty object. */
  | "name"
  | "members"
  | "colon"
  | "string"
  | "literal"
  /** After a value: expects a comma, or the end of the enclosing value. */
  | "after"
  /** The whole object has ended. */
  | "over";

const SPACE = /[ \t\n\r]/;
const LITERALS: Readonly<Record<string, Kind>> = { true: "boolean", false: "boolean", null: "null" };
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

export class ArgumentScanner {
  readonly #root: Declared;
  #state: State = "value";
  readonly #open: Container[] = [];
  #read = 0;
  /** The current string or literal. */
  #token = "";
  #isName = false;
  #escape = "";
  #current: Declared;
  /** Start of a comma or an escape that may turn out to be an error. */
  #pending: number | null = null;
  /** Position of the first error; null: none so far. */
  fault: number | null = null;

  constructor(root: Declared) {
    this.#root = root;
    this.#current = root;
  }

  /** Length of the text that is valid whatever follows. */
  get good(): number {
    return this.#pending ?? this.fault ?? this.#read;
  }

  /** Whether everything is valid and complete. */
  get whole(): boolean {
    return this.fault === null && (this.#state === "over" || this.#read === 0);
  }

  push(text: string): void {
    for (let i = 0; i < text.length && this.fault === null; i++) {
      const begins = this.#pending === null;
      if (!this.#take(text[i])) this.fault = this.#read;
      else if (this.#isOpen) this.#pending = begins ? this.#read : this.#pending;
      else this.#pending = null;
      this.#read++;
    }
  }

  /** Whether the last token is valid only with what follows. */
  get #isOpen(): boolean {
    return this.#escape !== "" || this.#state === "name" ||
      (this.#state === "value" && this.#open.at(-1)?.kind === "array");
  }

  #take(letter: string): boolean {
    switch (this.#state) {
      case "string":
        return this.#inString(letter);
      case "literal":
        if (/[-+.\w]/.test(letter)) {
          this.#token += letter;
          return this.#token.length < 400;
        }
        if (!this.#endLiteral()) return false;
        return this.#take(letter);
    }
    if (SPACE.test(letter)) return true;
    switch (this.#state) {
      case "first":
        if (letter === "]") return this.#close("array");
        return this.#begin(letter);
      case "value":
        return this.#begin(letter);
      case "members":
        if (letter === "}") return this.#close("object");
        return this.#beginName(letter);
      case "name":
        return this.#beginName(letter);
      case "colon":
        if (letter !== ":") return false;
        this.#current = this.#open.at(-1)!.declared.property(this.#open.at(-1)!.name);
        this.#state = "value";
        return true;
      case "after": {
        const container = this.#open.at(-1)!;
        if (letter === ",") {
          this.#state = container.kind === "object" ? "name" : "value";
          if (container.kind === "array") this.#current = container.declared.item();
          return true;
        }
        return letter === "}" ? this.#close("object") : letter === "]" && this.#close("array");
      }
      default:
        return false;
    }
  }

  #begin(letter: string): boolean {
    const current = this.#current;
    if (this.#open.length === 0 && letter !== "{") return false;
    if (letter === "{" || letter === "[") {
      const kind = letter === "{" ? "object" : "array";
      if (!current.allows(kind)) return false;
      this.#open.push({ kind, declared: current, name: "" });
      this.#state = kind === "object" ? "members" : "first";
      if (kind === "array") this.#current = current.item();
      return true;
    }
    if (letter === '"') {
      this.#isName = false;
      this.#token = "";
      this.#state = "string";
      return current.allows("string");
    }
    this.#token = letter;
    this.#state = "literal";
    if (/[-\d]/.test(letter)) return current.allows("number");
    if (letter === "n") return true;
    return /[tf]/.test(letter) && current.allows("boolean");
  }

  #beginName(letter: string): boolean {
    this.#isName = true;
    this.#token = "";
    this.#state = "string";
    return letter === '"';
  }

  #inString(letter: string): boolean {
    if (this.#escape !== "") {
      this.#escape += letter;
      if (this.#escape.length === 2) {
        if (!/["\\/bfnrtu]/.test(letter)) return false;
        if (letter === "u") return true;
      } else if (!/[\da-fA-F]/.test(letter)) return false;
      else if (this.#escape.length < 6) return true;
      if (this.#isName) this.#token += JSON.parse(`"${this.#escape}"`);
      this.#escape = "";
      return true;
    }
    if (letter === "\\") {
      this.#escape = letter;
      return true;
    }
    if (letter < " ") return false;
    if (letter !== '"') {
      // The contents of string values are not needed.
      if (this.#isName) this.#token += letter;
      return true;
    }
    if (!this.#isName) return this.#ended();
    this.#open.at(-1)!.name = this.#token;
    this.#state = "colon";
    return true;
  }

  #endLiteral(): boolean {
    const token = this.#token;
    if (Object.hasOwn(LITERALS, token)) return this.#ended();
    if (!NUMBER.test(token)) return false;
    return (!this.#current.whole || this.#current.kinds === null || isWhole(token)) && this.#ended();
  }

  #ended(): boolean {
    this.#state = "after";
    return true;
  }

  #close(kind: Container["kind"]): boolean {
    if (this.#open.at(-1)?.kind !== kind) return false;
    this.#open.pop();
    this.#state = this.#open.length === 0 ? "over" : "after";
    return true;
  }
}

/** `1.0` and `1e3` are integers in JSON Schema. */
function isWhole(token: string): boolean {
  const value = Number(token);
  return Number.isInteger(value) || !Number.isFinite(value);
}
