/**
 * Converts tools that a provider's API does not support to plain functions, and its calls back.
 *
 * This is needed in two cases. A `namespace` of the responses format contains tools whose names are unique
 * only within it, and a custom tool has freeform text as input. The first gets a longer name; the second
 * becomes a function with one string parameter, `input`, which is extracted from the arguments while they are
 * streamed. Names that an API would reject are replaced likewise.
 */
import { isObject, type Loose, parse, string } from "./json.ts";
import type { Part } from "./part.ts";
import {
  type Content,
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
}

interface Original {
  name: string;
  namespace?: string;
  kind: "function" | "custom";
}

/** The original tools by converted name. */
export type ToolNames = ReadonlyMap<string, Original>;

/** Maximum length of names accepted by every API. */
const LONGEST = 64;
const LEGAL = /^[a-zA-Z0-9_-]{1,64}$/;
const LETTER_FIRST = /^[a-zA-Z_]/;

/** The prompt with plain functions only, and the names for converting calls back; null if nothing was converted. */
export function flattenTools(given: Prompt, forms: ToolForms): { prompt: Prompt; names: ToolNames | null } {
  const prompt = forms.history ? given : asAtEnd(given);
  const builtIn = new Set(
    forms.builtIn ? prompt.tools.flatMap((t) => t.kind === "opaque" ? [nameIn(t.value)] : []) : [],
  );
  const needs = (t: { name: string; namespace?: string; kind: string }) =>
    (t.namespace !== undefined && !forms.namespaces) || (t.kind === "custom" && !forms.custom) ||
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
    const key = `${original.namespace ?? ""}\n${original.name}`;
    let name = flatNames.get(key);
    if (name === undefined) {
      name = unused.take(legalName(original, forms));
      flatNames.set(key, name);
      names.set(name, { name: original.name, namespace: original.namespace, kind: original.kind });
    }
    return name;
  };

  const tools = prompt.tools.map((t): Tool => t.kind === "opaque" ? t : flatTool(t, flat(t), forms));
  const turns = prompt.turns.map((t): Turn => ({
    ...t,
    content: t.content.map((c) => flatContent(c, flat, forms)),
  }));
  return { prompt: { ...prompt, tools, turns, toolChoice: flatChoice(prompt, flat, forms) }, names };
}

/** The provider's name for a tool that it runs: Moonshot uses `$web_search`. */
function nameIn(tool: Loose): unknown {
  return isObject(tool.function) ? tool.function.name : tool.name;
}

/** The prompt with the tools and settings in effect at the end of the conversation. */
function asAtEnd(prompt: Prompt): Prompt {
  if (prompt.atEnd === undefined && !prompt.tools.some((t) => t.declared === "list")) return prompt;
  return { ...prompt, ...prompt.atEnd, tools: prompt.tools.filter((t) => t.declared !== "list") };
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

function flatTool(tool: Exclude<Tool, { kind: "opaque" }>, name: string, forms: ToolForms): Tool {
  const namespace = forms.namespaces ? tool.namespace : undefined;
  if (tool.kind === "function" || forms.custom) return { ...tool, name, namespace };
  // The definition is in `format`, or nested in it as `grammar`, as in chat-completions.
  const rules = isObject(tool.format?.grammar) ? tool.format.grammar : tool.format;
  const grammar = tool.format?.type === "grammar"
    ? `\nThe input must follow this ${string(rules?.syntax) ?? ""} grammar:\n${
      string(rules?.definition) ?? ""
    }`
    : "";
  const wrapped: FunctionTool = {
    kind: "function",
    name,
    namespace,
    description: `${tool.description ?? ""}${grammar}`.trim() || undefined,
    parameters: {
      type: "object",
      properties: { input: { type: "string", description: "The whole input of the tool, as plain text." } },
      required: ["input"],
      additionalProperties: false,
    },
    cache: tool.cache,
    extra: tool.extra,
  };
  return wrapped;
}

function flatContent(c: Content, flat: (o: Original) => string, forms: ToolForms): Content {
  if (c.type === "result") return c.kind === "custom" && !forms.custom ? { ...c, kind: "function" } : c;
  if (c.type !== "call") return c;
  const name = flat(c);
  const namespace = forms.namespaces ? c.namespace : undefined;
  if (c.kind === "function" || forms.custom) return { ...c, name, namespace };
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
    t.kind !== "opaque" && t.name === choice.name &&
    (choice.namespace === undefined || t.namespace === choice.namespace);
  const tool = prompt.tools.find(named) as Exclude<Tool, { kind: "opaque" }> | undefined ?? choice;
  const namespace = forms.namespaces ? tool.namespace : undefined;
  return {
    type: "tool",
    kind: forms.custom ? tool.kind : "function",
    name: flat(tool),
    ...(namespace !== undefined && { namespace }),
  };
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
        if (original?.kind === "custom") freeform.set(part.block, new InputReader());
        restored.push(original ? { ...part, ...original } : part);
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
    const value = parse(whole);
    return isObject(value) && typeof value.input === "string" ? value.input : whole;
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
