/**
 * Renders the templates of the Helm chart: as much of Go's templates as they use, and an error for anything else. The chart is to
 * stay that plain.
 */
import { createHash } from "node:crypto";
import { parse, stringify } from "@std/yaml/mod.js";

type Value = unknown;
type Scope = Record<string, Value>;

interface Token {
  text: string;
  /** Between braces. */
  action: boolean;
}

function tokens(source: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  let trimsNext = false;
  for (const match of source.matchAll(/\{\{(-?)\s*(.*?)\s*(-?)\}\}/gs)) {
    let text = source.slice(at, match.index);
    if (trimsNext) text = text.trimStart();
    if (match[1] === "-") text = text.trimEnd();
    found.push({ text, action: false }, { text: match[2], action: true });
    trimsNext = match[3] === "-";
    at = match.index + match[0].length;
  }
  const rest = source.slice(at);
  found.push({ text: trimsNext ? rest.trimStart() : rest, action: false });
  return found;
}

/** What templates take for false. */
function isEmpty(value: Value): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === "") return true;
  return typeof value === "object" && Object.keys(value!).length === 0;
}

const asYaml = (value: Value) => stringify(value, { lineWidth: -1 }).trimEnd();
const indented = (text: string, blanks: number) => text.replaceAll(/^(?=.)/gm, " ".repeat(blanks));

function term(text: string, scope: Scope): Value {
  if (/^".*"$/.test(text)) return JSON.parse(text);
  if (/^\d+$/.test(text)) return Number(text);
  if (text === ".") return scope["."];
  // In parentheses: whatever is missing on the way is nothing.
  const optional = text.startsWith("(");
  if (optional) text = text.replaceAll(/[()]/g, "");
  if (!/^(?:\.\w+)+$/.test(text)) throw new Error(`the test renders no ${text}`);
  let value: Value = scope;
  for (const name of text.slice(1).split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) {
      if (optional) return undefined;
      throw new Error(`nothing is at ${text}`);
    }
    value = (value as Scope)[name];
  }
  return value;
}

function evaluate(expression: string, scope: Scope): Value {
  const [first, ...pipes] = expression.split(/\s*\|\s*/);
  let value = first.startsWith("not ") ? isEmpty(term(first.slice(4), scope)) : term(first, scope);
  for (const pipe of pipes) {
    const [name, argument] = pipe.split(/\s+/);
    if (name === "quote") value = JSON.stringify(String(value));
    else if (name === "toJson") value = JSON.stringify(value);
    else if (name === "toYaml") value = asYaml(value);
    else if (name === "nindent") value = `\n${indented(String(value), Number(argument))}`;
    else if (name === "sha256sum") value = createHash("sha256").update(String(value)).digest("hex");
    else if (name === "default") value = isEmpty(value) ? term(argument, scope) : value;
    else throw new Error(`the test renders no ${name}`);
  }
  return value;
}

/** The text of a template. */
export function render(source: string, scope: Scope): string {
  const all = tokens(source);
  let at = 0;
  /** Up to the `end` or `else` of the block; returns which. */
  function block(inside: Scope, shows: boolean): { text: string; end: string } {
    let text = "";
    while (at < all.length) {
      const { text: part, action } = all[at++];
      if (!action) {
        if (shows) text += part;
      } else if (part === "end" || part === "else") {
        return { text, end: part };
      } else if (part.startsWith("if ")) {
        const holds = shows && !isEmpty(evaluate(part.slice(3), inside));
        const then = block(inside, holds);
        text += then.text;
        if (then.end === "else") text += block(inside, shows && !holds).text;
      } else if (part.startsWith("range ")) {
        const items = shows ? evaluate(part.slice(6), inside) as Value[] : [];
        const from = at;
        block(inside, false);
        const to = at;
        for (const item of items) {
          at = from;
          text += block({ ...inside, ".": item }, true).text;
        }
        at = to;
      } else if (shows) text += String(evaluate(part, inside));
    }
    return { text, end: "" };
  }
  return block(scope, true).text;
}

type Manifest = Record<string, Value> & { kind: string };

/** Every manifest of the chart, by kind. */
export function renderChart(folder: URL, overrides: Record<string, Value>): Record<string, Manifest> {
  const chart = parse(Deno.readTextFileSync(new URL("Chart.yaml", folder))) as Scope;
  const values = parse(Deno.readTextFileSync(new URL("values.yaml", folder))) as Scope;
  const scope = {
    Values: merged(values, overrides),
    Release: { Name: "gateway", Namespace: "default" },
    Chart: { AppVersion: chart.appVersion },
  };
  const manifests: Record<string, Manifest> = {};
  for (const { name } of Deno.readDirSync(new URL("templates/", folder))) {
    const text = render(Deno.readTextFileSync(new URL(`templates/${name}`, folder)), scope);
    if (!name.endsWith(".yaml") || text.trim() === "") continue;
    const manifest = parse(text) as Manifest;
    manifests[manifest.kind] = manifest;
  }
  return manifests;
}

function merged(values: Scope, overrides: Scope): Scope {
  const result: Scope = { ...values };
  for (const [name, value] of Object.entries(overrides)) {
    // As Helm has it: null takes a value away.
    if (value === null) {
      delete result[name];
      continue;
    }
    const before = values[name];
    const both = [before, value].every((side) =>
      typeof side === "object" && side !== null && !Array.isArray(side)
    );
    result[name] = both ? merged(before as Scope, value as Scope) : value;
  }
  return result;
}
