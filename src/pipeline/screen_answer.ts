/**
 * Stage: data-loss prevention for an answer. Stands right behind the provider's call, so that neither a search nor the next
 * round of one sees what the caller must not.
 *
 * Text goes on as soon as no value can be open in it; what may be the beginning of one waits until that is known, a
 * quarter of a second or 512 units at most. Where an answer is refused, the caller gets the filter's ending at once, and
 * the provider is read on for its counts, because it is paid for what it made.
 */
import { type AnswerRules, Unscannable } from "../dlp/answer_rules.ts";
import { type JudgedPart, judgeFailure, judgePart } from "../dlp/answer_fields.ts";
import type { Finding } from "../dlp/scan.ts";
import { Failure } from "../exchange/failure.ts";
import type { Part } from "../exchange/part.ts";
import type { Usage } from "../exchange/usage.ts";
import type { Deadline, Ticker } from "../timing/ticker.ts";
import { Line } from "./answer_line.ts";
import { estimateUsage } from "./estimate.ts";
import { isLarge, portions } from "./judged_portions.ts";

/** The ticker may be off by a twentieth of a second, and nothing may wait for more than 300 ms. */
const HOLD_MS = 200;
/** How long a refused answer is read on. */
const DRAIN_MS = 10_000;
/** Judging that takes longer in all, in milliseconds, lets others have their turn. */
const TURN_MS = 5;
/** In alert mode nothing waits, so the text is judged in longer pieces. */
const PIECE = 512;
/** Findings of one answer: one with more of them counts as not scanned. */
const MOST_FOUND = 50_000;
const MOST_CHOICES = 1e6;
const UNSCANNED = "The provider's words could not be scanned, so they are left out.";
const REFUSED = "The answer holds data that must not leave, so data-loss prevention ended it.";

export interface AnswerGuard {
  rules: AnswerRules;
  ticker: Ticker;
  /** Lets others have their turn. */
  pause(): Promise<void>;
  /** Told how long a piece of an answer took. */
  held(ms: number): void;
  /** Which of several answers that are asked for one by one. */
  choice: number;
  /** Length of the prompt, for an estimate. */
  promptChars: number;
  lengths: Map<string, number>;
  /** @param refused the finding cannot be replaced, so it ends the answer */
  found(finding: Finding, location: string, refused: boolean): void;
}

type Usages = Extract<Part, { type: "usage" }>;
type Step = IteratorResult<readonly Part[]>;
/** What the provider came to: parts, its end, or a failure. */
type Came = Step | { thrown: unknown };
const LATE = Symbol();

/** Stage: what a policy finds in an answer is masked, reported, or ends it. Text waits until it is known to be clean. */
export async function* screenAnswer(
  parts: AsyncGenerator<readonly Part[]>,
  guard: AnswerGuard,
): AsyncGenerator<readonly Part[]> {
  const screen = new AnswerScreen(guard);
  const provider = new ProviderWait(parts, guard.ticker);
  /** All that could go has gone, and nothing has come since. */
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

/** What the provider sends, waited for no longer than what is held back may wait, or than a refused answer is read on. */
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

  /** The answer is refused, and read on for its counts alone. */
  get draining(): boolean {
    return this.#draining;
  }

  /** @param since when the oldest of what is held back came, by the ticker; null: nothing is held back */
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

  /** What came has been taken: what is waited for next comes behind it. */
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

/** Judges a batch in portions, between which others have their turn: a provider that sends a word at a time may send thousands at once. */
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
  #said = 0;
  #found = 0;
  /** Milliseconds of judging since others had their turn. */
  #unpaused = 0;

  constructor(guard: AnswerGuard) {
    this.#guard = guard;
  }

  /** When the oldest part that waits came; null: none does. */
  get since(): number | null {
    let oldest: number | null = null;
    for (const { since } of this.#lines.values()) {
      if (since !== null && (oldest === null || since < oldest)) oldest = since;
    }
    return oldest;
  }

  /** One of the choices was refused, and none goes on. */
  get isRefused(): boolean {
    let refused = false;
    for (const line of this.#lines.values()) {
      if (!line.ended) return false;
      refused ||= line.refused;
    }
    return refused;
  }

  /** Others are to have their turn before more is judged. */
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
        // No choice has such a number.
        if (!alert && "choice" in part && part.choice >= MOST_CHOICES) {
          part = { ...part, choice: part.choice % MOST_CHOICES };
        }
        if (part.type === "usage") {
          this.#usage = await this.#usageOf(part);
          out.push(this.#usage);
          continue;
        }
        if ("text" in part) this.#said += part.text.length;
        const line = this.#lineFor(part);
        if (line?.refused) continue;
        const judging = judgePart(part, this.#guard.rules);
        const judged = judging === null ? part : this.#judged(await judging, line);
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

  /** Nothing came for too long: what waits goes as it is. */
  async late(out: Part[]): Promise<void> {
    await this.#clearAll("late");
    this.#give(out);
  }

  async end(out: Part[]): Promise<void> {
    await this.#clearAll("all");
    this.#give(out);
  }

  /** The provider failed: what had come before is still good, and after a refusal nothing was expected any more. */
  async fail(thrown: unknown, out: Part[]): Promise<Step> {
    if (!this.isRefused) this.failure = { thrown: await this.#failureOf(thrown) };
    await this.#clearAll("all");
    this.#give(out);
    return { done: true, value: undefined };
  }

  /** A provider may tell in its refusal what it would have said. */
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

  /** Counts of an answer that was refused: as reported, and where that lacks, by what was said. */
  lastCounts(): Part[] {
    const said = estimateUsage(this.#guard.promptChars, this.#said);
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

  /** Counts are told whatever becomes of the answer, without what was found beside them. */
  async #usageOf(part: Usages): Promise<Usages> {
    const judging = judgePart(part, this.#guard.rules);
    if (judging === null) return part;
    const judged = await judging;
    const kept = this.#judged(judged, null);
    return this.#guard.rules.mode === "alert" || kept === null ? part : kept as Usages;
  }

  /** What takes the place of a part that comes whole; null: nothing. */
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

  /** What could be told and masked without end would take memory without end. */
  #tell(finding: Finding, location: string): void {
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
          found: (finding, location) => this.#tell(finding, location),
        });
        this.#lines.set(part.choice, line);
      }
      if ("block" in part) this.#lineOf.set(part.block, line);
      return line;
    }
    return "block" in part ? this.#lineOf.get(part.block) ?? null : null;
  }
}
