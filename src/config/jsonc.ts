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
    const root = readJsonText(text, wrong);
    if (wrong.length === 0 && root) return build(root, env);
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

function build(root: JsonNode, env: Env): Parsed {
  const parsed: Parsed = { value: undefined, mistakes: [], warnings: [], written: new Map() };
  parsed.value = valueOf(root, [], env, parsed);
  return parsed;
}

function valueOf(node: JsonNode, path: InputPath, env: Env, parsed: Parsed): unknown {
  if (node.type === "array") return node.items.map((item, i) => valueOf(item, [...path, i], env, parsed));
  if (node.type === "value") {
    return typeof node.value === "string" ? substitute(node.value, path, env, parsed) : node.value;
  }
  const fields = new Map<string, unknown>();
  for (const { name, value } of node.fields) {
    const at = [...path, name];
    if (fields.has(name)) {
      parsed.mistakes.push({ path: pathText(at), message: "expected once, got the same name again" });
    }
    fields.set(name, valueOf(value, at, env, parsed));
  }
  return Object.fromEntries(fields);
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
