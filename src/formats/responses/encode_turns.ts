/**
 * Encodes turns as `input`.
 *
 * An API of this format rejects a result without its call, a call without its result, and reasoning "without
 * its required following item". So the first becomes text, the second gets a placeholder result, and the
 * third is omitted. Reasoning is sent only with the proof issued by this API, or as plain reasoning text that
 * it wrote.
 */
import { distinctCalls } from "../../exchange/call_ids.ts";
import { breakpointOf } from "../cache_mark.ts";
import { array, type Loose, string } from "../../exchange/json.ts";
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
import { failedText, saysFailed } from "../failed_text.ts";
import { legalCallId, legalItemId, LONGEST_ID } from "./encode_ids.ts";
import { encodeParts } from "./encode_content.ts";
import { provenFields } from "./proofs.ts";

interface Replay {
  /** Leading system text; undefined: none. */
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
  // The API requires input; others accept only system text.
  return input.length === 0 && text
    ? { instructions: undefined, input: [{ role: "user", content: text }] }
    : { instructions: text, input };
}

/** Blocks of a system prompt are separated by an empty line in plain text. */
function systemText(turn: Turn): string {
  return turn.content.map((c) => c.type === "text" ? c.text : "").filter((t) => t !== "").join("\n\n");
}

class ItemWriter {
  readonly items: Loose[] = [];
  readonly #own: boolean;
  /**
   * Images and files of the assistant: the API accepts them from the user only, so they are added to the next
   * user message.
   */
  #made: Content[] = [];
  /** Whether the call with an id is of a custom tool. */
  readonly #calls = new Map<string, boolean>();
  /** Ids of calls that have a result. */
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
    // Other user content follows the results, which must be directly after their calls.
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
        // A generated image is a separate item.
        const item = c.type === "image" ? extraOf(c.extra, "responses") : undefined;
        if (item) this.items.push(item);
        else this.#made.push(c);
      } else if (c.type !== "result") words.push(c);
    }
    say();
    if (turn.content.length === 0 && this.#own) this.#message(turn, []);
  }

  /** All items, after every turn was written. */
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
    // With an id it is an output item, which requires a type.
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
    // The types allow a result without its call, which OpenAI accepts.
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
      output = failedText("");
    } else if (onlyText && (c.plain || !(this.#own || c.content.some((part) => breakpointOf(part.extra))))) {
      const text = c.content.map((part) => part.type === "text" ? part.text : "").join("\n");
      output = c.isError ? failedText(text) : text;
    } else {
      const parts = encodeParts(c.content, "input", this.#own);
      const marked = c.isError && !saysFailed(string(parts[0]?.text) ?? "");
      output = marked ? [{ type: "input_text", text: "Error:" }, ...parts] : parts.length > 0 ? parts : "";
    }
    const type = this.#calls.get(c.callId) ? "custom_tool_call_output" : "function_call_output";
    return { ...extraOf(c.extra, "responses"), type, call_id: c.callId, output };
  }

  /** An opaque item. One that is a call may have a result like any other call. */
  #opaque(value: Loose): void {
    this.items.push(value);
    const called = string(value.call_id);
    if (called !== undefined && string(value.type)?.endsWith("_output") !== true) {
      this.#calls.set(called, false);
    }
  }

  #reasoning(c: ReasoningContent): void {
    const extra = extraOf(c.extra, "responses");
    const proof = c.proof?.api === "responses" ? c.proof : undefined;
    const proven = proof && provenFields(proof);
    const open = c.proof === undefined && c.kind === "text" && extra !== undefined && c.sections.length > 0;
    if (!proof && !open) return;
    const wire: Loose = { ...extra, type: "reasoning", summary: extra?.summary ?? [] };
    const id = proof?.id ?? extra?.id;
    if (typeof id === "string") wire.id = id;
    // OpenAI rejects text beside encrypted content; other formats do not distinguish text and summary.
    const signed = proven?.signature !== undefined;
    if (c.kind === "text" && (open || extra !== undefined || signed)) {
      wire.content = c.sections.map((text) => ({ type: "reasoning_text", text }));
    } else wire.summary = c.sections.map((text) => ({ type: "summary_text", text }));
    this.items.push({ ...wire, encrypted_content: null, ...proven });
  }
}

/**
 * Encrypted reasoning belongs to the text or call after it, and is rejected if that is missing. Several in a
 * row, from models that think in steps or between searches, belong to the same text.
 *
 * With its id, OpenAI requires the original item after it: "reasoning was provided without its required
 * following item". Without an id it accepts any, so the id is omitted before items without an id of their
 * own, and before other reasoning.
 *
 * A proof that came with the last event of an answer follows the output that it belongs to, without text.
 */
function withoutLoneReasoning(items: readonly Loose[]): Loose[] {
  const kept: Loose[] = [];
  let followed = false;
  let late: Loose | undefined;
  const putLate = () => {
    if (late && followed) {
      delete late.id;
      kept.push(late);
    }
    late = undefined;
  };
  for (let i = items.length - 1; i >= 0; i--) {
    const item = items[i];
    if (!isOutput(item)) putLate();
    if (item.type !== "reasoning") followed = isOutput(item);
    else if (item.encrypted_content !== null) {
      if (!followed) {
        if (array(item.summary).length === 0) late = item;
        continue;
      }
      const next = kept.at(-1)!;
      if (next.type === "reasoning" || (next.role !== undefined && next.id === undefined)) delete item.id;
    }
    kept.push(item);
  }
  putLate();
  return kept.reverse();
}

function isMedia(c: Content): c is ImageContent | DocumentContent | AudioContent {
  return c.type === "image" || c.type === "document" || c.type === "audio";
}

function isOutput(item: Loose): boolean {
  const type = item.type ?? "message";
  if (type === "message") return item.role === "assistant";
  return string(type)?.endsWith("_output") !== true && type !== "additional_tools";
}
