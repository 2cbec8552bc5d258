/**
 * Converts the output items of an answer to blocks, from events or a complete answer. Each item has a slot by its
 * `output_index`; a message has a block for each content part, every other item one block.
 *
 * For a streamed block only the sent length is kept, not the text: enough to send the rest when the complete item arrives.
 */
import { addFees, feeOfItem, type Fees } from "../../exchange/fees.ts";
import { array, type Loose, object, string } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import { UnusedNames } from "../../exchange/unused_names.ts";
import { count } from "../../exchange/usage.ts";
import { argumentText, brokenAnswer } from "../failures/decode_failure.ts";
import { decodeCitation } from "./citations.ts";
import { callStart, messageFields, nameOf } from "./decode_items.ts";
import { idOf, isOther, lateFields, lateProof, otherPart, wholeParts } from "./decode_items.ts";
import { isLive, livePart, liveStart } from "./decode_live.ts";
import { besideOf, CALL, indexOf, isCall, isRead, kindOf, newSlot, partsOf } from "./decode_state.ts";
import { repeatedText, restOf, sectionOf, type Slot, type TextBlock, textOf } from "./decode_state.ts";
import { decodeLogprobs } from "./logprobs.ts";
import { proofOf } from "./proofs.ts";

export class ItemReader {
  searches = 0;
  /** Uses of the provider's other tools that have a fee; undefined: none. */
  fees: Fees | undefined;
  /** Number of calls of functions and custom tools. */
  calls = 0;
  readonly #ids = new UnusedNames();
  refused = false;
  readonly #slots = new Map<number, Slot>();
  #blocks = 0;
  /** Reasoning items whose kind is unknown; they must start before anything that follows them. */
  #waiting: Slot[] = [];

  constructor(private readonly emit: (part: Part) => void) {}

  /** Whether there was any item. */
  get any(): boolean {
    return this.#slots.size > 0;
  }

  /** Decodes the items of a complete answer. */
  whole(output: readonly unknown[]): void {
    for (const [i, item] of output.entries()) this.done(i, object(item));
  }

  added(at: number, item: Loose): void {
    const index = this.#placeOf(at, item.type);
    if (this.#slots.has(index)) return;
    const slot = newSlot(item);
    this.#slots.set(index, slot);
    if (slot.type === "reasoning") this.#waiting.push(slot);
    else if (isCall(slot) && item.name && item.call_id) this.#startCall(slot);
  }

  /** A streamed item that starts. */
  announced(at: number, item: Loose): void {
    const index = this.#placeOf(at, item.type);
    if (this.#slots.has(index)) return;
    this.added(index, item);
    const slot = this.#slots.get(index)!;
    if (!isLive(slot)) return;
    slot.block = this.#open();
    this.emit(liveStart(item, slot.block));
  }

  /** An event of a tool that the provider runs. */
  live(event: string, fields: Loose): void {
    const slot = this.#slots.get(count(fields.output_index));
    if (!slot || slot.ended || !isLive(slot) || slot.block < 0) return;
    const part = livePart(slot, event, fields);
    if (part) this.emit(part);
  }

  done(at: number, item: Loose): void {
    const index = this.#placeOf(at, item.type);
    this.added(index, item);
    const slot = this.#slots.get(index)!;
    if (slot.ended) return;
    slot.item = isRead(slot) || item.type === undefined ? { ...slot.item, ...item } : item;
    switch (slot.type) {
      case "message":
        this.#wholeMessage(slot, partsOf(item.content));
        break;
      case "reasoning":
        this.#wholeReasoning(slot, item);
        break;
      case "function_call":
        this.#rest(slot, argumentText(item.arguments) || slot.held);
        break;
      case "custom_tool_call":
        this.#rest(slot, string(item.input) || slot.held);
        break;
    }
    this.#end(slot);
  }

  /**
   * What is complete only in the last event: items that did not end, and calls, as in vLLM's streams. They are
   * matched by their order, since some servers change ids and indices; not if more of a kind were announced.
   */
  late(output: readonly unknown[]): void {
    const streamed = Map.groupBy(this.#slots, ([, slot]) => kindOf(slot));
    let unmatched = -1;
    for (const [kind, items] of Map.groupBy(output.map(object), kindOf)) {
      const slots = streamed.get(kind) ?? [];
      if (slots.length > items.length) continue;
      items.forEach((item, i) => {
        if (i >= slots.length) {
          // Events use no negative indices.
          if (kind === CALL) this.done(unmatched--, item);
        } else if (!slots[i][1].ended) this.done(slots[i][0], item);
        else if (kind === "reasoning") this.#lateProof(slots[i][1], item);
      });
    }
  }

  /** As reasoning of its own, since the item has ended. Its id tells to which it belongs. */
  #lateProof({ item: known }: Slot, item: Loose): void {
    const proof = proofOf(known) === undefined ? proofOf(item) : undefined;
    if (proof !== undefined) { for (const part of lateProof(known, proof, this.#open())) this.emit(part); }
  }

  /** Ends all open items. */
  close(): void {
    for (const slot of this.#slots.values()) this.#end(slot);
  }

  textDelta(event: Loose, type: "output_text" | "refusal"): void {
    const delta = string(event.delta);
    if (delta === undefined || (delta === "" && !array(event.logprobs).length)) return;
    const slot = this.#slot(event, "message");
    if (!slot) return;
    this.#sendText(this.#textAt(slot, event, type), delta, event.logprobs);
  }

  textDone(event: Loose, whole: string | undefined, type: "output_text" | "refusal"): void {
    const slot = this.#slot(event, "message");
    if (!slot || whole === undefined) return;
    const text = this.#textAt(slot, event, type);
    this.#completeText(text, whole, event.logprobs);
    text.done = true;
  }

  annotation(event: Loose): void {
    const slot = this.#slot(event, "message");
    if (slot) this.#cite(this.#textAt(slot, event, "output_text"), object(event.annotation));
  }

  partAdded(event: Loose, part: Loose): void {
    // vLLM announces a text within reasoning.
    const there = this.#slots.get(count(event.output_index));
    if (besideOf(there, part.type === "reasoning_text" ? "reasoning" : "message") > 0) return;
    if (part.type === "output_text" || part.type === "refusal") {
      const slot = this.#slot(event, "message");
      if (slot) this.#wholePart(this.#text(slot, indexOf(event), part.type, part), part);
    } else if (part.type === "reasoning_text") {
      const slot = this.#slot(event, "reasoning");
      if (slot) slot.sectionDone = slot.sections.length > 0;
    }
  }

  partDone(event: Loose, part: Loose): void {
    if (part.type !== "output_text" && part.type !== "refusal") return;
    const slot = this.#slot(event, "message");
    if (!slot) return;
    const text = repeatedText(slot, event, part) ?? this.#textAt(slot, event, part.type);
    this.#wholePart(text, part);
    text.done = true;
  }

  callDelta(event: Loose): void {
    const slot = this.#slot(event, "function_call");
    const delta = string(event.delta);
    if (!slot || !delta) return;
    // Without a name or id so far.
    if (slot.block < 0) return void (slot.held += delta);
    this.emit({ type: "call-delta", block: slot.block, text: delta });
    slot.call.length += delta.length;
    slot.call.last = delta;
  }

  callDone(event: Loose, whole: string | undefined): void {
    const slot = this.#slot(event, "function_call");
    if (slot && slot.block >= 0) this.#rest(slot, whole);
    else if (slot) slot.held = whole || slot.held;
  }

  reasoningDelta(event: Loose, kind: "summary" | "text"): void {
    const delta = string(event.delta);
    const slot = this.#slot(event, "reasoning");
    if (slot && delta) this.#think(slot, kind, sectionOf(slot, event, kind), delta);
  }

  reasoningDone(event: Loose, kind: "summary" | "text"): void {
    const whole = string(event.text);
    const slot = this.#slot(event, "reasoning");
    if (!slot || !whole) return;
    this.#completeSection(slot, kind, sectionOf(slot, event, kind), whole);
    slot.sectionDone = true;
  }

  /** The slot of an event; created if the provider did not announce the item. Undefined: ended, or of another type. */
  #slot(event: Loose, type: "message" | "reasoning" | "function_call"): Slot | undefined {
    const index = this.#placeOf(count(event.output_index), type);
    if (!this.#slots.has(index) && type !== "function_call") this.added(index, { type, id: event.item_id });
    const slot = this.#slots.get(index);
    if (!slot || slot.ended) return undefined;
    return slot.type === type || (type === "function_call" && isCall(slot)) ? slot : undefined;
  }

  /** The slot index of an item; another one if an item of another type has the same index. */
  #placeOf(index: number, type: unknown): number {
    const there = this.#slots.get(index);
    const beside = besideOf(there, type);
    if (beside > 0 && there!.type === "reasoning") this.#end(there!);
    return index + beside;
  }

  /** A new block number. Waiting reasoning up to this one starts first, since order is determined by starts. */
  #open(reasoning?: Slot): number {
    for (let [first] = this.#waiting; first !== undefined && first !== reasoning; [first] = this.#waiting) {
      this.#startReasoning(first, first.kind);
    }
    return this.#blocks++;
  }

  #textAt(slot: Slot, event: Loose, type: "output_text" | "refusal"): TextBlock {
    return textOf(slot, event, type === "refusal") ?? this.#text(slot, indexOf(event), type);
  }

  #text(slot: Slot, index: number, type: "output_text" | "refusal", part: Loose = {}): TextBlock {
    const known = slot.textAt.get(index);
    if (known) return known;
    const refusal = type === "refusal";
    const sent = { citations: 0, logprobs: false, length: 0, last: "" };
    const text: TextBlock = { block: this.#open(), refusal, done: false, ...sent };
    slot.texts.push(text);
    slot.textAt.set(index, text);
    if (refusal) this.refused = true;
    this.emit({
      type: "text-start",
      block: text.block,
      choice: 0,
      ...(refusal && { refusal }),
      extra: messageFields(slot.item, part),
    });
    return text;
  }

  #sendText(text: TextBlock, piece: string, logprobs: unknown): void {
    text.length += piece.length;
    text.last = piece;
    const decoded = decodeLogprobs(logprobs);
    if (decoded) text.logprobs = true;
    this.emit(
      decoded
        ? { type: "text-delta", block: text.block, text: piece, logprobs: decoded }
        : { type: "text-delta", block: text.block, text: piece },
    );
  }

  #completeText(text: TextBlock, whole: string, logprobs: unknown): void {
    const missing = restOf(text, whole);
    const late = text.logprobs ? undefined : logprobs;
    if (missing !== "" || decodeLogprobs(late)) this.#sendText(text, missing, late);
  }

  #wholePart(text: TextBlock, part: Loose): void {
    const whole = string(part.text) ?? string(part.refusal);
    if (whole !== undefined) this.#completeText(text, whole, part.logprobs);
    for (const annotation of array(part.annotations).slice(text.citations)) {
      this.#cite(text, object(annotation));
    }
  }

  #wholeMessage(slot: Slot, content: readonly unknown[]): void {
    let next = 0;
    for (const [i, value] of content.entries()) {
      const part = object(value);
      const type = part.type === "text" ? "output_text" : part.type;
      if (type === "output_text" || type === "refusal") {
        this.#wholePart(slot.texts[next++] ?? this.#text(slot, i, type, part), part);
      } else if (isOther(part)) this.emit(otherPart(slot.item, part, this.#open()));
    }
  }

  #cite(text: TextBlock, annotation: Loose): void {
    text.citations++;
    this.emit({ type: "citation", block: text.block, citation: decodeCitation(annotation) });
  }

  #startCall(slot: Slot): void {
    const { item } = slot;
    nameOf(item);
    this.calls++;
    slot.block = this.#open();
    const id = this.#ids.take(
      string(item.call_id) || string(item.id) || string(item.item_id) || `call_${slot.block}`,
    );
    this.emit(callStart(item, slot.type, slot.block, id));
  }

  #rest(slot: Slot, whole: string | undefined): void {
    if (slot.block < 0) this.#startCall(slot);
    const missing = whole === undefined ? "" : restOf(slot.call, whole);
    if (missing === "") return;
    this.emit({ type: "call-delta", block: slot.block, text: missing });
    slot.call.length += missing.length;
    slot.call.last = missing;
  }

  #startReasoning(slot: Slot, kind: "summary" | "text"): void {
    slot.kind = kind;
    slot.block = this.#open(slot);
    if (this.#waiting[0] === slot) this.#waiting.shift();
    this.emit({ type: "reasoning-start", block: slot.block, choice: 0, kind, extra: idOf(slot.item) });
  }

  #think(slot: Slot, kind: "summary" | "text", section: number, piece: string): void {
    if (slot.block < 0) this.#startReasoning(slot, kind);
    // If there are both text and summary, the first is shown.
    if (slot.kind !== kind && slot.sections.length > 0) return;
    slot.kind = kind;
    this.emit({ type: "reasoning-delta", block: slot.block, section, text: piece });
    const sent = slot.sections[section] ?? { length: 0, last: "" };
    slot.sections[section] = { length: sent.length + piece.length, last: piece };
  }

  #completeSection(slot: Slot, kind: "summary" | "text", section: number, whole: string): void {
    if (slot.kind !== kind && slot.sections.length > 0) return;
    const sent = slot.sections[section];
    const missing = sent ? restOf(sent, whole) : whole;
    if (missing !== "") this.#think(slot, kind, section, missing);
  }

  #wholeReasoning(slot: Slot, item: Loose): void {
    const texts = partsOf(item.content);
    const summaries = partsOf(item.summary);
    const kind = slot.sections.length > 0 ? slot.kind : texts.length > 0 ? "text" : "summary";
    const sections = kind === "text" ? texts : summaries;
    for (const [i, section] of sections.entries()) {
      const whole = string(object(section).text);
      if (whole) this.#completeSection(slot, kind, i, whole);
    }
  }

  #end(slot: Slot): void {
    if (slot.ended) return;
    slot.ended = true;
    switch (slot.type) {
      case "message":
        for (const text of slot.texts) this.emit({ type: "text-end", block: text.block });
        return;
      case "reasoning": {
        const proof = proofOf(slot.item);
        // Hidden reasoning without a proof is omitted, unless its block has started.
        if (slot.block < 0 && !proof) {
          return void (this.#waiting = this.#waiting.filter((other) => other !== slot));
        }
        if (slot.block < 0) this.#startReasoning(slot, slot.kind);
        const extra = lateFields(slot.item);
        this.emit({
          type: "reasoning-end",
          block: slot.block,
          ...(proof && { proof }),
          ...(extra && { extra }),
        });
        return;
      }
      case "function_call":
      case "custom_tool_call":
        if (slot.block < 0) this.#rest(slot, slot.held);
        this.emit({ type: "call-end", block: slot.block });
        return;
      case "":
        return;
      default:
        // An opaque item must have the announced type.
        if (!isRead(slot) && slot.item.type !== slot.type) {
          throw brokenAnswer("an item of its output changed its kind");
        }
        this.fees = addFees(this.fees, feeOfItem(slot.item));
        for (const part of wholeParts(slot.type, slot.item, slot.block < 0 ? this.#open() : slot.block)) {
          if (part.type === "search-start") this.searches++;
          this.emit(part);
        }
    }
  }
}
