/**
 * One choice of an answer on its way through the guard: its parts wait in order, each until its text is clear.
 *
 * Text blocks of a choice are one text, because that is how they are read, and so is its reasoning; the arguments of each
 * call are a text of their own.
 */
import type { AnswerRules } from "../dlp/answer_rules.ts";
import { AnswerText, type Clearing } from "../dlp/answer_text.ts";
import type { Finding } from "../dlp/scan.ts";
import type { Part } from "../exchange/part.ts";

type Block = Extract<Part, { block: number }>;
type Delta = Extract<Part, { type: "text-delta" | "reasoning-delta" | "call-delta" }>;

interface Waiting {
  part: Part;
  /** The time when it came. */
  since: number;
  /** Of a delta: which text, and the run in it that has not gone yet. */
  text: AnswerText | null;
  first: number;
  start: number;
  end: number;
}

interface Opened {
  text: AnswerText;
  /** Where in the text the block begins. */
  at: number;
}

export interface LineOptions {
  rules: AnswerRules;
  choice: number;
  /** `answer`, or `answer[1]` for another choice than the first. */
  place: string;
  /** How long each text of the answer was until now: rounds of a search go on with it. */
  lengths: Map<string, number>;
  found(finding: Finding, location: string): void;
}

export class Line {
  /** Something in it must not go out, and nothing more of it does. */
  refused = false;
  /** Its finish is on its way. */
  ended = false;
  readonly #options: LineOptions;
  readonly #waiting: Waiting[] = [];
  readonly #blocks = new Map<number, Opened>();
  /** Blocks that went out and were not ended. */
  readonly #open = new Map<number, "text-end" | "reasoning-end" | "call-end">();
  readonly #text: AnswerText;
  readonly #reasoning: AnswerText;
  readonly #texts = new Set<AnswerText>();
  /** Of the reasoning. */
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

  /** When the oldest part that waits came; null: none does. */
  get since(): number | null {
    return this.#waiting[0]?.since ?? null;
  }

  /** Takes a part in. Answers the text that grew. */
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
        await this.#clearOthers(null, "plain");
        break;
      case "text-delta":
      case "reasoning-delta":
      case "call-delta":
        text = this.#blocks.get(part.block)?.text ?? null;
        // A delta of no block has no place in the answer.
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

  /** Lets go what is clear. */
  give(out: Part[]): void {
    if (this.refused) return;
    let gone = 0;
    for (const one of this.#waiting) {
      if (!this.#giveOne(one, out)) break;
      gone++;
    }
    if (gone === this.#waiting.length) this.#waiting.length = 0;
    else if (gone > 0) this.#waiting.splice(0, gone);
    for (const text of this.#texts) text.forget();
  }

  /** False: it, or some of it, has to wait. */
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
    if (this.#alert) text.gone(one.end);
    const said = this.#alert ? (part as Delta).text : text.render(one.start, clear);
    const whole = clear === one.end;
    const intact = this.#alert || whole && text.isIntact(one.first, one.end);
    if (intact && one.start === one.first) out.push(part);
    else if (said !== "") {
      const piece = { ...part, text: said } as Delta;
      // They spell the text out once more: not before all of it is clear, and not what was replaced.
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
    const opened = this.#blocks.get(part.block);
    if (!opened || opened.text.shiftAt(Infinity) === 0) return part;
    const { text, at } = opened;
    const move = (place: number | undefined) =>
      place === undefined ? undefined : place + text.shiftAt(at + place) - text.shiftAt(at);
    const { citation } = part;
    return { ...part, citation: { ...citation, start: move(citation.start), end: move(citation.end) } };
  }

  /** A signature holds for the text that was signed, and only `encrypted` ones stand for themselves. */
  #proved(part: Extract<Part, { type: "text-end" | "reasoning-end" }>): Part {
    const opened = this.#blocks.get(part.block);
    if (!part.proof || !opened?.text.isChangedSince(opened.at)) return part;
    return part.proof.kind === "encrypted" || part.proof.kind === "redacted"
      ? part
      : { ...part, proof: undefined };
  }

  /** The filter's ending, in the place of all that has not gone. */
  refuse(out: Part[], explanation: string): void {
    this.#waiting.length = 0;
    for (const [block, type] of this.#open) out.push({ type, block });
    this.#open.clear();
    out.push({ type: "finish", choice: this.#options.choice, reason: "content-filter", explanation });
    this.refused = this.ended = true;
  }
}
