/**
 * Stage: data-loss prevention for an answer. It comes directly after the provider call, so that searches and later rounds do not get text
 * that the caller must not see.
 *
 * Text is passed on as soon as it cannot contain an incomplete value. Text that may be the beginning of a value waits until this is
 * decided, for at most a quarter of a second or 512 UTF-16 units. If an answer is blocked, the caller gets the content filter's finish at
 * once, and the rest of the provider's answer is read only for its token counts, because the provider bills it.
 */
import { type AnswerRules, Unscannable } from "../../dlp/answer_rules.ts";
import { type JudgedPart, judgeFailure, judgePart } from "../../dlp/answer_fields.ts";
import type { Finding } from "../../dlp/scan.ts";
import { Failure } from "../../exchange/failure.ts";
import type { FormatName } from "../../exchange/format_name.ts";
import { isLive, type Part } from "../../exchange/part.ts";
import type { Usage } from "../../exchange/usage.ts";
import type { Deadline, Ticker } from "../../timing/ticker.ts";
import { Line } from "./answer_line.ts";
import { Said } from "../estimate.ts";
import { isLarge, portions } from "./judged_portions.ts";

/** Maximum delay of text, in milliseconds: the ticker may be 50 ms late, and the total must not exceed 300 ms. */
const HOLD_MS = 200;
/** Maximum time for which a blocked answer is read for its counts, in milliseconds. */
const DRAIN_MS = 10_000;
/** After this much screening, in milliseconds, other calls get their turn. */
const TURN_MS = 5;
/** In mode alert no text is delayed, so the text is screened in longer pieces. */
const PIECE = 512;
/** Maximum number of findings in one answer; an answer with more counts as not scanned. */
const MOST_FOUND = 50_000;
const MOST_CHOICES = 1e6;
const UNSCANNED = "The provider's words could not be scanned, so they are left out.";
const REFUSED = "The answer holds data that must not leave, so data-loss prevention ended it.";

export interface AnswerGuard {
  rules: AnswerRules;
  /** The caller's. */
  format: FormatName;
  ticker: Ticker;
  /** Lets others have their turn. */
  pause(): Promise<void>;
  /** Called with the duration of screening a piece of an answer. */
  held(ms: number): void;
  /** Index of the choice, if each choice is a separate call. */
  choice: number;
  /** Length of the prompt, for an estimate of the usage. */
  promptChars: number;
  /** Maximum output of the answer. Absent: unknown. */
  mostOutput?: number;
  lengths: Map<string, number>;
  /** @param refused the finding cannot be masked, so it ends the answer */
  found(finding: Finding, location: string, refused: boolean): void;
}

type Usages = Extract<Part, { type: "usage" }>;
type Step = IteratorResult<readonly Part[]>;
/** An event from the provider: parts, the end, or a failure. */
type Came = Step | { thrown: unknown };
const LATE = Symbol();

/** Stage: masks or reports findings in an answer, or ends the answer. Text waits until it is known to be clean. */
export async function* screenAnswer(
  parts: AsyncGenerator<readonly Part[]>,
  guard: AnswerGuard,
): AsyncGenerator<readonly Part[]> {
  const screen = new AnswerScreen(guard);
  const provider = new ProviderWait(parts, guard.ticker);
  /** Everything that is clean has been passed on, and nothing has arrived since. */
  let emptied = false;
  let ended = false;
  try {
    while (!ended) {
      const out: Part[] = [];
      const came = await provider.next(emptied ? null : screen.since);
      emptied = came === LATE;
      if (came === LATE) {
        if (provider.draining) return yield screen.lastCounts();
        await screen.late(out);
      } else {
        provider.taken();
        const step = "thrown" in came ? await screen.fail(came.thrown, out) : came;
        ended = step.done === true;
        if (ended) await screen.end(out);
        else if (screen.isDue || isLarge(step.value)) yield* pushPortions(screen, step.value, out);
        else await screen.push(step.value, out);
      }
      if (out.length > 0) yield out;
      if (screen.failure) throw screen.failure.thrown;
      if (screen.isRefused) provider.drain();
    }
    if (screen.isRefused) yield screen.lastCounts();
  } finally {
    provider.close();
    if (!ended) void parts.return(undefined).catch(() => {});
  }
}

/** Waits for the provider's next parts, at most until the deadline of the held-back text or of reading a blocked answer. */
class ProviderWait {
  readonly #parts: AsyncGenerator<readonly Part[]>;
  readonly #ticker: Ticker;
  readonly #deadline: Deadline;
  #next: Promise<Came> | null = null;
  #wake = () => {};
  #draining = false;

  constructor(parts: AsyncGenerator<readonly Part[]>, ticker: Ticker) {
    this.#parts = parts;
    this.#ticker = ticker;
    this.#deadline = ticker.deadline(() => this.#wake());
  }

  /** The answer is blocked, and the rest is read only for its counts. */
  get draining(): boolean {
    return this.#draining;
  }

  /** @param since arrival of the oldest held-back text, by the ticker; null: nothing is held back */
  next(since: number | null): Promise<Came | typeof LATE> {
    this.#next ??= this.#parts.next().catch((thrown) => ({ thrown }));
    if (since === null && !this.#draining) {
      this.#deadline.disarm();
      return this.#next;
    }
    if (since !== null) this.#deadline.arm(Math.max(0, since + HOLD_MS - this.#ticker.lately));
    const late = new Promise<typeof LATE>((resolve) => this.#wake = () => resolve(LATE));
    return Promise.race([this.#next, late]);
  }

  /** The last event was processed; the next call waits for the following one. */
  taken(): void {
    this.#next = null;
  }

  drain(): void {
    if (this.#draining) return;
    this.#draining = true;
    this.#deadline.arm(DRAIN_MS);
  }

  close(): void {
    this.#deadline.close();
  }
}

/** Screens a batch in portions, between which other calls get their turn: a batch may contain thousands of small deltas. */
async function* pushPortions(
  screen: AnswerScreen,
  batch: readonly Part[],
  out: Part[],
): AsyncGenerator<readonly Part[]> {
  let first = true;
  for (const portion of portions(batch)) {
    if (!first || screen.isDue) {
      if (out.length > 0) yield out.splice(0);
      await screen.rest();
    }
    first = false;
    await screen.push(portion, out);
  }
}

class AnswerScreen {
  failure: { thrown: unknown } | null = null;
  readonly #guard: AnswerGuard;
  readonly #lines = new Map<number, Line>();
  readonly #lineOf = new Map<number, Line>();
  #usage: Usages | null = null;
  readonly #said = new Said();
  #found = 0;
  /** Milliseconds of screening since other calls had their turn. */
  #unpaused = 0;

  constructor(guard: AnswerGuard) {
    this.#guard = guard;
  }

  /** Arrival of the oldest held-back part; null: none. */
  get since(): number | null {
    let oldest: number | null = null;
    for (const { since } of this.#lines.values()) {
      if (since !== null && (oldest === null || since < oldest)) oldest = since;
    }
    return oldest;
  }

  /** A choice was blocked, and none of the others continues. */
  get isRefused(): boolean {
    let refused = false;
    for (const line of this.#lines.values()) {
      if (!line.ended) return false;
      refused ||= line.refused;
    }
    return refused;
  }

  /** Whether other calls should get their turn before more is screened. */
  get isDue(): boolean {
    return this.#unpaused > TURN_MS;
  }

  /** Lets others have their turn. */
  async rest(): Promise<void> {
    await this.#guard.pause();
    this.#unpaused = 0;
  }

  async push(batch: readonly Part[], out: Part[]): Promise<void> {
    const begun = performance.now();
    const grown = new Map<Line, Set<Parameters<Line["clear"]>[0]>>();
    const alert = this.#guard.rules.mode === "alert";
    try {
      for (let part of batch) {
        if (part.type === "sound-delta") {
          // The words are screened in the complete audio.
          if (alert) out.push(part);
          continue;
        }
        // There is no choice with this index.
        if (!alert && "choice" in part && part.choice >= MOST_CHOICES) {
          part = { ...part, choice: part.choice % MOST_CHOICES };
        }
        if (part.type === "usage") {
          this.#usage = await this.#usageOf(part);
          out.push(this.#usage);
          continue;
        }
        this.#said.take(part);
        const line = this.#lineFor(part);
        if (line?.refused) continue;
        if (isLive(part)) {
          // The complete part is screened.
          if (alert) await line?.take(part, this.#guard.ticker.lately);
          continue;
        }
        const shown = shownTo(this.#guard.format, part);
        const judging = shown && judgePart(shown, this.#guard.rules);
        const judged = judging === null ? shown ?? part : this.#judged(await judging, line);
        const kept = alert ? part : judged;
        if (kept === null || line?.refused) continue;
        if (line === null) {
          out.push(kept);
          continue;
        }
        const text = await line.take(kept, this.#guard.ticker.lately);
        if (text === null || alert && text.held < PIECE) continue;
        const texts = grown.get(line);
        if (texts) texts.add(text);
        else grown.set(line, new Set([text]));
      }
      for (const [line, texts] of grown) {
        for (const text of texts) if (!line.refused && text.held > 0) await line.clear(text, "open");
      }
    } catch (thrown) {
      this.#refuseAll(thrown);
    }
    this.#give(out);
    const took = performance.now() - begun;
    this.#guard.held(took);
    this.#unpaused += took;
  }

  /** The maximum delay has passed: held-back text is passed on unchanged. */
  async late(out: Part[]): Promise<void> {
    await this.#clearAll("late");
    this.#give(out);
  }

  async end(out: Part[]): Promise<void> {
    await this.#clearAll("all");
    this.#give(out);
  }

  /** The provider failed: earlier parts are still valid, and after a block no further parts were expected. */
  async fail(thrown: unknown, out: Part[]): Promise<Step> {
    if (!this.isRefused) this.failure = { thrown: await this.#failureOf(thrown) };
    await this.#clearAll("all");
    this.#give(out);
    return { done: true, value: undefined };
  }

  /** Screens the provider's error message, which may contain text of the answer. */
  async #failureOf(thrown: unknown): Promise<unknown> {
    const { rules, found } = this.#guard;
    if (!(thrown instanceof Failure)) return thrown;
    try {
      const { failure, findings } = await judgeFailure(thrown, rules);
      for (const finding of findings) found(finding, "answer.error", false);
      return failure;
    } catch (unscannable) {
      if (!(unscannable instanceof Unscannable)) throw unscannable;
      return new Failure(thrown.code, UNSCANNED, { ...thrown, cause: thrown.cause, operator: undefined });
    }
  }

  /** Usage of a blocked answer: as reported, else estimated from what was received. */
  lastCounts(): Part[] {
    const { promptChars, mostOutput } = this.#guard;
    const said = this.#said.estimate(promptChars, mostOutput);
    const known = this.#usage;
    if (known === null) return [{ type: "usage", usage: said, estimated: true }];
    if (known.usage.output >= said.output / 4) return [known];
    const usage: Usage = { ...known.usage, output: said.output };
    return [{ ...known, usage, estimated: true }];
  }

  async #clearAll(how: "late" | "all"): Promise<void> {
    try {
      for (const line of this.#lines.values()) if (!line.refused) await line.clearAll(how);
    } catch (thrown) {
      this.#refuseAll(thrown);
    }
  }

  #refuseAll(thrown: unknown): void {
    if (!(thrown instanceof Unscannable)) throw thrown;
    for (const line of this.#lines.values()) if (!line.ended) line.refused = true;
  }

  #give(out: Part[]): void {
    for (const line of this.#lines.values()) {
      if (!line.refused) line.give(out);
      else if (!line.ended) line.refuse(out, REFUSED);
    }
  }

  /** Usage is always passed on, without other fields that contain findings. */
  async #usageOf(part: Usages): Promise<Usages> {
    const judging = judgePart(part, this.#guard.rules);
    if (judging === null) return part;
    const judged = await judging;
    const kept = this.#judged(judged, null);
    return this.#guard.rules.mode === "alert" || kept === null ? part : kept as Usages;
  }

  /** Screens a part that is not streamed in deltas. Returns its replacement; null: the part is dropped. */
  #judged({ part, found, stuck }: JudgedPart, line: Line | null): Part | null {
    const { rules } = this.#guard;
    const refused = line !== null &&
      (stuck && rules.mode !== "alert" || found.length > 0 && rules.mode === "block");
    const place = line?.place ?? "answer";
    for (const { field, finding } of found) this.#guard.found(finding, `${place}.${field}`, refused);
    if (!refused) return part;
    line.refused = true;
    return null;
  }

  /** An unlimited number of findings would need unlimited memory. */
  #recordFinding(finding: Finding, location: string): void {
    if (++this.#found <= MOST_FOUND) this.#guard.found(finding, location, false);
    else if (this.#guard.rules.mode !== "alert") throw new Unscannable();
  }

  #lineFor(part: Part): Line | null {
    if ("choice" in part) {
      let line = this.#lines.get(part.choice);
      if (!line) {
        const index = this.#guard.choice + part.choice;
        line = new Line({
          rules: this.#guard.rules,
          choice: part.choice,
          place: index === 0 ? "answer" : `answer[${index}]`,
          lengths: this.#guard.lengths,
          found: (finding, location) => this.#recordFinding(finding, location),
        });
        this.#lines.set(part.choice, line);
      }
      if ("block" in part) this.#lineOf.set(part.block, line);
      return line;
    }
    return "block" in part ? this.#lineOf.get(part.block) ?? null : null;
  }
}

/**
 * What a caller gets of a part: not the fields and blocks of another format, whose findings must not end the
 * answer. Null: nothing of it needs screening.
 */
function shownTo(format: FormatName, part: Part): Part | null {
  switch (part.type) {
    case "opaque":
      return part.format === format ? part : null;
    case "start":
    case "text-start":
    case "reasoning-start":
      return part.extra === undefined || part.extra.format === format ? part : null;
    case "reasoning-end":
    case "finish":
      return part.extra === undefined || part.extra.format === format ? part : { ...part, extra: undefined };
    default:
      return part;
  }
}
