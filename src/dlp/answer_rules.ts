/**
 * The rules for screening an answer: those of a check, and the secrets of the gateway, which are always
 * included. Findings are in UTF-16 units of the given text.
 */
import { foldValue } from "./exact_words.ts";
import { unescaped } from "./json_text.ts";
import { BOUNDS, readings, revealed } from "./lattice.ts";
import type { Openings } from "./open_value.ts";
import { findPatterns, type LongWork } from "./patterns.ts";
import { isWithinPlaceholder, type Placeholders, placeholders } from "./placeholders.ts";
import { type Check, type Mode, modeOf } from "./policy.ts";
import type { Finding } from "./scan.ts";
import type { StopWordFinder } from "./stop_words.ts";
import type { Span } from "./view.ts";

/** Secrets of the gateway: configured ones, and API keys. */
export interface OwnSecrets {
  /** Searched literally, without word boundaries. */
  readonly values: readonly string[];
  /** Searched for in disguised forms. Null: there are none. */
  readonly finder: StopWordFinder | null;
  /** Whether this is the secret of a key. */
  isKey(text: string): boolean;
}

const OWN_SECRET = "GATEWAY_SECRET";
const OWN = { category: "secret", entityType: OWN_SECRET, confidence: 1 } as const;
/** All secrets have at least this length. */
const MAY_BE_SECRET = /\S{8}/;
const KEY = /sk_(?:live|admin)_[\w-]{1,504}/g;
/** Texts up to this length are scanned at once. */
const LONG = 16_384;

const NONE: ReadonlyMap<string, string> = new Map();

/** A text could not be scanned completely. */
export class Unscannable extends Error {}

export class AnswerRules {
  readonly openings: Openings;
  readonly placeholders: Placeholders;
  readonly #check: Check;
  readonly #long: LongWork;
  readonly #secrets: OwnSecrets;
  /** Placeholders of the request, which the model repeats; they are not findings. */
  readonly #known: ReadonlyMap<string, string>;

  /** @param names of the request; null: nothing in it is masked */
  constructor(
    check: Check,
    long: LongWork,
    secrets: OwnSecrets,
    names: Pick<Placeholders, "originals" | "taken"> | null,
  ) {
    this.#check = check;
    this.#long = long;
    this.#secrets = secrets;
    this.#known = names?.originals ?? NONE;
    this.placeholders = placeholders([], names?.taken);
    this.openings = {
      phrases: check.stopWords.map(({ rule }) => foldValue(rule.value)).filter((value) =>
        value.includes(" ")
      ),
      words: check.patterns.some(({ rule }) => /[ .]|\\[sSWD]|\[\^/.test(rule.pattern)) ? 2 : 0,
    };
  }

  get mode(): Mode {
    return this.#check.mode;
  }

  /**
   * Throws {@link Unscannable} if time or memory is insufficient and the mode is stricter than `alert`.
   *
   * @param from the text before has been screened, and ends with a word
   */
  judge(text: string, from = 0): Finding[] | Promise<Finding[]> {
    const { patterns, detectors } = this.#check;
    if (patterns.length === 0 && text.length <= LONG) {
      return this.#rest(text, from, detectors.flatMap((detector) => this.#lifted(text, detector.scan(text))));
    }
    return this.#judgeSlowly(text);
  }

  /** The same for JSON text: escapes are decoded first. */
  judgeJson(text: string, from = 0): Finding[] | Promise<Finding[]> {
    const view = unescaped(text);
    if (view === null) return this.judge(text, from);
    const moved = (findings: Finding[]) =>
      findings.map((one) => ({ ...one, start: view.from![one.start], end: view.to![one.end - 1] }));
    const found = this.judge(view.text);
    return found instanceof Promise ? found.then(moved) : moved(found);
  }

  async #judgeSlowly(text: string): Promise<Finding[]> {
    const { patterns, detectors, mode } = this.#check;
    const found: Finding[] = [];
    for (const detector of detectors) {
      const { slices, key } = this.#long;
      found.push(...this.#lifted(text, await slices.run(key, detector.scanSliced(text))));
    }
    if (patterns.length > 0) {
      const { matches, whole } = await findPatterns([text], this.#check, this.#long);
      if (!whole && mode !== "alert") throw new Unscannable();
      for (const { pattern, start, end } of matches.get(text) ?? []) {
        const value = text.slice(start, end);
        if (modeOf(this.#check, { kind: "regex", index: pattern }, value) === null) continue;
        const { name } = patterns[pattern].rule;
        found.push({ category: "regex", entityType: name, start, end, confidence: 1 });
      }
    }
    return this.#rest(text, 0, found);
  }

  #lifted(text: string, found: Finding[]): Finding[] {
    return found.filter(({ entityType, start, end }) =>
      modeOf(this.#check, { kind: "type", type: entityType }, text.slice(start, end)) !== null
    );
  }

  /** Adds findings that are not entity types; returns non-overlapping findings in order. */
  #rest(text: string, from: number, found: Finding[]): Finding[] {
    const { finder } = this.#check;
    const mayHoldSecret = MAY_BE_SECRET.test(from === 0 ? text : text.slice(from));
    if (finder || mayHoldSecret) {
      for (const reading of readings(text)) {
        if (reading.joined || reading.cells) continue;
        // The finders fold the text themselves.
        const read = reading.level === 0 ? text : reading.view.text;
        const add = (span: Span, more: Pick<Finding, "category" | "entityType" | "confidence">) => {
          const there = reading.level === 0 ? span : revealed(reading, span.start, span.end, BOUNDS);
          if (there) found.push({ ...more, start: there.start, end: there.end });
        };
        for (const match of finder?.find(read) ?? []) {
          if (modeOf(this.#check, { kind: "stop_word", index: match.word }, "") === null) continue;
          add(match, { category: "stop_word", entityType: "STOP_WORD", confidence: match.confidence });
        }
        if (mayHoldSecret) { for (const span of this.#ownSecrets(read)) add(span, OWN); }
      }
    }
    if (found.length < 2) return found.filter((one) => !this.#isKnown(text, one));
    return apart(found.filter((one) => !this.#isKnown(text, one)));
  }

  *#ownSecrets(text: string): Generator<Span> {
    for (const value of this.#secrets.values) {
      for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length)) {
        yield { start: at, end: at + value.length };
      }
    }
    yield* this.#secrets.finder?.find(text) ?? [];
    for (const { 0: key, index } of text.matchAll(KEY)) {
      if (this.#secrets.isKey(key)) yield { start: index, end: index + key.length };
    }
  }

  #isKnown(text: string, { start, end }: Finding): boolean {
    return isWithinPlaceholder(text, start, end, this.#known);
  }
}

/** Of overlapping findings the longest; of equally long ones the gateway's own secret. */
function apart(found: Finding[]): Finding[] {
  const own = ({ entityType }: Finding) => entityType === OWN_SECRET ? 1 : 0;
  const sorted = found.sort((a, b) => own(b) - own(a) || (b.end - b.start) - (a.end - a.start));
  const kept: Finding[] = [];
  for (const one of sorted) {
    if (!kept.some((other) => other.start < one.end && one.start < other.end)) kept.push(one);
  }
  return kept.sort((a, b) => a.start - b.start);
}
