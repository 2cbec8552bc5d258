/**
 * Turns as the `input` of a provider's request.
 *
 * An API of this format refuses a result whose call it has not seen, a call whose result it has not seen, and reasoning
 * "without its required following item". So the first becomes text, the second gets a word for a result, and the third
 * stays out. Reasoning goes back only with the proof that this API gave for it, or as the open text that it wrote.
 */
import { distinctCalls } from "../../exchange/call_ids.ts";
import { breakpointOf } from "../cache_mark.ts";
import { type Loose, string } from "../../exchange/json.ts";
import {
  type AudioContent,
  type CallContent,
  type Content,
  type DocumentContent,
  extraOf,
  type ImageContent,
  plainText,
  type Prompt,
  type ReasoningContent,
  type ResultContent,
  type Turn,
} from "../../exchange/prompt.ts";
import { legalCallId, legalItemId, LONGEST_ID } from "./encode_ids.ts";
import { encodeParts } from "./encode_content.ts";

interface Replay {
  /** Top system text; undefined when there is none. */
  instructions: string | undefined;
  input: Loose[];
}

export function encodeTurns(prompt: Prompt): Replay {
  const own = prompt.format === "responses";
  const turns = distinctCalls(prompt.turns, { legal: legalCallId, longest: LONGEST_ID, again: own });
  const writer = new ItemWriter(turns, own);
  const instructions: string[] = [];
  for (const turn of turns) {
    if (turn.top && turn.role === "system" && writer.items.length === 0) instructions.push(systemText(turn));
    else writer.write(turn);
  }
  const text = instructions.length > 0 ? instructions.join("\n\n") : undefined;
  const input = withoutLoneReasoning(writer.end());
  // The API answers no request without input, others answer to system text alone.
  return input.length === 0 && text
    ? { instructions: undefined, input: [{ role: "user", content: text }] }
    : { instructions: text, input };
}

/** Blocks of a system prompt have borders that plain text has not; an empty line stands for them. */
function systemText(turn: Turn): string {
  return turn.content.map((c) => c.type === "text" ? c.text : "").filter((t) => t !== "").join("\n\n");
}

class ItemWriter {
  readonly items: Loose[] = [];
  readonly #own: boolean;
  /** Images and files of the assistant: the API takes them from the user only, so the next user's words bring them. */
  #made: Content[] = [];
  /** Whether the call of an id is of a custom tool. */
  readonly #calls = new Map<string, boolean>();
  /** Ids of calls that a result follows. */
  readonly #results = new Set<string>();
  readonly #answered = new Set<string>();

  constructor(turns: readonly Turn[], own: boolean) {
    this.#own = own;
    const calls = new Set<string>();
    for (const turn of turns) {
      for (const c of turn.content) {
        if (c.type === "call") calls.add(c.id);
        else if (c.type === "result" && calls.has(c.callId)) this.#results.add(c.callId);
      }
    }
  }

  write(turn: Turn): void {
    // Whatever a user says beside results comes after them: results stand right behind their calls.
    const results = turn.content.filter((c) => c.type === "result");
    for (const c of results) this.#result(c);
    let words: Content[] = [];
    if (turn.role === "user" && results.length < turn.content.length) words = this.#made.splice(0);
    const say = () => {
      if (words.length > 0) this.#message(turn, words);
      words = [];
    };
    for (const c of turn.content) {
      if (c.type === "call") {
        say();
        this.#call(c);
      } else if (c.type === "reasoning") {
        say();
        this.#reasoning(c);
      } else if (c.type === "opaque") {
        say();
        if (c.format === "responses") this.#opaque(c.value);
      } else if (turn.role === "assistant" && isMedia(c)) {
        say();
        // An image that a model made is an item of its own.
        const item = c.type === "image" ? extraOf(c.extra, "responses") : undefined;
        if (item) this.items.push(item);
        else this.#made.push(c);
      } else if (c.type !== "result") words.push(c);
    }
    say();
    if (turn.content.length === 0 && this.#own) this.#message(turn, []);
  }

  /** All items, once every turn is written. */
  end(): Loose[] {
    if (this.#made.length > 0) this.#message({ role: "user", content: [] }, this.#made.splice(0));
    return this.items;
  }

  #message(turn: Turn, content: readonly Content[]): void {
    const wire: Loose = { ...extraOf(turn.extra, "responses") };
    if (wire.id !== undefined && legalItemId(wire.id, "msg") === undefined) delete wire.id;
    wire.role = turn.role === "system" && turn.developer ? "developer" : turn.role;
    if (turn.name !== undefined && this.#own) wire.name = turn.name;
    const plain = turn.plain && content.every((c) => c.type === "text");
    wire.content = plain
      ? plainText(content)
      : encodeParts(content, turn.role === "assistant" ? "output" : "input", this.#own);
    // An id makes it an output item, which must say its type.
    if (wire.id !== undefined) wire.type = "message";
    this.items.push(wire);
  }

  #call(c: CallContent): void {
    const custom = c.kind === "custom";
    const wire: Loose = { ...extraOf(c.extra, "responses") };
    if (wire.id !== undefined && legalItemId(wire.id, custom ? "ctc" : "fc") === undefined) delete wire.id;
    wire.type = custom ? "custom_tool_call" : "function_call";
    wire.call_id = c.id;
    wire.name = c.name;
    if (c.namespace !== undefined) wire.namespace = c.namespace;
    if (custom) wire.input = c.arguments;
    else wire.arguments = c.arguments === "" ? "{}" : c.arguments;
    this.items.push(wire);
    this.#calls.set(c.id, custom);
    if (!this.#results.has(c.id)) {
      const type = custom ? "custom_tool_call_output" : "function_call_output";
      this.items.push({ type, call_id: c.id, output: "No result was given." });
    }
  }

  #result(c: ResultContent): void {
    // The types let a result come without its call, and OpenAI knows what to make of it.
    if (this.#own && c.callId === "" && !this.#calls.has("")) {
      const { call_id: _, ...wire } = this.#output(c);
      this.items.push({ ...wire, type: "function_call_output" });
      return;
    }
    if (!this.#calls.has(c.callId) || (!this.#own && this.#answered.has(c.callId))) {
      const head = { type: "text", text: `Result of ${c.name ?? "a tool"}:` } as const;
      this.items.push({ role: "user", content: encodeParts([head, ...c.content], "input", this.#own) });
      return;
    }
    this.#answered.add(c.callId);
    this.items.push(this.#output(c));
  }

  #output(c: ResultContent): Loose {
    const onlyText = c.content.every((part) => part.type === "text");
    let output: unknown;
    if (c.isError && onlyText && plainText(c.content).trim() === "") {
      output = "Error: the tool failed and gave no message.";
    } else if (onlyText && (c.plain || !(this.#own || c.content.some((part) => breakpointOf(part.extra))))) {
      const text = c.content.map((part) => part.type === "text" ? part.text : "").join("\n");
      output = c.isError ? `Error: ${text}` : text;
    } else {
      const parts = encodeParts(c.content, "input", this.#own);
      output = c.isError ? [{ type: "input_text", text: "Error:" }, ...parts] : parts.length > 0 ? parts : "";
    }
    const type = this.#calls.get(c.callId) ? "custom_tool_call_output" : "function_call_output";
    return { ...extraOf(c.extra, "responses"), type, call_id: c.callId, output };
  }

  /** An item of a kind without a word. One that calls something may be answered like any other call. */
  #opaque(value: Loose): void {
    this.items.push(value);
    const called = string(value.call_id);
    if (called !== undefined && !String(value.type).endsWith("_output")) this.#calls.set(called, false);
  }

  #reasoning(c: ReasoningContent): void {
    const extra = extraOf(c.extra, "responses");
    const proof = c.proof?.api === "responses" ? c.proof : undefined;
    const open = c.proof === undefined && c.kind === "text" && extra !== undefined && c.sections.length > 0;
    if (!proof && !open) return;
    const wire: Loose = { ...extra, type: "reasoning", summary: extra?.summary ?? [] };
    const id = proof?.id ?? extra?.id;
    if (typeof id === "string") wire.id = id;
    // OpenAI refuses a text beside the encrypted content; other formats have one word for a text and a summary.
    if (c.kind === "text" && (open || extra !== undefined)) {
      wire.content = c.sections.map((text) => ({ type: "reasoning_text", text }));
    } else wire.summary = c.sections.map((text) => ({ type: "summary_text", text }));
    wire.encrypted_content = proof ? proof.data : null;
    this.items.push(wire);
  }
}

/**
 * Sealed reasoning belongs to the words or the call behind it, and is refused where they are gone. Several in a row, as a
 * model gives them that thinks in steps or between searches, belong to the same words.
 *
 * By its id OpenAI asks for the very item that came behind it: "reasoning was provided without its required following
 * item". Without an id it takes any, so the id stays out before words without an id of theirs, and before other reasoning.
 */
function withoutLoneReasoning(items: readonly Loose[]): Loose[] {
  const kept: Loose[] = [];
  let followed = false;
  for (let i = items.length - 1; i >= 0; i--) {
    const item = items[i];
    if (item.type !== "reasoning") followed = isOutput(item);
    else if (item.encrypted_content !== null) {
      if (!followed) continue;
      const next = kept.at(-1)!;
      if (next.type === "reasoning" || (next.role !== undefined && next.id === undefined)) delete item.id;
    }
    kept.push(item);
  }
  return kept.reverse();
}

function isMedia(c: Content): c is ImageContent | DocumentContent | AudioContent {
  return c.type === "image" || c.type === "document" || c.type === "audio";
}

function isOutput(item: Loose): boolean {
  const type = item.type ?? "message";
  if (type === "message") return item.role === "assistant";
  return !String(type).endsWith("_output") && type !== "additional_tools";
}
