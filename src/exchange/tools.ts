/**
 * Converts tools that a provider's API does not support to plain functions, and its calls back.
 *
 * This is needed in three cases. A `namespace` of the responses format contains tools whose names are unique
 * only within it; they get longer names. A custom tool has freeform text as input, and a function may have a
 * schema that an API rejects: both become a function with one string parameter, `input`, which is extracted
 * from the arguments while they are streamed. Names that an API would reject are replaced likewise.
 */
import { isObject, type Loose, parse, string } from "./json.ts";
import type { Part } from "./part.ts";
import {
  type Content,
  type CustomTool,
  type FunctionTool,
  type Prompt,
  type Tool,
  type ToolChoice,
  toolsByName,
  type Turn,
} from "./prompt.ts";
import { UnusedNames } from "./unused_names.ts";

/** What an API supports. */
export interface ToolForms {
  custom: boolean;
  namespaces: boolean;
  /** A name must start with a letter or an underscore. */
  letterFirst?: boolean;
  /** Turns may declare and remove tools, and change settings. */
  history?: boolean;
  /** Tools that the provider runs itself are passed to it under their original names. */
  builtIn?: boolean;
  /** The caller's typed tools are known, all or those of these types: they are not sent as functions. */
  typed?: true | ReadonlySet<unknown>;
  /** Whether a function may have this schema. Absent: every schema is accepted. */
  accepts?(parameters: Loose): boolean;
}

interface Original {
  name: string;
  namespace?: string;
  kind: "function" | "custom";
  /** It stands for a typed tool. */
  typed?: string;
  /** Its input or arguments are the text of one parameter. */
  wrapped?: boolean;
}

/** The original tools by converted name. */
export type ToolNames = ReadonlyMap<string, Original>;

/** Maximum length of names accepted by every API. */
const LONGEST = 64;
const LEGAL = /^[a-zA-Z0-9_-]{1,64}$/;
const LETTER_FIRST = /^[a-zA-Z_]/;

/** Typed tools that the client runs, with their calls and results, as functions for providers that do not know them. */
function withFunctions(prompt: Prompt, { typed }: ToolForms): Prompt {
  if (typed === true) return prompt;
  const isKnown = (type: unknown) => typed !== undefined && typed.has(type);
  const asFunction = (t: Tool) => t.kind === "opaque" && !isKnown(t.value.type) ? t.asFunction : undefined;
  const asContent = (c: Content) => c.type === "opaque" && !isKnown(c.tool) ? c.as : undefined;
  const inTurns = prompt.turns.some(({ content }) => content.some((c) => asContent(c) !== undefined));
  if (!inTurns && !prompt.tools.some((t) => asFunction(t) !== undefined)) return prompt;
  const tools = prompt.tools.map((t): Tool => {
    const made = asFunction(t);
    if (made === undefined) return t;
    return t.declared === undefined ? made : { ...made, declared: t.declared };
  });
  if (!inTurns) return { ...prompt, tools };
  const turns = prompt.turns.map((t) => ({ ...t, content: t.content.map((c) => asContent(c) ?? c) }));
  return { ...prompt, tools, turns };
}

/** The prompt with plain functions only, and the names for converting calls back; null if nothing was converted. */
export function flattenTools(given: Prompt, forms: ToolForms): { prompt: Prompt; names: ToolNames | null } {
  const prompt = withFunctions(forms.history ? given : asAtEnd(given), forms);
  const builtIn = new Set(
    forms.builtIn ? prompt.tools.flatMap((t) => t.kind === "opaque" ? [nameIn(t.value)] : []) : [],
  );
  const refused = refusedFunctions(prompt.tools, forms);
  const isWrapped = (t: Named) =>
    t.kind === "custom" ? !forms.custom : refused.size > 0 && refused.has(keyOf(t));
  const needs = (t: Named) =>
    (t.namespace !== undefined && !forms.namespaces) || t.typed !== undefined || isWrapped(t) ||
    (!LEGAL.test(t.name) && !builtIn.has(t.name)) ||
    (forms.letterFirst === true && !LETTER_FIRST.test(t.name));
  const inTools = prompt.tools.some((t) => t.kind !== "opaque" && needs(t));
  const inTurns = prompt.turns.some((t) =>
    t.content.some((c) =>
      (c.type === "call" && needs(c)) || (c.type === "result" && c.kind === "custom" && !forms.custom)
    )
  );
  if (!inTools && !inTurns) return { prompt, names: null };

  const names = new Map<string, Original>();
  const flatNames = new Map<string, string>();
  const unused = new UnusedNames(
    prompt.tools.flatMap((t) => t.kind !== "opaque" && !needs(t) ? [t.name] : []),
    LONGEST,
  );
  const flat = (called: Original): string => {
    const original = forms.namespaces ? called : withoutOwnNamespace(called, prompt.tools);
    if (!needs(original)) return original.name;
    const key = keyOf(original);
    let name = flatNames.get(key);
    if (name === undefined) {
      name = unused.take(legalName(original, forms));
      flatNames.set(key, name);
      const { namespace, kind, typed } = original;
      const wrapped = isWrapped(original);
      names.set(name, {
        name: original.name,
        namespace,
        kind,
        ...(typed !== undefined && { typed }),
        ...(wrapped && { wrapped }),
      });
    }
    return name;
  };

  const tools = prompt.tools.map((t): Tool => {
    if (t.kind === "opaque") return t;
    const name = flat(t);
    const namespace = forms.namespaces ? t.namespace : undefined;
    return isWrapped(t) ? wrappedTool(t, name, namespace) : { ...t, name, namespace };
  });
  const turns = prompt.turns.map((t): Turn => ({
    ...t,
    content: t.content.map((c) => flatContent(c, { flat, isWrapped }, forms)),
  }));
  return { prompt: { ...prompt, tools, turns, toolChoice: flatChoice(prompt, flat, forms) }, names };
}

/** The provider's name for a tool that it runs: Moonshot uses `$web_search`. */
function nameIn(tool: Loose): unknown {
  return isObject(tool.function) ? tool.function.name : tool.name;
}

/** The prompt with the tools and settings in effect at the end of the conversation, all of them declared at its start. */
function asAtEnd(prompt: Prompt): Prompt {
  if (prompt.atEnd === undefined && !prompt.tools.some((t) => t.declared !== undefined)) return prompt;
  const tools = prompt.tools.filter((t) => t.declared !== "list").map(({ declared: _, ...t }): Tool => t);
  return { ...prompt, ...prompt.atEnd, tools };
}

/** A tool found by tool search is called in a namespace of its own name, and declared without one. */
function withoutOwnNamespace(called: Original, tools: readonly Tool[]): Original {
  if (called.namespace === undefined || called.namespace !== called.name) return called;
  const declared = (namespace: string | undefined) =>
    tools.some((t) => t.kind !== "opaque" && t.name === called.name && t.namespace === namespace);
  return !declared(called.namespace) && declared(undefined) ? { ...called, namespace: undefined } : called;
}

function legalName(original: Original, forms: ToolForms): string {
  const whole = original.namespace !== undefined && !forms.namespaces
    ? `${original.namespace}__${original.name}`
    : original.name;
  const begun = forms.letterFirst && !LETTER_FIRST.test(whole) ? `_${whole}` : whole;
  return begun.slice(0, LONGEST).replace(/[^a-zA-Z0-9_-]/g, "_") || "tool";
}

type Named = Pick<Original, "name" | "namespace" | "kind" | "typed">;

function keyOf({ name, namespace, typed }: { name: string; namespace?: string; typed?: string }): string {
  return `${namespace ?? ""}\n${name}${typed === undefined ? "" : "\n"}`;
}

function refusedFunctions(tools: readonly Tool[], { accepts }: ToolForms): ReadonlySet<string> {
  const refused = new Set<string>();
  if (accepts === undefined) return refused;
  for (const tool of tools) {
    if (tool.kind === "function" && tool.parameters && !accepts(tool.parameters)) refused.add(keyOf(tool));
  }
  return refused;
}

function wrappedTool(
  tool: Exclude<Tool, { kind: "opaque" }>,
  name: string,
  namespace: string | undefined,
): FunctionTool {
  const isFunction = tool.kind === "function";
  return {
    kind: "function",
    name,
    namespace,
    description: `${tool.description ?? ""}${isFunction ? schemaOf(tool) : grammarOf(tool)}`.trim() ||
      undefined,
    parameters: {
      type: "object",
      properties: {
        input: {
          type: "string",
          description: isFunction
            ? "The arguments, as the text of a JSON object."
            : "The whole input of the tool, as plain text.",
        },
      },
      required: ["input"],
      additionalProperties: false,
    },
    ...(isFunction && tool.strict !== undefined && { strict: tool.strict }),
    cache: tool.cache,
    extra: tool.extra,
  };
}

function schemaOf(tool: FunctionTool): string {
  return `\nThe arguments must follow this JSON Schema:\n${JSON.stringify(tool.parameters)}`;
}

/** The definition is in `format`, or nested in it as `grammar`, as in chat-completions. */
function grammarOf({ format }: CustomTool): string {
  if (format?.type !== "grammar") return "";
  const rules = isObject(format.grammar) ? format.grammar : format;
  return `\nThe input must follow this ${string(rules.syntax) ?? ""} grammar:\n${
    string(rules.definition) ?? ""
  }`;
}

interface Flat {
  flat(called: Original): string;
  isWrapped(called: Original): boolean;
}

function flatContent(c: Content, { flat, isWrapped }: Flat, forms: ToolForms): Content {
  if (c.type === "result") return c.kind === "custom" && !forms.custom ? { ...c, kind: "function" } : c;
  if (c.type !== "call") return c;
  const name = flat(c);
  const namespace = forms.namespaces ? c.namespace : undefined;
  if (!isWrapped(c)) return { ...c, name, namespace };
  return { ...c, name, namespace, kind: "function", arguments: JSON.stringify({ input: c.arguments }) };
}

function flatChoice(prompt: Prompt, flat: (o: Original) => string, forms: ToolForms): ToolChoice | undefined {
  const choice = prompt.toolChoice;
  if (choice?.type === "allowed") {
    const known = toolsByName(prompt.tools);
    return {
      ...choice,
      names: choice.names.map((name) => {
        const tool = known.get(name);
        return tool ? flat(tool) : name;
      }),
    };
  }
  if (choice?.type !== "tool") return choice;
  // A `tool_choice` may omit the namespace, and may give another kind of tool.
  const named = (t: Tool) =>
    t.kind !== "opaque" && t.name === choice.name && isTyped(t) === isTyped(choice) &&
    (choice.namespace === undefined || t.namespace === choice.namespace);
  const found = prompt.tools.find(named) as Exclude<Tool, { kind: "opaque" }> | undefined;
  // A typed tool that the provider knows.
  if (found === undefined && choice.typed !== undefined) return choice;
  const tool = found ?? choice;
  const namespace = forms.namespaces ? tool.namespace : undefined;
  return {
    type: "tool",
    kind: forms.custom ? tool.kind : "function",
    name: flat(tool),
    ...(namespace !== undefined && { namespace }),
  };
}

function isTyped(named: object): boolean {
  return "typed" in named && named.typed !== undefined;
}

/** Converts a provider's calls back to calls of the caller's tools. Stateful: one per answer. */
export function restoreTools(names: ToolNames): (parts: readonly Part[]) => readonly Part[] {
  const freeform = new Map<number, InputReader>();
  return (parts) => {
    if (!parts.some((p) => p.type.startsWith("call-"))) return parts;
    const restored: Part[] = [];
    for (const part of parts) {
      if (part.type === "call-start") {
        const original = names.get(part.name);
        if (original?.wrapped) freeform.set(part.block, new InputReader(original.kind));
        if (original === undefined) restored.push(part);
        else {
          const { name, namespace, kind, typed } = original;
          restored.push({ ...part, name, namespace, kind, ...(typed !== undefined && { typed }) });
        }
      } else if (part.type === "call-delta" && freeform.has(part.block)) {
        const text = freeform.get(part.block)!.push(part.text);
        if (text !== "") restored.push({ ...part, text });
      } else if (part.type === "call-end" && freeform.has(part.block)) {
        const text = freeform.get(part.block)!.end();
        freeform.delete(part.block);
        if (text !== "") restored.push({ type: "call-delta", block: part.block, text });
        restored.push(part);
      } else restored.push(part);
    }
    return restored;
  };
}

const OPENING = /^\s*\{\s*"input"\s*:\s*"/;

/** The start of the string must be within this many characters. */
const OPENING_CHARS = 256;

/**
 * Extracts the string in `{"input": "…"}` while its JSON is streamed. Anything else is buffered and parsed at
 * the end.
 */
class InputReader {
  #held = "";
  /** Pieces after a start that does not match. */
  readonly #rest: string[] = [];
  #inside = false;
  #closed = false;
  readonly #kind: Original["kind"];

  constructor(kind: Original["kind"]) {
    this.#kind = kind;
  }

  push(piece: string): string {
    if (this.#closed) return "";
    if (!this.#inside) {
      if (this.#held.length > OPENING_CHARS) {
        this.#rest.push(piece);
        return "";
      }
      this.#held = (this.#held + piece).trimStart();
      const opening = OPENING.exec(this.#held);
      if (!opening) return "";
      this.#inside = true;
      this.#held = this.#held.slice(opening[0].length);
    } else this.#held += piece;
    return this.#take();
  }

  end(): string {
    if (this.#closed) return "";
    if (this.#inside) return decodeEscapes(this.#held) ?? "";
    const whole = this.#held + this.#rest.join("");
    const value = parse(whole, true);
    if (!isObject(value)) return whole;
    // A model may send arguments as they are instead of as text.
    if (this.#kind === "function" && isObject(value.input)) return JSON.stringify(value.input);
    return typeof value.input === "string" ? value.input : whole;
  }

  /** Everything up to the closing quote, or to an escape that may be incomplete. */
  #take(): string {
    const held = this.#held;
    let at = 0;
    while (at < held.length) {
      const code = held.charCodeAt(at);
      if (code === 34) {
        this.#closed = true;
        break;
      }
      if (code !== 92) at++;
      else {
        const length = held[at + 1] === "u" ? 6 : 2;
        if (at + length > held.length) break;
        at += length;
      }
    }
    this.#held = held.slice(at);
    return decodeEscapes(held.slice(0, at)) ?? "";
  }
}

/** Decodes the contents of a JSON string; unescaped control characters are accepted. */
function decodeEscapes(text: string): string | undefined {
  if (!text.includes("\\")) return text;
  const escaped = text.replace(/\p{Cc}/gu, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const value = parse(`"${escaped}"`);
  return typeof value === "string" ? value : undefined;
}
