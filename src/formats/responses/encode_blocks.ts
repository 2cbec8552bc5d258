/**
 * Converts parts to output items of an answer and to the events that announce them.
 *
 * An item is announced when its block starts and done when its block ends; blocks may interleave, each with
 * its own `output_index`. Reasoning of other APIs is sent as a summary, which clients of this format display;
 * its proof, and any proof of a call or text, is sent as `encrypted_content` of a reasoning item.
 *
 * Only events known to the official clients are used, since an unknown one makes their stream helpers throw.
 */
import { type Loose, string } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import { type Extra, extraOf } from "../../exchange/prompt.ts";
import type { Proof } from "../../exchange/proof.ts";
import type { Usage } from "../../exchange/usage.ts";
import type { EncodeAnswer } from "../format.ts";
import { clientItem } from "./client_tools.ts";
import { type Emit, OutputList, place } from "./encode_items.ts";
import { ResponseObject, suffixOf } from "./encode_response.ts";
import { RunWriter } from "./encode_runs.ts";
import { MessageWriter } from "./encode_text_blocks.ts";
import { cutBy } from "./finish.ts";
import { provenFields } from "./proofs.ts";
import { encodeUsage } from "./usage.ts";

interface ReasoningState {
  type: "reasoning";
  index: number;
  id: string;
  /** Its text is sent as reasoning text instead of a summary. */
  open: boolean;
  sections: string[];
  pieces: string[];
  /** Fields of the provider's item. */
  fields: Loose;
}

/** The proof of an item that has ended. */
interface LateState {
  type: "late";
  index: number;
}

interface CallState {
  type: "call";
  index: number;
  item: Loose;
  custom: boolean;
  pieces: string[];
  deltaHead: string;
}

/** A call of a function that stands for a typed tool of the client. */
interface TypedState {
  type: "typed";
  typed: string;
  callId: string;
  name: string;
  pieces: string[];
}

export class ResponseWriter {
  readonly #context: EncodeAnswer;
  readonly #emit: Emit | null;
  readonly #response: ResponseObject;
  readonly #list: OutputList;
  readonly #messages: MessageWriter;
  readonly #runs: RunWriter;
  readonly #blocks = new Map<number, ReasoningState | LateState | CallState | TypedState>();
  #started = false;
  #usage: Usage | null = null;
  #usageExtra: Extra | undefined;
  #searches: number | undefined;
  #end: Extract<Part, { type: "finish" }> | undefined;

  /** @param emit null: only the complete response is needed */
  constructor(context: EncodeAnswer, emit: Emit | null) {
    this.#context = context;
    this.#emit = emit;
    this.#response = new ResponseObject(context);
    this.#list = new OutputList(suffixOf(context.id), emit ?? undefined);
    this.#messages = new MessageWriter(this.#list);
    this.#runs = new RunWriter(this.#list, this.#messages);
  }

  /** Whether the caller has received the start of the response. */
  get started(): boolean {
    return this.#started;
  }

  write(part: Part): void {
    if (part.type === "start") this.#response.report(part.extra);
    if (!this.#started) this.#start();
    // A response has one choice. If a provider returns several, the first is used.
    if ("choice" in part && part.choice !== 0) return;
    switch (part.type) {
      case "text-delta":
        return this.#messages.delta(part.block, part.text, part.logprobs);
      case "call-delta":
        return this.#callDelta(part.block, part.text);
      case "reasoning-delta":
        return this.#reasoningDelta(part.block, part.section, part.text);
      case "text-start":
        return this.#messages.start(part.block, part.refusal === true, part.extra);
      case "citation":
        return this.#messages.cite(part.block, part.citation);
      case "text-end":
        if (this.#messages.end(part.block) && part.proof) this.#carry(part.proof);
        return;
      case "reasoning-start":
        return this.#reasoningStart(part.block, part.kind, part.extra);
      case "reasoning-end":
        return this.#reasoningEnd(part.block, part.proof, part.extra);
      case "call-start":
        return this.#callStart(part);
      case "call-end":
        return this.#callEnd(part.block);
      case "search-start":
        return this.#runs.searchStart(part.block, part.id, part.query);
      case "search-end":
        return this.#runs.searchEnd(part.block, part.hits.map((h) => h.url), part.failed === true);
      case "media":
        if (part.proof) this.#carry(part.proof);
        return this.#runs.media(part);
      case "opaque":
        if (part.format === "responses") this.#runs.whole(part.value, "item", part.block);
        return;
      case "live-start":
        if (part.format === "responses") this.#runs.announce(part.block, part.value);
        return;
      case "live-delta":
        return this.#runs.event(part.block, part.event, { delta: part.text });
      case "live-event":
        return this.#runs.event(part.block, part.event, part.value);
      case "usage":
        this.#usage = part.usage;
        this.#usageExtra = part.extra;
        this.#searches = part.searches ?? this.#searches;
        this.#response.served = part.service ?? this.#response.served;
        return;
      case "finish":
        this.#end = part;
        return;
    }
  }

  /** Ends the answer with its last event and returns the complete response. */
  finish(): Loose {
    if (!this.#started) this.#start();
    this.#messages.endAll();
    for (const block of [...this.#blocks.keys()]) this.#endBlock(block);
    this.#runs.endAll();
    const reason = this.#end?.reason ?? "stop";
    if (reason === "refusal" && !this.#messages.refused) {
      this.#messages.say(this.#end?.explanation ?? "The model declined to answer.", true);
    }
    const cut = cutBy(reason);
    const status = cut === undefined ? "completed" : "incomplete";
    this.#list.settle(cut !== undefined);
    this.#messages.close(status);
    this.#response.report(this.#end?.extra);
    const response = this.#response.object({
      status,
      output: this.#list.items,
      usage: this.#usageNow(),
      incomplete: cut,
    });
    this.#emit?.(`response.${status}`, `"response":${this.#list.jsonOf(response)}}`);
    return response;
  }

  /** Completes the items that had ended before the answer was interrupted. */
  settle(): void {
    this.#list.settle(false);
  }

  /** The last event of an interrupted answer: completed items, and the error. */
  fail(error: Loose): void {
    const output = this.#list.items.filter((item, i) =>
      item.status !== "in_progress" && !this.#runs.isOpen(i)
    );
    const response = this.#response.object({ status: "failed", output, usage: this.#usageNow(), error });
    this.#emit?.("response.failed", `"response":${JSON.stringify(response)}}`);
  }

  #usageNow(): Loose | null {
    return this.#usage && encodeUsage(this.#usage, this.#searches, this.#usageExtra);
  }

  #start(): void {
    this.#started = true;
    if (!this.#emit) return;
    const response = this.#response.object({ status: "in_progress", output: [], usage: null });
    const fields = `"response":${JSON.stringify(response)}}`;
    this.#emit("response.created", fields);
    this.#emit("response.in_progress", fields);
  }

  #endBlock(block: number): void {
    switch (this.#blocks.get(block)?.type) {
      case "reasoning":
        return this.#reasoningEnd(block, undefined);
      case "call":
      case "typed":
        return this.#callEnd(block);
    }
  }

  /** The proof of something that cannot contain one in this format, as reasoning without text. */
  #carry(proof: Proof): void {
    this.#messages.leave();
    const id = this.#list.id("rs", undefined);
    const item = { ...reasoningItem(id, "completed", []), ...this.#proven(proof) };
    this.#list.done(this.#list.add(item), item);
  }

  /** Fields of an item with a proof. */
  #proven(proof: Proof | undefined): Loose | undefined {
    if (!proof) return undefined;
    return proof.api === "responses" ? provenFields(proof) : { encrypted_content: this.#context.seal(proof) };
  }

  #reasoningStart(block: number, kind: "text" | "summary", extra: Extra | undefined): void {
    const own = extraOf(extra, "responses");
    const { late, ...fields } = own ?? {};
    // The proof of an item that has ended: clients must get no second item.
    const index = late === true ? this.#list.items.findIndex(({ id }) => id === fields.id) : -1;
    if (index >= 0) return void this.#blocks.set(block, { type: "late", index });
    this.#messages.leave();
    const id = this.#list.id("rs", fields.id);
    const open = kind === "text" && own !== undefined;
    const { summary: _, status: __, ...known } = fields;
    const item = { ...known, ...reasoningItem(id, "in_progress", []), ...(open && { content: [] }) };
    const added = this.#list.add(item);
    this.#blocks.set(block, { type: "reasoning", index: added, id, open, sections: [], pieces: [], fields });
  }

  #reasoningDelta(block: number, section: number, text: string): void {
    const state = this.#blocks.get(block);
    if (state?.type !== "reasoning" || text === "") return;
    // A section that was left is complete: further text goes to the open one.
    while (state.sections.length <= section) this.#sectionStart(state);
    state.pieces.push(text);
    const type = state.open ? "response.reasoning_text.delta" : "response.reasoning_summary_text.delta";
    this.#list.emit?.(type, `${sectionPlace(state)}"delta":${JSON.stringify(text)}}`);
  }

  #sectionStart(state: ReasoningState): void {
    this.#sectionEnd(state);
    state.sections.push("");
    const part = state.open ? { type: "reasoning_text", text: "" } : { type: "summary_text", text: "" };
    const type = state.open ? "response.content_part.added" : "response.reasoning_summary_part.added";
    this.#list.emit?.(type, `${sectionPlace(state)}"part":${JSON.stringify(part)}}`);
  }

  #sectionEnd(state: ReasoningState): void {
    if (state.sections.length === 0) return;
    const text = state.pieces.join("");
    state.pieces = [];
    state.sections[state.sections.length - 1] = text;
    const at = sectionPlace(state);
    const [done, partDone, type] = state.open
      ? ["response.reasoning_text.done", "response.content_part.done", "reasoning_text"]
      : ["response.reasoning_summary_text.done", "response.reasoning_summary_part.done", "summary_text"];
    if (!this.#list.emit) return;
    // Serialized once, since a text may be long.
    const json = JSON.stringify(text);
    this.#list.emit(done, `${at}"text":${json}}`);
    this.#list.emit(partDone, `${at}"part":{"type":"${type}","text":${json}}}`);
  }

  #reasoningEnd(block: number, proof: Proof | undefined, late?: Extra): void {
    const state = this.#blocks.get(block);
    if (state?.type === "late") this.#list.amend(state.index, this.#proven(proof));
    if (state?.type !== "reasoning") return;
    this.#blocks.delete(block);
    this.#sectionEnd(state);
    const { id, open, sections } = state;
    const { summary, status, ...fields } = { ...state.fields, ...extraOf(late, "responses") };
    const made = reasoningItem(id, string(status) ?? "completed", open ? [] : sections);
    const item: Loose = { ...fields, ...made, ...this.#proven(proof) };
    if (open) item.content = sections.map((text) => ({ type: "reasoning_text", text }));
    if (open && summary !== undefined) item.summary = summary;
    this.#list.done(state.index, item);
  }

  #callStart(part: Extract<Part, { type: "call-start" }>): void {
    if (part.proof) this.#carry(part.proof);
    else this.#messages.leave();
    if (part.typed !== undefined) {
      const { typed, id: callId, name } = part;
      this.#blocks.set(part.block, { type: "typed", typed, callId, name, pieces: [] });
      return;
    }
    const custom = part.kind === "custom";
    const fields = extraOf(part.extra, "responses");
    const id = this.#list.id(custom ? "ctc" : "fc", fields?.id);
    const item: Loose = {
      ...fields,
      id,
      type: custom ? "custom_tool_call" : "function_call",
      status: "in_progress",
      call_id: part.id,
      name: part.name,
      ...(part.namespace !== undefined && { namespace: part.namespace }),
      [custom ? "input" : "arguments"]: "",
    };
    const index = this.#list.add(item);
    const deltaHead = `${place(id, index)},"delta":`;
    this.#blocks.set(part.block, { type: "call", index, item, custom, pieces: [], deltaHead });
  }

  #callDelta(block: number, text: string): void {
    const state = this.#blocks.get(block);
    if (state?.type === "typed") state.pieces.push(text);
    if (state?.type !== "call") return;
    state.pieces.push(text);
    const type = state.custom
      ? "response.custom_tool_call_input.delta"
      : "response.function_call_arguments.delta";
    this.#list.emit?.(type, `${state.deltaHead}${JSON.stringify(text)}}`);
  }

  /** The item of a typed tool. A call whose arguments do not fit is one of a function. */
  #typedEnd(block: number, { typed, callId, name, pieces }: TypedState): void {
    this.#blocks.delete(block);
    const text = pieces.join("");
    const made = clientItem(typed, callId, text);
    if (made !== undefined) return this.#runs.whole(made.item, made.prefix);
    this.#callStart({ type: "call-start", block, choice: 0, id: callId, name, kind: "function" });
    if (text !== "") this.#callDelta(block, text);
    this.#callEnd(block);
  }

  #callEnd(block: number): void {
    const state = this.#blocks.get(block);
    if (state?.type === "typed") return this.#typedEnd(block, state);
    if (state?.type !== "call") return;
    const received = state.pieces.join("");
    // Empty arguments are an empty object in this format.
    if (!state.custom && received === "") this.#callDelta(block, "{}");
    this.#blocks.delete(block);
    const text = state.custom ? received : received || "{}";
    const at = place(String(state.item.id), state.index);
    if (state.custom) {
      this.#list.emit?.("response.custom_tool_call_input.done", `${at},"input":${JSON.stringify(text)}}`);
    } else {
      const name = JSON.stringify(state.item.name);
      this.#list.emit?.(
        "response.function_call_arguments.done",
        `${at},"name":${name},"arguments":${JSON.stringify(text)}}`,
      );
    }
    const item = { ...state.item, status: "completed", [state.custom ? "input" : "arguments"]: text };
    this.#list.hold(state.index, item, state.custom ? "" : received);
  }
}

function sectionPlace(state: ReasoningState): string {
  const field = state.open ? "content_index" : "summary_index";
  return `${place(state.id, state.index)},"${field}":${state.sections.length - 1},`;
}

function reasoningItem(id: string, status: string, summary: readonly string[]): Loose {
  return { id, type: "reasoning", status, summary: summary.map((text) => ({ type: "summary_text", text })) };
}
