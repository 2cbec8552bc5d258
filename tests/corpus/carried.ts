/**
 * What a request says, read by hand-written rules from the wire alone, the same for a caller's request and for the body
 * that a provider gets. Two such readings are compared by what must be found again.
 */
import { list, text, type Wild, wild } from "./wild.ts";

export type CarriedRole = "system" | "user" | "assistant";

export interface CarriedCall {
  name: string;
  /** Canonical JSON of the arguments, or freeform text. */
  input: string;
  result?: { text: string; isError: boolean };
}

/** The choice among tools in words of no format; names behind `tool:` and `allowed:`. */
export type CarriedChoice = string;

export interface Carried {
  /** In order. */
  words: { role: CarriedRole; text: string }[];
  /** Addresses and base64 bytes, in order. */
  media: string[];
  calls: CarriedCall[];
  /** Results whose call the history does not hold. */
  strays: string[];
  tools: { name: string; schema: string; description: string }[];
  choice?: CarriedChoice;
  /** Asked for JSON: canonical schema, or "" for any. */
  json?: string;
  /** Wishes by the names that chat-completions has for them. */
  wishes: Record<string, unknown>;
  /** Texts and names that carry a cache mark. */
  marks: string[];
}

export function carried(): Carried {
  return { words: [], media: [], calls: [], strays: [], tools: [], wishes: {}, marks: [] };
}

/** JSON with keys in order. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, v) => {
    if (typeof v !== "object" || v === null || Array.isArray(v)) return v;
    return Object.fromEntries(Object.entries(v).sort(([a], [b]) => a < b ? -1 : 1));
  }) ?? "";
}

/** Arguments as an object; text that is none is kept under `input`, as messages and Gemini providers get it. */
export function inputOf(args: unknown): string {
  if (typeof args !== "string") return canonical(args ?? {});
  if (args.trim() === "") return "{}";
  try {
    const value = JSON.parse(args);
    return canonical(
      typeof value === "object" && value !== null && !Array.isArray(value) ? value : { input: value },
    );
  } catch {
    return canonical({ input: args });
  }
}

/** Address or bytes of something attached; `data:` heads are left off. */
export function mediaKey(address: string): string {
  return address.replace(/^data:[^,]*,/, "");
}

/** Gives a result to the first call of its id that has none. */
export class CallBook {
  readonly #open = new Map<string, CarriedCall[]>();

  constructor(private readonly into: Carried) {}

  call(id: string, name: string, input: string): void {
    const call: CarriedCall = { name, input };
    this.into.calls.push(call);
    const open = this.#open.get(id);
    if (open) open.push(call);
    else this.#open.set(id, [call]);
  }

  result(id: string, said: string, isError = false): void {
    const call = this.#open.get(id)?.find((c) => c.result === undefined);
    if (call) call.result = { text: said, isError };
    else this.into.strays.push(said);
  }
}

/** The tools, choices and wishes that a caller may spell in the form of chat-completions, whatever the format. */
export function functionOf(tool: Wild): { name: string; schema: string; description: string } {
  const f = Object.keys(wild(tool.function)).length > 0 ? wild(tool.function) : tool;
  const schema = f.parameters ?? f.input_schema ?? f.parametersJsonSchema;
  return { name: text(f.name), schema: canonical(schema ?? {}), description: text(f.description) };
}

export function marked(into: Carried, block: Wild, what: string): void {
  if (block.cache_control) into.marks.push(what);
}

export function wish(into: Carried, fields: Wild, names: Readonly<Record<string, string>>): void {
  for (const [field, name] of Object.entries(names)) {
    const value = fields[field];
    if (value !== undefined && value !== null) into.wishes[name] = value;
  }
}

export { list, text, wild };
export type { Wild };
