/**
 * Screening of one choice of an answer: its parts are queued in order, and each is released when its text is known to be clean.
 *
 * The text blocks of a choice are screened as one text, because they are displayed as one, and so is its reasoning; the arguments of each
 * tool call are a separate text.
 */
import type { AnswerRules } from "../../dlp/answer_rules.ts";
import { AnswerText, type Clearing } from "../../dlp/answer_text.ts";
import type { Finding } from "../../dlp/scan.ts";
import type { Part } from "../../exchange/part.ts";

type Block = Extract<Part, { block: number }>;
type Delta = Extract<Part, { type: "text-delta" | "reasoning-delta" | "call-delta" }>;

interface Waiting {
  part: Part;
  /** Time of its arrival. */
  since: number;
  /** For a delta: its text, and the range that has not been released yet. */
  text: AnswerText | null;
  first: number;
  start: number;
  end: number;
}

interface Opened {
  text: AnswerText;
  /** Offset of the block in the text. */
  at: number;
}

export interface LineOptions {
  rules: AnswerRules;
  choice: number;
  /** `answer`, or `answer[1]` for a second choice. */
  place: string;
  /** Length of each text of the answer so far: later search rounds continue these texts. */
  lengths: Map<string, number>;
  found(finding: Finding, location: string): void;
}

export class Line {
  /** The choice was blocked: nothing more of it is sent. */
  refused = false;
  /** Its finish part is queued. */
  ended = false;
  readonly #options: LineOptions;
  readonly #waiting: Waiting[] = [];
  readonly #blocks = new Map<number, Opened>();
  /** Blocks whose start was sent and whose end was not. */
  readonly #open = new Map<number, "text-end" | "reasoning-end" | "call-end">();
  readonly #text: AnswerText;
  readonly #reasoning: AnswerText;
  readonly #texts = new Set<AnswerText>();
  /** The text of the reasoning. */
  #section = 0;
  #calls = 0;

  constructor(options: LineOptions) {
    this.#options = options;
    this.#text = this.#newText("text", false);
    this.#reasoning = this.#newText("reasoning", false);
  }

  #newText(field: string, json: boolean): AnswerText {
    const location = `${this.#options.place}.${field}`;
    const text = new AnswerText(location, json, json ? 0 : this.#options.lengths.get(location) ?? 0);
    this.#texts.add(text);
    return text;
  }

  get place(): string {
    return this.#options.place;
  }

  get #alert(): boolean {
    return this.#options.rules.mode === "alert";
  }

  /** Arrival of the oldest queued part; null: the queue is empty. */
  get since(): number | null {
    return this.#waiting[0]?.since ?? null;
  }

  /** Adds a part to the queue. Returns the text that it extends. */
  async take(part: Part, now: number): Promise<AnswerText | null> {
    let text: AnswerText | null = null;
    let at = 0;
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        text = part.type === "text-start" ? this.#text : this.#reasoning;
        this.#blocks.set(part.block, { text, at: text.length });
        text.border();
        await this.#clearOthers(text, "plain");
        text = null;
        break;
      case "call-start": {
        const field = `calls[${this.#calls++}].arguments`;
        const call = this.#newText(field, part.kind === "function");
        this.#blocks.set(part.block, { text: call, at: 0 });
        await this.#clearOthers(call, "plain");
        break;
      }
      case "search-start":
      case "media":
      case "opaque":
      case "live-start":
        await this.#clearOthers(null, "plain");
        break;
      case "text-delta":
      case "reasoning-delta":
      case "call-delta":
        text = this.#blocks.get(part.block)?.text ?? null;
        // A delta without a block is dropped.
        if (text === null) return null;
        at = text.length;
        if (part.type === "reasoning-delta" && part.section !== this.#section) {
          this.#section = part.section;
          text.border();
        }
        text.append(part.text);
        break;
      case "call-end": {
        const call = this.#blocks.get(part.block)?.text;
        if (call) {
          await this.clear(call, "all");
          this.#texts.delete(call);
        }
        break;
      }
      case "finish":
        await this.#clearOthers(null, "all");
        this.ended = !this.refused;
        for (const text of [this.#text, this.#reasoning]) {
          this.#options.lengths.set(text.location, text.length);
        }
    }
    if (this.refused) return null;
    const end = text === null ? 0 : text.length;
    this.#waiting.push({ part, since: now, text, first: at, start: at, end });
    return text;
  }

  async #clearOthers(but: AnswerText | null, how: Clearing): Promise<void> {
    for (const text of this.#texts) if (text !== but && text.held > 0) await this.clear(text, how);
  }

  async clear(text: AnswerText, how: Clearing): Promise<void> {
    const advancing = text.advance(this.#options.rules, how);
    const findings = advancing instanceof Promise ? await advancing : advancing;
    for (const finding of findings) this.#options.found(finding, text.location);
    if (findings.length > 0 && this.#options.rules.mode === "block") this.refused = true;
  }

  clearAll(how: Clearing): Promise<void> {
    return this.#clearOthers(null, how);
  }

  /** Releases the parts that are known to be clean. */
  give(out: Part[]): void {
    if (this.refused) return;
    let removed = 0;
    for (const one of this.#waiting) {
      if (!this.#giveOne(one, out)) break;
      removed++;
    }
    if (removed === this.#waiting.length) this.#waiting.length = 0;
    else if (removed > 0) this.#waiting.splice(0, removed);
    for (const text of this.#texts) text.forget();
  }

  /** False: the part, or a piece of it, has to wait. */
  #giveOne(one: Waiting, out: Part[]): boolean {
    const { part, text } = one;
    if (text === null) {
      this.#track(part);
      out.push(
        part.type === "citation"
          ? this.#moved(part)
          : part.type === "text-end" || part.type === "reasoning-end"
          ? this.#proved(part)
          : part,
      );
      return true;
    }
    const clear = this.#alert ? one.end : Math.min(one.end, text.cleared);
    if (clear < one.end && (clear <= one.start || text.isBlank(one.start, clear))) return false;
    if (this.#alert) text.markSent(one.end);
    const said = this.#alert ? (part as Delta).text : text.render(one.start, clear);
    const whole = clear === one.end;
    const intact = this.#alert || whole && text.isIntact(one.first, one.end);
    if (intact && one.start === one.first) out.push(part);
    else if (said !== "") {
      const piece = { ...part, text: said } as Delta;
      // Log probabilities repeat the text: they are sent only when all of it is clean, and not for replaced text.
      if ("logprobs" in piece && !intact) delete piece.logprobs;
      out.push(piece);
    }
    one.start = clear;
    return whole;
  }

  #track(part: Part): void {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
      case "call-start":
        this.#open.set(part.block, `${part.type.slice(0, -"-start".length) as "text"}-end`);
        break;
      case "text-end":
      case "reasoning-end":
      case "call-end":
        this.#open.delete(part.block);
    }
  }

  #moved(part: Extract<Block, { type: "citation" }>): Part {
    if (this.#alert) return part;
    const opened = this.#blocks.get(part.block);
    if (!opened || opened.text.shiftAt(Infinity) === 0) return part;
    const { text, at } = opened;
    const move = (place: number | undefined) =>
      place === undefined ? undefined : place + text.shiftAt(at + place) - text.shiftAt(at);
    const { citation } = part;
    return { ...part, citation: { ...citation, start: move(citation.start), end: move(citation.end) } };
  }

  /** A signature is valid only for the unchanged text; only `encrypted` proofs are independent of the text. */
  #proved(part: Extract<Part, { type: "text-end" | "reasoning-end" }>): Part {
    if (this.#alert) return part;
    const opened = this.#blocks.get(part.block);
    if (!part.proof || !opened?.text.isChangedSince(opened.at)) return part;
    return part.proof.kind === "encrypted" || part.proof.kind === "redacted"
      ? part
      : { ...part, proof: undefined };
  }

  /** Ends the choice with the content filter's finish, in place of everything that has not been sent. */
  refuse(out: Part[], explanation: string): void {
    this.#waiting.length = 0;
    for (const [block, type] of this.#open) out.push({ type, block });
    this.#open.clear();
    out.push({ type: "finish", choice: this.#options.choice, reason: "content-filter", explanation });
    this.refused = this.ended = true;
  }
}
