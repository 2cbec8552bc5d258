/**
 * Parses JSONC to a plain value. Comments and trailing commas are allowed, `"${NAME}"` in strings is replaced
 * from the environment, and duplicate fields are errors.
 *
 * A field named `__proto__` becomes an own field.
 */
import { type JsonNode, readJsonText, type SyntaxMistake } from "./json_text.ts";
import { type InputMistake, type InputPath, pathText, shownInput } from "../schema/mistakes.ts";
import type { Env } from "../providers/presets.ts";
import { ConfigError } from "./config_error.ts";

export type { Env } from "../providers/presets.ts";

export interface Parsed {
  value: unknown;
  mistakes: InputMistake[];
  warnings: string[];
  /** Strings that contained a variable, as written in the text, by path: messages show them instead of the value. */
  written: Map<string, string>;
}

/**
 * Never throws: syntax errors are in `mistakes`.
 * @param source names the text in messages
 */
export function parseJsonc(file: string, env: Env, source: string): Parsed {
  const text = file.replace(/^\ufeff/, "");
  const wrong: SyntaxMistake[] = [];
  try {
    const plain = plainJson(text);
    if (plain !== undefined) return build(plain, env, []);
    const mistakes: InputMistake[] = [];
    const root = readJsonText(text, wrong);
    if (wrong.length === 0 && root) return build(valueOf(root, [], mistakes), env, mistakes);
  } catch (error) {
    // Parser and builder are recursive. No real configuration is nested deeply enough to exhaust the stack.
    if (error instanceof RangeError) {
      throw new ConfigError(source, [{ path: "", message: "nested too deeply" }]);
    }
    throw error;
  }
  throw new ConfigError(source, syntaxMistakes(text, wrong));
}

/** One error per line: further errors of a line are usually caused by the first. */
function syntaxMistakes(text: string, wrong: readonly SyntaxMistake[]): InputMistake[] {
  if (text.trim() === "") return [{ path: "", message: "expected an object, got an empty file" }];
  if (YAML.test(text)) {
    return [{ path: "1:1", message: "expected JSON, in which comments may stand, got what looks like YAML" }];
  }
  const mistakes = new Map<number, InputMistake>();
  for (const { offset, what } of wrong) {
    const before = text.slice(0, offset).split("\n");
    const line = before.length;
    const column = before[line - 1].length + 1;
    if (!mistakes.has(line)) {
      mistakes.set(line, { path: `${line}:${column}`, message: `not JSON: ${what}${found(text, offset)}` });
    }
  }
  return [...mistakes.values()];
}

/** A name and a colon, without a bracket before them. */
const YAML = /^(?:\s*(?:#[^\n]*|---[ \t]*)\n)*\s*[A-Za-z_][\w-]*:(?:\s|$)/;

/** Describes the text at an offset by its kind, without showing it: a word may be a secret that lacks its quotes. */
function found(text: string, offset: number): string {
  const sign = text[offset];
  if (sign === undefined) return ", got the end of the file";
  if (/[{}[\],:]/.test(sign)) return `, got ${JSON.stringify(sign)}`;
  if (sign === "'") return ", got a single quote; text stands in double quotes";
  if (sign === "#") return ", got #; a comment begins with //";
  return /[\w$-]/.test(sign) ? ", got a word without double quotes" : "";
}

/**
 * The value of a text without comments, trailing commas and duplicate fields; undefined: it has some, or is not valid. Reads a file with a
 * hundred thousand keys in a third of the time.
 */
function plainJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return fieldsIn(value) === namesIn(text) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function fieldsIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const items = Object.values(value);
  let fields = Array.isArray(value) ? 0 : items.length;
  for (const item of items) fields += fieldsIn(item);
  return fields;
}

/** Number of field names in valid JSON. */
function namesIn(json: string): number {
  let names = 0;
  for (let at = json.indexOf('"'); at >= 0; at = json.indexOf('"', at)) {
    do at = json.indexOf('"', at + 1); while (isEscaped(json, at));
    at++;
    while (" \t\r\n".includes(json[at] ?? ":")) at++;
    if (json[at] === ":") names++;
  }
  return names;
}

/** Whether an odd number of backslashes is before a position. */
function isEscaped(json: string, at: number): boolean {
  let from = at;
  while (json[from - 1] === "\\") from--;
  return (at - from) % 2 === 1;
}

function build(value: unknown, env: Env, mistakes: InputMistake[]): Parsed {
  const parsed: Parsed = { value, mistakes, warnings: [], written: new Map() };
  parsed.value = substituted(value, [], env, parsed);
  return parsed;
}

/** @param path changed meanwhile */
function valueOf(node: JsonNode, path: (string | number)[], mistakes: InputMistake[]): unknown {
  if (node.type === "value") return node.value;
  if (node.type === "array") {
    return node.items.map((item, i) => {
      path.push(i);
      const value = valueOf(item, path, mistakes);
      path.pop();
      return value;
    });
  }
  const fields = new Map<string, unknown>();
  for (const { name, value } of node.fields) {
    path.push(name);
    if (fields.has(name)) {
      mistakes.push({ path: pathText(path), message: "expected once, got the same name again" });
    }
    fields.set(name, valueOf(value, path, mistakes));
    path.pop();
  }
  return Object.fromEntries(fields);
}

/** The same value with the variables of its strings replaced. @param path changed meanwhile */
function substituted(value: unknown, path: (string | number)[], env: Env, parsed: Parsed): unknown {
  if (typeof value === "string") return value.includes("$") ? substitute(value, path, env, parsed) : value;
  if (typeof value !== "object" || value === null) return value;
  const items = value as Record<string | number, unknown>;
  for (const name of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    path.push(name);
    const item = items[name];
    const replaced = substituted(item, path, env, parsed);
    if (replaced !== item) items[name] = replaced;
    path.pop();
  }
  return value;
}

function substitute(text: string, path: InputPath, env: Env, parsed: Parsed): string {
  const at = pathText(path);
  // In other file formats this would be a variable.
  if (/^\$(?:[A-Z][A-Z\d_]*|\{[A-Za-z_]\w*)$/.test(text)) {
    parsed.warnings.push(`${at}: taken as it is written; a variable of the environment is written \${NAME}`);
  }
  if (!text.includes("${")) return text;
  const value = text.replace(/\$\{([^{}]*)\}/g, (whole, name: string) => {
    // `x${2}` is a repetition in a regular expression, not a variable.
    if (/^\d+(?:,\d*)?$/.test(name)) return whole;
    if (!/^[A-Za-z_]\w*$/.test(name)) {
      parsed.mistakes.push({
        path: at,
        message: `expected the name of a variable between \${ and }, got ${shownInput(whole, path)}`,
      });
      return whole;
    }
    const found = env(name);
    if (found === undefined) {
      parsed.mistakes.push({
        path: at,
        message: `expected the environment variable ${name}, which is not set`,
      });
      return whole;
    }
    if (found === "") parsed.warnings.push(`${at}: the environment variable ${name} is empty`);
    return found;
  });
  parsed.written.set(at, text);
  return value;
}
