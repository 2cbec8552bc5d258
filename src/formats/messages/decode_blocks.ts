/**
 * Decodes blocks of a provider's message, from events or a complete answer.
 *
 * Events belong to blocks by `index`. A second `message_start` is inserted by an intermediary: at the
 * beginning it is ignored; within an open message it joins two answers, and is a failure.
 */
import {
  array,
  isObject,
  type Loose,
  number,
  object,
  parse,
  rest,
  string,
  unread,
} from "../../exchange/json.ts";
import type { Part, SearchHit, UsagePart } from "../../exchange/part.ts";
import type { Extra } from "../../exchange/prompt.ts";
import type { Proof } from "../../exchange/proof.ts";
import { UnusedNames } from "../../exchange/unused_names.ts";
import { calledName } from "../called_name.ts";
import { argumentText, brokenAnswer, decodeLateFailure } from "../failures/decode_failure.ts";
import type { Frame } from "../format.ts";
import { frameValue } from "../wire/frame_value.ts";
import { decodeCitation } from "./citations.ts";
import { decodeFinish } from "./finish.ts";
import { decodeReport, decodeService, mergeUsage } from "./usage.ts";

/** A block between its start and stop. */
type Open =
  | { kind: "text"; block: number }
  | { kind: "reasoning"; block: number; proof?: Proof }
  /** `input`: from the start event. `pieces`: whether argument deltas arrived. */
  | { kind: "call"; block: number; input: unknown; pieces: boolean }
  /**
   * Complete only at its end: a search's query and the input of other server tools are streamed as JSON text.
   * `block`: it is announced.
   */
  | { kind: "search" | "opaque"; value: Loose; input: string; late: string[]; block?: number }
  | { kind: "done" };

const TEXT = new Set(["type", "text", "citations"]);

const THINKING = new Set(["type", "thinking", "signature"]);

const REDACTED = new Set(["type", "data"]);

const CALL = new Set(["type", "id", "name", "input"]);

const SERVER_CALL = new Set(["type", "id", "name", "input"]);

const SEARCH_RESULT = new Set(["type", "tool_use_id"]);

const DELTA = new Set(["type"]);

const EVENT = new Set(["type", "delta", "usage"]);

export class MessageReader {
  stopped = false;
  #started = false;
  #id: unknown;
  #blocks = 0;
  #calls = false;
  readonly #ids = new UnusedNames();
  readonly #open = new Map<unknown, Open>();
  /**
   * Searches without a result so far, by call id. A search becomes one block with query and result. A call
   * without a result (pause, refusal) and a result without a call (the turn after a pause) are kept as they
   * are.
   */
  readonly #searches = new Map<string, { call: Loose; block?: number }>();
  readonly #usage: Loose = {};
  readonly #end: Loose = {};
  /** Fields of the last events themselves. */
  readonly #event: Loose = {};

  push(frame: Frame, out: Part[]): void {
    if (this.stopped || frame.data === "" || frame.data === "[DONE]") return;
    // The input of a call may be complete in its start.
    const event = frameValue(frame, frame.event === "content_block_start");
    if (frame.event === "error") throw decodeLateFailure(event ?? frame.data);
    if (event === undefined) throw brokenAnswer(`a frame of its stream ${unread(frame.data)}`);
    if (!isObject(event)) throw brokenAnswer("a frame is not a JSON object");
    switch (event.type ?? frame.event) {
      case "content_block_delta":
        return this.#delta(this.#place(event.index), object(event.delta), out);
      case "content_block_start":
        return this.openBlock(indexOf(event.index), object(event.content_block), out, true);
      case "content_block_stop":
        return this.closeBlock(this.#place(event.index), out);
      case "message_start":
        return this.#begun(object(event.message), out);
      case "message_delta":
        return this.change(event, out);
      case "message_stop":
        return this.stop(out);
      case "error":
        throw decodeLateFailure(event);
      default:
        if (event.error) throw decodeLateFailure(event);
    }
  }

  /** The index of an event's block. Without an index, it is the block that started last. */
  #place(given: unknown): unknown {
    const index = indexOf(given);
    return typeof index === "number" || this.#open.has(index) ? index : [...this.#open.keys()].at(-1);
  }

  /** A turn that continues a program's tool calls may be complete in its `message_start`. */
  #begun(message: Loose, out: Part[]): void {
    const first = !this.#started;
    this.start(message, out);
    if (!first) return;
    array(message.content).forEach((block, index) => {
      if (!isObject(block)) return;
      this.openBlock(index, block, out);
      this.closeBlock(index, out);
    });
    const { stop_reason, stop_sequence, stop_details, container, context_management } = message;
    this.change({ delta: { stop_reason, stop_sequence, stop_details, container }, context_management }, out);
  }

  start(message: Loose, out: Part[]): void {
    if (this.#started) {
      const repeated = message.id !== undefined && message.id === this.#id;
      if (this.#blocks > 0 && !repeated) throw brokenAnswer("a second answer begins inside the first");
      return;
    }
    this.#started = true;
    this.#id = message.id;
    const model = string(message.model);
    mergeUsage(this.#usage, message.usage);
    const extra = decodeService(this.#usage, message);
    out.push({ type: "start", ...(model !== undefined && { model }), ...(extra && { extra }) });
  }

  /** @param streamed its content follows in deltas */
  openBlock(index: unknown, value: Loose, out: Part[], streamed = false): void {
    if (!this.#started) this.start({}, out);
    // Some servers omit the end of a block, but no text goes on behind the next one.
    for (const [other, { kind }] of this.#open) {
      if (other === index || kind === "text" || kind === "reasoning") this.closeBlock(other, out);
    }
    this.#open.set(index, this.#begin(value, out, streamed));
  }

  #begin(value: Loose, out: Part[], streamed = false): Open {
    switch (value.type) {
      case "text": {
        const block = this.#text(extra(value, TEXT), out);
        for (const raw of array(value.citations)) this.#citation(block, raw, out);
        if (typeof value.text === "string" && value.text !== "") {
          out.push({ type: "text-delta", block, text: value.text });
        }
        return { kind: "text", block };
      }
      case "thinking": {
        const open = this.#reasoning(extra(value, THINKING), out);
        const text = string(value.thinking);
        if (text) out.push({ type: "reasoning-delta", block: open.block, section: 0, text });
        if (value.signature) open.proof = signature(value.signature);
        return open;
      }
      case "redacted_thinking": {
        const open = this.#reasoning(extra(value, REDACTED), out);
        open.proof = { api: "messages", kind: "redacted", data: string(value.data) ?? "" };
        return open;
      }
      case "tool_use": {
        const name = calledName(string(value.name) ?? "");
        if (!name) throw brokenAnswer("a tool call has no name");
        const block = this.#blocks++;
        this.#calls = true;
        const id = this.#ids.take(string(value.id) || `toolu_${block}`);
        out.push({ type: "call-start", block, choice: 0, id, name, kind: "function", ...extra(value, CALL) });
        return { kind: "call", block, input: value.input, pieces: false };
      }
      case "web_search_tool_result":
        this.#searchResult(value, out);
        return { kind: "done" };
      case "server_tool_use":
      case "mcp_tool_use": {
        const kind = value.name === "web_search" && value.type === "server_tool_use" ? "search" : "opaque";
        const block = streamed && !hasInput(value) ? this.#blocks++ : undefined;
        if (block !== undefined) {
          out.push({ type: "live-start", block, choice: 0, format: "messages", value });
        }
        return { kind, value, input: "", late: [], block };
      }
      default:
        // Clients cannot read it either.
        if (typeof value.type !== "string") throw brokenAnswer("a block of it has no type");
        return { kind: "opaque", value, input: "", late: [] };
    }
  }

  #text(own: { extra?: Extra }, out: Part[]): number {
    const block = this.#blocks++;
    out.push({ type: "text-start", block, choice: 0, ...own });
    return block;
  }

  #reasoning(own: { extra?: Extra }, out: Part[]): Extract<Open, { kind: "reasoning" }> {
    const block = this.#blocks++;
    out.push({ type: "reasoning-start", block, choice: 0, kind: "text", ...own });
    return { kind: "reasoning", block };
  }

  #citation(block: number, raw: unknown, out: Part[]): void {
    const citation = decodeCitation(raw);
    if (citation) out.push({ type: "citation", block, citation });
  }

  #searchResult(value: Loose, out: Part[]): void {
    const id = string(value.tool_use_id) ?? "";
    const search = this.#searches.get(id);
    if (!search) return this.#opaque(value, out);
    this.#searches.delete(id);
    const { call, block = this.#blocks++ } = search;
    const query = string(object(call.input).query) ?? "";
    out.push({ type: "search-start", block, choice: 0, id, query, ...extra(call, SERVER_CALL) });
    const failed = !Array.isArray(value.content);
    out.push({
      type: "search-end",
      block,
      hits: array(value.content).filter(isObject).map(hit),
      ...(failed && { failed }),
      ...extra(value, SEARCH_RESULT),
    });
  }

  #delta(index: unknown, delta: Loose, out: Part[]): void {
    let open = this.#open.get(index);
    switch (delta.type) {
      case "text_delta": {
        if (!open) this.#open.set(index, open = this.#begin({ type: "text" }, this.#opened(out)));
        const text = delta.text;
        if (open.kind !== "text" || typeof text !== "string" || text === "") return;
        out.push({ type: "text-delta", block: open.block, text });
        return;
      }
      case "input_json_delta": {
        const piece = argumentText(delta.partial_json);
        if (!open || piece === undefined || piece === "") return;
        if (open.kind === "call") {
          open.pieces = true;
          out.push({ type: "call-delta", block: open.block, text: piece });
        } else if (open.kind === "search" || open.kind === "opaque") {
          open.input += piece;
          if (open.block === undefined) return;
          out.push({ type: "live-delta", block: open.block, event: "input_json_delta", text: piece });
        }
        return;
      }
      case "thinking_delta": {
        if (!open) this.#open.set(index, open = this.#begin({ type: "thinking" }, this.#opened(out)));
        const text = delta.thinking;
        if (open.kind !== "reasoning" || typeof text !== "string") return;
        const estimate = number(delta.estimated_tokens);
        if (estimate !== undefined) {
          out.push({ type: "reasoning-delta", block: open.block, section: 0, text, estimate });
        } else if (text !== "") out.push({ type: "reasoning-delta", block: open.block, section: 0, text });
        return;
      }
      case "signature_delta":
        if (open?.kind === "reasoning") open.proof = signature(delta.signature, open.proof);
        return;
      case "citations_delta":
        if (open?.kind === "text") this.#citation(open.block, delta.citation, out);
        return;
      case "compaction_delta":
        if (open?.kind === "opaque") setLate(open, rest(delta, DELTA) ?? {});
        return;
    }
  }

  /** Some providers omit `message_start`, or the start of a block. */
  #opened(out: Part[]): Part[] {
    if (!this.#started) this.start({}, out);
    return out;
  }

  closeBlock(index: unknown, out: Part[]): void {
    const open = this.#open.get(index);
    if (!open) return;
    this.#open.delete(index);
    switch (open.kind) {
      case "text":
        out.push({ type: "text-end", block: open.block });
        return;
      case "reasoning":
        out.push({ type: "reasoning-end", block: open.block, ...(open.proof && { proof: open.proof }) });
        return;
      case "call":
        // Some providers put the complete input into the start.
        if (!open.pieces) {
          const text = argumentText(open.input) ?? "";
          if (text !== "" && text !== "{}") out.push({ type: "call-delta", block: open.block, text });
        }
        out.push({ type: "call-end", block: open.block });
        return;
      case "search": {
        const { block } = open;
        const call = { ...open.value, input: wholeInput(open) };
        this.#searches.set(string(open.value.id) ?? "", { call, block });
        if (block !== undefined) {
          out.push({ type: "live-event", block, event: "content_block_stop", value: {} });
        }
        return;
      }
      case "opaque":
        if (open.input !== "") setLate(open, { input: wholeInput(open) });
        this.#opaque(open.value, out, open.late, open.block);
    }
  }

  #opaque(value: Loose, out: Part[], late: readonly string[] = [], block = this.#blocks++): void {
    out.push({
      type: "opaque",
      block,
      choice: 0,
      format: "messages",
      value,
      ...(late.length > 0 && { late }),
    });
  }

  /** `message_delta`: end of the message, and cumulative counts. */
  change(event: Loose, out: Part[]): void {
    if (!this.#started) this.start({}, out);
    assign(this.#end, object(event.delta));
    assign(this.#event, rest(event, EVENT) ?? {});
    mergeUsage(this.#usage, event.usage);
  }

  stop(out: Part[]): void {
    if (!this.#started) throw brokenAnswer("it ended before it began");
    this.stopped = true;
    for (const index of [...this.#open.keys()]) this.closeBlock(index, out);
    for (const { call, block } of this.#searches.values()) this.#opaque(call, out, [], block);
    const counted = this.counted();
    if (counted !== null) out.push(counted);
    out.push(decodeFinish(this.#end, this.#event, this.#calls));
  }

  /** The usage so far; null: not reported. */
  counted(): UsagePart | null {
    return decodeReport(this.#usage);
  }
}

function assign(into: Loose, fields: Loose): void {
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined && value !== null) into[key] = value;
  }
}

/** Some servers write numbers as text. */
function indexOf(given: unknown): unknown {
  return typeof given === "string" && /^\d+$/.test(given) ? Number(given) : given;
}

/** Sets fields of a block that arrived after its start: each delta contains them completely. */
function setLate(open: { value: Loose; late: string[] }, fields: Loose): void {
  open.value = { ...open.value, ...fields };
  for (const name of Object.keys(fields)) if (!open.late.includes(name)) open.late.push(name);
}

/** The input is complete in the start of the block. */
function hasInput({ input }: Loose): boolean {
  return isObject(input)
    ? Object.keys(input).length > 0
    : input !== undefined && input !== null && input !== "";
}

function wholeInput(open: { value: Loose; input: string }): unknown {
  return open.input === "" ? open.value.input : parse(open.input) ?? open.input;
}

function hit(raw: Loose): SearchHit {
  return {
    url: string(raw.url) ?? "",
    title: string(raw.title) ?? "",
    extra: { format: "messages", fields: raw },
  };
}

function signature(value: unknown, before?: Proof): Proof | undefined {
  return typeof value === "string" && value !== ""
    ? { api: "messages", kind: "signature", data: value }
    : before;
}

function extra(value: Loose, known: ReadonlySet<string>): { extra?: Extra } {
  const fields = rest(value, known);
  return fields ? { extra: { format: "messages", fields } } : {};
}
