/**
 * Parses JSON with comments and trailing commas to a tree that keeps duplicate fields, and collects all
 * syntax errors: after an error, parsing continues at the next comma or bracket.
 *
 * Packages for this are CommonJS, for which Deno loads parts of its Node.js compatibility layer: 46 million
 * instructions and 3 MB for a start.
 */

export type JsonNode =
  | { type: "object"; fields: { name: string; value: JsonNode }[] }
  | { type: "array"; items: JsonNode[] }
  | { type: "value"; value: string | number | boolean | null };

export interface SyntaxMistake {
  offset: number;
  what: string;
}

const GAP = /(?:[ \t\r\n]+|\/\/[^\r\n]*|\/\*[^]*?\*\/)*/y;
/** A bracket or separator; a string, possibly unterminated; an unterminated comment; a word; any other character. */
const TOKEN = /[{}[\],:]|"(?:[^"\\\r\n]+|\\[^\r\n])*"?|\/\*[^]*|[^\s{}[\],:"/]+|[^]/y;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const WORDS: Readonly<Record<string, boolean | null>> = {
  __proto__: null!,
  true: true,
  false: false,
  null: null,
};
const END = "";

/** Undefined: there is no value. Errors are appended to `mistakes`. */
export function readJsonText(text: string, mistakes: SyntaxMistake[]): JsonNode | undefined {
  let at = 0;
  let token = END;

  /** Moves to the next token. */
  function advance(): void {
    GAP.lastIndex = at + token.length;
    GAP.test(text);
    at = TOKEN.lastIndex = GAP.lastIndex;
    token = TOKEN.exec(text)?.[0] ?? END;
  }

  function wrong(what: string): void {
    mistakes.push({ offset: at, what });
  }

  /** Moves to where a list can continue. */
  function skip(): void {
    while (token !== END && !",}]".includes(token)) advance();
  }

  function value(): JsonNode | undefined {
    if (token === "{") return { type: "object", fields: members("}", "brace", field) };
    if (token === "[") return { type: "array", items: members("]", "bracket", value) };
    if (token === END || ",:}]".includes(token)) {
      wrong("value expected");
      return undefined;
    }
    const read = token.startsWith('"') ? string() : token in WORDS ? WORDS[token] : number();
    advance();
    return { type: "value", value: read };
  }

  /** The members between two brackets. */
  function members<T>(end: string, name: string, member: () => T | undefined): T[] {
    const read: T[] = [];
    let separated = true;
    advance();
    while (token !== end && token !== END && !(token === "}" || token === "]")) {
      if (token === ",") {
        if (separated) wrong("value expected");
        separated = true;
        advance();
        continue;
      }
      if (!separated) wrong("comma expected");
      separated = false;
      const one = member();
      if (one === undefined) skip();
      else read.push(one);
    }
    if (token === end) advance();
    else wrong(`close ${name} expected`);
    return read;
  }

  function field(): { name: string; value: JsonNode } | undefined {
    if (!token.startsWith('"')) {
      wrong("property name expected");
      return undefined;
    }
    const name = string();
    advance();
    if (token !== ":") {
      wrong("colon expected");
      return undefined;
    }
    advance();
    const read = value();
    return read && { name, value: read };
  }

  function string(): string {
    try {
      return JSON.parse(token);
    } catch {
      const ended = token.length > 1 && /(?<!\\)(?:\\\\)*"$/.test(token.slice(1));
      wrong(ended ? "invalid escape or character in a string" : "unexpected end of string");
      return "";
    }
  }

  function number(): number | null {
    if (NUMBER.test(token)) return Number(token);
    wrong(token.startsWith("/*") ? "unexpected end of comment" : "invalid symbol");
    return null;
  }

  advance();
  const root = value();
  if (mistakes.length === 0 && token !== END) wrong("end of file expected");
  return root;
}
