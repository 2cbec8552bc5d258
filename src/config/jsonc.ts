/**
 * JSONC text to a plain value: comments and trailing commas allowed, `"${NAME}"` inside strings replaced from the
 * environment, a field written twice refused.
 *
 * The value is built from the parser's tree and not by its `parse`, because only the tree still has both halves of a field
 * written twice, and because an own field `__proto__` must stay a field.
 */
import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { type InputMistake, type InputPath, pathText, shownInput } from "../schema/mistakes.ts";
import type { Env } from "../providers/presets.ts";
import { ConfigError } from "./config_error.ts";

export type { Env } from "../providers/presets.ts";

export interface Parsed {
  value: unknown;
  mistakes: InputMistake[];
  warnings: string[];
  /** Strings that held a variable, as they stand in the text, by path: what a mistake shows in place of the value. */
  written: Map<string, string>;
}

export function parseJsonc(text: string, env: Env, source: string): Parsed {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text.replace(/^\ufeff/, ""), errors, { allowTrailingComma: true });
    if (errors.length === 0 && root) return build(root, env);
  } catch (error) {
    // Parser and builder recurse; no real configuration comes near the stack's end.
    if (error instanceof RangeError) {
      throw new ConfigError(source, [{ path: "", message: "nested too deeply" }]);
    }
    throw error;
  }
  throw new ConfigError(source, syntaxMistakes(text, errors));
}

/** One a line: what follows the first error of a line is usually its echo. */
function syntaxMistakes(text: string, errors: readonly ParseError[]): InputMistake[] {
  const mistakes = new Map<number, InputMistake>();
  for (const { offset, error } of errors) {
    const before = text.slice(0, offset).split("\n");
    const line = before.length;
    const column = before[line - 1].length + 1;
    const message = printParseErrorCode(error).replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
    if (!mistakes.has(line)) {
      mistakes.set(line, { path: `${line}:${column}`, message: `not JSON: ${message}` });
    }
  }
  return [...mistakes.values()];
}

function build(root: Node, env: Env): Parsed {
  const parsed: Parsed = { value: undefined, mistakes: [], warnings: [], written: new Map() };
  parsed.value = valueOf(root, [], env, parsed);
  return parsed;
}

function valueOf(node: Node, path: InputPath, env: Env, parsed: Parsed): unknown {
  if (node.type === "array") {
    return (node.children ?? []).map((item, i) => valueOf(item, [...path, i], env, parsed));
  }
  if (node.type === "string") return substitute(node.value, path, env, parsed);
  if (node.type !== "object") return node.value;
  const fields = new Map<string, unknown>();
  for (const property of node.children ?? []) {
    const [name, value] = property.children ?? [];
    const at = [...path, name.value];
    if (fields.has(name.value)) {
      parsed.mistakes.push({ path: pathText(at), message: "expected once, got the same name again" });
    }
    fields.set(name.value, valueOf(value, at, env, parsed));
  }
  return Object.fromEntries(fields);
}

function substitute(text: string, path: InputPath, env: Env, parsed: Parsed): string {
  if (!text.includes("${")) return text;
  const at = pathText(path);
  const value = text.replace(/\$\{([^{}]*)\}/g, (whole, name: string) => {
    // `x${2}` is a repetition in a pattern, not a variable.
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
