/**
 * Scans every text leaf of a request, determines the action, and masks.
 *
 * Implemented as a generator that yields every few milliseconds, so that other work can run; for a short
 * request it completes without yielding. Text that could not be scanned, because of the time limit or its
 * form, is reported in the verdict and never counted as clean. Findings contain positions, never values.
 */
import type { BodyLeaves, Leaf } from "../formats/leaves/mod.ts";
import { groupsOf, joined } from "./joined_parts.ts";
import { maskAll } from "./mask_body.ts";
import type { ModelFinding } from "./model/entities_of_pieces.ts";
import type { PatternResult } from "./patterns.ts";
import { type Placeholders, placeholders } from "./placeholders.ts";
import { type Check, type Mode, stricter } from "./policy.ts";
import { type Found, type Reported, Scan, SliceClock, viewOf } from "./scan_leaves.ts";

export type { Reported } from "./scan_leaves.ts";

export interface Unscanned {
  message_index: number | null;
  location: string;
}

export interface Verdict {
  /** `pass`: unchanged. `mask`: the body was changed. `block`: it must not be sent. */
  action: "pass" | "mask" | "block";
  /** Findings within the report scope. */
  findings: Reported[];
  /** Number of all findings, including those outside the scope. */
  count: number;
  /** All findings with types and positions, for the log. */
  all: Reported[];
  /** Whether a blocking finding is within the report scope. */
  blockedInScope: boolean;
  unscanned: Unscanned[];
  /** The budget was exhausted before everything was scanned. */
  exhausted: boolean;
  /** The placeholders so far; null: nothing is masked by this check. */
  names: Placeholders | null;
}

export interface ScreenOptions {
  /** Maximum total time in milliseconds. */
  budgetMs: number;
  /** Matches of the check's patterns in the texts of {@link textsOf}. */
  patterns?: PatternResult;
  /** Findings of the model in these texts; null: the model failed. */
  entities?: ReadonlyMap<string, readonly ModelFinding[]> | null;
  /** Placeholders of texts that were screened before: the same value has the same one. Absent: there were none. */
  names?: Placeholders | null;
}

/** The texts for patterns and for the model; yields between slices of work. */
export function* textsOf(reading: BodyLeaves, check: Check): Generator<void, string[]> {
  const texts = new Set<string>();
  const clock = new SliceClock(Infinity);
  for (const leaf of scannedLeaves(reading, check)) {
    texts.add((yield* viewOf(leaf, clock))?.text ?? leaf.text);
  }
  for (const group of groupsOf(reading)) texts.add(joined(group));
  return [...texts];
}

/** The findings of a check in a request; yields between slices of work. */
export function* screenBody(
  reading: BodyLeaves,
  check: Check,
  options: ScreenOptions,
): Generator<void, Verdict> {
  const clock = new SliceClock(options.budgetMs);
  const scan = new Scan(check, clock, options.patterns, options.entities);
  const unscanned: Unscanned[] = [];
  let endless = false;
  for (const leaf of reading.leaves) {
    if (!isUnread(leaf)) continue;
    endless ||= leaf.kind === "endless";
    unscanned.push({ message_index: leaf.message, location: leaf.location });
  }
  const found: Found[] = [];
  const questions = new Questions();
  for (const leaf of scannedLeaves(reading, check)) {
    yield* scan.leaf(leaf, found);
    const question = questions.before(leaf);
    if (question !== null) yield* scan.reply(leaf, question, found);
    if (clock.spent) break;
  }
  for (const group of groupsOf(reading)) {
    if (clock.spent) break;
    if (isScanned(group.leaves[0], reading, check)) yield* scan.group(group, found);
  }
  const exhausted = clock.spent || endless || options.entities === null ||
    (check.patterns.length > 0 && !options.patterns?.whole);
  const strictest = found.reduce<Mode>((mode, f) => stricter(mode, f.mode), "alert");
  const refused = (exhausted && check.mode !== "alert") ||
    (unscanned.length > 0 && check.unscannable === "block" && check.mode === "block");
  let action: Verdict["action"] = refused || strictest === "block" ? "block" : "pass";
  const names = namesFor(reading, check, options.names);
  if (action === "pass" && strictest === "mask") {
    const scanned = scannedLeaves(reading, check);
    const masked = yield* maskAll(reading, found, { scanned, check, clock, names: names! });
    action = masked ? "mask" : "block";
  }
  return {
    action,
    count: found.length,
    all: found.map(({ reported }) => reported),
    unscanned,
    exhausted,
    names,
    ...report(found, reading, check, action === "block"),
  };
}

/** Null: the check masks nothing. */
function namesFor(
  { leaves }: BodyLeaves,
  { policy, request }: Check,
  before: Placeholders | null = null,
): Placeholders | null {
  if (policy?.mode !== "mask" && request?.mode !== "mask") return null;
  const texts = leaves.map((leaf) => leaf.text);
  if (before === null) return placeholders(texts);
  before.avoid(texts);
  return before;
}

/** A longer text can be evaluated by itself. */
const LONGEST_REPLY = 80;
/** Maximum distance of a question from the end of its message. */
const QUESTION_WITHIN = 80;

/** The questions in messages, leaf by leaf. */
class Questions {
  #message: number | null = null;
  #before: Leaf | null = null;
  #asked: Leaf | null = null;

  /** The question in the preceding message that a leaf answers; null: none. */
  before(leaf: Leaf): Leaf | null {
    const { message, kind, text } = leaf;
    if (message === null || kind !== "text") return null;
    if (message !== this.#message) {
      this.#before = message - 1 === this.#message ? this.#asked : null;
      this.#message = message;
      this.#asked = null;
    }
    const from = Math.max(0, text.length - QUESTION_WITHIN);
    if (text.includes("?", from) || text.includes("？", from)) this.#asked = leaf;
    return text.length <= LONGEST_REPLY ? this.#before : null;
  }
}

/** Texts by themselves, each a leaf at the place that it is named by. Masks are written into the object. */
export function readTexts(holder: Record<string, string>): BodyLeaves {
  const leaves = Object.keys(holder).map((location): Leaf => ({
    message: null,
    location,
    kind: "text",
    text: holder[location],
    fixed: false,
    group: null,
    holder,
    key: location,
  }));
  return { leaves, senders: [], rest: 0 };
}

function isUnread({ kind }: Leaf): boolean {
  return kind === "media" || kind === "document" || kind === "endless";
}

function isScanned(leaf: Leaf, reading: BodyLeaves, check: Check): boolean {
  if (isUnread(leaf)) return false;
  if (check.injected.size === 0 || leaf.message === null) return true;
  const name = reading.senders[leaf.message]?.name;
  return name === undefined || !check.injected.has(name);
}

function scannedLeaves(reading: BodyLeaves, check: Check): Leaf[] {
  return reading.leaves.filter((leaf) => isScanned(leaf, reading, check));
}

/** Maximum number of findings that a verdict lists; all are counted. */
const MOST_LISTED = 1000;

interface Report {
  findings: Reported[];
  blockedInScope: boolean;
}

function report(found: readonly Found[], reading: BodyLeaves, check: Check, blocked: boolean): Report {
  const { senders } = reading;
  const only = check.scope === "all"
    ? null
    : check.scope === "last_message"
    ? senders.length - 1
    : senders.findLastIndex((sender) => sender.role === "user");
  const inScope = found.filter(({ reported }) => only === null || reported.message_index === only);
  return {
    findings: inScope.slice(0, MOST_LISTED).map(({ reported }) => reported).sort((a, b) =>
      (a.message_index ?? -1) - (b.message_index ?? -1) || a.start - b.start
    ),
    blockedInScope: blocked && inScope.some(({ mode }) => mode !== "alert"),
  };
}
