/**
 * Converts a prompt to the features of the difficulty model: a fixed row of about eighty numbers (lengths,
 * quantities, word classes, form of answer options) and hashes of its words and word pairs. One pass over at
 * most `READ_CHARS` characters, so the cost is bounded; of a longer prompt the beginning and the end are
 * read, where instructions and questions usually are.
 */

import {
  countGrams,
  firstTokenAt,
  hashWord,
  isUpper,
  lower,
  MARK_TOKEN,
  NUMBER_TOKEN,
  READ_CHARS,
  tokenize,
  type Tokens,
  WORD_TOKEN,
} from "./tokens.ts";
import { CLASSES } from "./word_classes.ts";

const CLASS_NAMES = Object.keys(CLASSES) as (keyof typeof CLASSES)[];

const SHAPE_NAMES = [
  "chars",
  "questionChars",
  "questionWords",
  "sentences",
  "wordsPerSentence",
  "lastSentence",
  "wordLength",
  "longWords",
  "numbers",
  "distinctNumbers",
  "largest",
  "decimals",
  "roundCents",
  "smallNumbers",
  "oddNumbers",
  "magnitude",
  "percent",
  "dollar",
  "slashFraction",
  "quantities",
  "wordsPerNumber",
  "pastTense",
  "capitals",
  "names",
  "commas",
  "possessive",
  "quotes",
  "colons",
  "symbols",
  "singleLetters",
  "blank",
  "questionMarks",
  "endsWithQuestion",
  "startsWithQuestion",
  "distinctWords",
  "lines",
  "foreign",
  "options",
  "optionMean",
  "optionLongest",
  "optionShortest",
  "optionSpread",
  "optionNumeric",
  "optionShared",
  "optionInQuestion",
  "optionNegation",
  "optionNames",
] as const;

/** Names of the numbers of a row, in order. */
export const FEATURE_NAMES: readonly string[] = [...SHAPE_NAMES, ...CLASS_NAMES];

/** The kind of prompt: multiple choice, arithmetic word problem, or anything else. */
export type Kind = "choice" | "sum" | "open";

/** The features of a prompt. */
export interface Features {
  kind: Kind;
  /** In the order of `FEATURE_NAMES`. */
  dense: Float64Array;
  /** Distinct hashes of words and word pairs. */
  grams: Uint32Array;
  /** Number of occurrences of each of `grams`. */
  counts: Uint16Array;
}

const SLOT = Object.fromEntries(FEATURE_NAMES.map((name, i) => [name, i])) as Record<
  typeof SHAPE_NAMES[number] | keyof typeof CLASSES,
  number
>;
const FIRST_CLASS = SHAPE_NAMES.length;

const classesOfWord = new Map<number, number[]>();
for (const [i, name] of CLASS_NAMES.entries()) {
  for (const word of CLASSES[name].split(" ")) {
    const list = classesOfWord.get(hashWord(word)) ?? [];
    list.push(i);
    classesOfWord.set(hashWord(word), list);
  }
}
const NEGATING = new Set("not no none all neither both never nor".split(" ").map(hashWord));
const ASKING = new Set("which what who how why when where".split(" ").map(hashWord));

/** Extracts features of a prompt of any length in bounded time. */
export function features(prompt: string): Features {
  const text = prompt.length <= READ_CHARS
    ? prompt
    : prompt.slice(0, READ_CHARS / 2) + "\n" + prompt.slice(1 - READ_CHARS / 2);
  const tokens = tokenize(text);
  const options = findOptions(text);
  const dense = new Float64Array(FEATURE_NAMES.length);
  const questionEnd = options.length > 0 ? options[0].start : text.length;
  const questionTokens = firstTokenAt(tokens, questionEnd);

  readQuestion(text, questionEnd, { ...tokens, count: questionTokens }, dense);
  if (options.length > 0) readOptions(text, options, questionTokens, tokens, dense);
  dense[SLOT.chars] = Math.log1p(prompt.length);

  const kind = options.length > 0 ? "choice" : isSum(dense) ? "sum" : "open";
  const { grams, counts } = countGrams(tokens);
  return { kind, dense, grams, counts };
}

/**
 * A word problem has two quantities and a question about them, possibly without a question mark ("calculate
 * Allen's age"). Logs, programs and long documents contain numbers too, but with many more punctuation marks
 * and words.
 */
function isSum(dense: Float64Array): boolean {
  const times = (slot: number) => Math.round(Math.expm1(dense[slot]));
  const asks = dense[SLOT.how] > 0 || dense[SLOT.total] > 0 || dense[SLOT.questionMarks] > 0 ||
    times(SLOT.numbers) >= 2;
  return asks && times(SLOT.quantities) >= 2 && times(SLOT.symbols) <= 12 && times(SLOT.questionWords) <= 250;
}

interface Option {
  /** Start of the whole line. */
  start: number;
  /** Start of the option's text, after "A. ". */
  body: number;
  end: number;
}

/** Lines "A. …", "B) …", "(C) …" in sequence, at least two; the last sequence that starts with A counts. */
function findOptions(text: string): Option[] {
  let found: Option[] = [];
  for (let line = 0; line < text.length;) {
    const newline = text.indexOf("\n", line);
    const end = newline === -1 ? text.length : newline;
    let at = line;
    if (text.charCodeAt(at) === 40) at++;
    const letter = text.charCodeAt(at) & ~32;
    const mark = text.charCodeAt(at + 1);
    const marked = (mark === 46 || mark === 41 || mark === 58) && text.charCodeAt(at + 2) === 32;
    if (marked && isUpper(letter)) {
      if (letter === 65) found = [];
      if (letter === 65 + found.length) found.push({ start: line, body: at + 3, end });
    }
    line = end + 1;
  }
  return found.length >= 2 ? found : [];
}

/** State of the sentence being read. */
interface Sentence {
  /** In UTF-16 units. */
  start: number;
  /** Only punctuation marks have been read so far. */
  opening: boolean;
}

/**
 * Fills the features of the question in `dense`: first counts, then the values that the model reads.
 *
 * @param end end of the question in `text`
 * @param tokens tokens of the question
 */
function readQuestion(text: string, end: number, tokens: Tokens, dense: Float64Array): void {
  const { count, kinds, starts, ends } = tokens;
  const sentence: Sentence = { start: 0, opening: true };
  const names = new Set<number>();
  const words = new Set<number>();
  const numbers = new Set<number>();
  for (let i = 0; i < count; i++) {
    if (kinds[i] === WORD_TOKEN) {
      words.add(tokens.hashes[i]);
      if (countWord(text, tokens, i, sentence.opening, dense)) names.add(tokens.hashes[i]);
      sentence.opening = false;
    } else if (kinds[i] === NUMBER_TOKEN) {
      sentence.opening = false;
      i = countNumber(text, tokens, i, dense, numbers);
    } else {
      const code = text.charCodeAt(starts[i]);
      countMark(code, dense);
      if ((code === 46 || code === 33 || code === 63) && !sentence.opening) {
        dense[SLOT.sentences]++;
        sentence.opening = true;
        if (i + 1 < count) sentence.start = ends[i];
      }
    }
  }
  if (!sentence.opening) dense[SLOT.sentences]++;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) {
    dense[SLOT.lines]++;
  }
  dense[SLOT.names] = names.size;
  dense[SLOT.distinctWords] = words.size;
  dense[SLOT.distinctNumbers] = numbers.size;
  dense[SLOT.questionChars] = end;
  dense[SLOT.lastSentence] = end - sentence.start;
  scaleCounts(dense);
  const last = count > 0 ? text.charCodeAt(starts[count - 1]) : 0;
  dense[SLOT.endsWithQuestion] = last === 63 ? 1 : 0;
  dense[SLOT.startsWithQuestion] = count > 0 && ASKING.has(tokens.hashes[0]) ? 1 : 0;
}

/** Returns whether it looks like a name: capitalized within a sentence. */
function countWord(
  text: string,
  { hashes, starts, ends }: Tokens,
  i: number,
  opening: boolean,
  dense: Float64Array,
): boolean {
  const code = text.charCodeAt(starts[i]);
  const length = ends[i] - starts[i];
  dense[SLOT.questionWords]++;
  dense[SLOT.wordLength] += length;
  if (length >= 9) dense[SLOT.longWords]++;
  if (length === 1 && lower(code) !== 97 && code !== 73) dense[SLOT.singleLetters]++;
  if (code >= 128) dense[SLOT.foreign]++;
  if (length > 3 && text.charCodeAt(ends[i] - 1) === 100 && text.charCodeAt(ends[i] - 2) === 101) {
    dense[SLOT.pastTense]++;
  }
  const classes = classesOfWord.get(hashes[i]);
  if (classes !== undefined) { for (const c of classes) dense[FIRST_CLASS + c]++; }
  const isName = !opening && isUpper(code) && length > 1;
  if (isName) dense[SLOT.capitals]++;
  return isName;
}

/**
 * Counts the number that starts at a token. "2,000.50" consists of five tokens but is one number; returns the
 * last of them.
 */
function countNumber(
  text: string,
  { count, kinds, starts, ends }: Tokens,
  i: number,
  dense: Float64Array,
  values: Set<number>,
): number {
  let value = Number(text.slice(starts[i], Math.min(ends[i], starts[i] + 12)));
  while (
    i + 2 < count && kinds[i + 2] === NUMBER_TOKEN && starts[i + 2] === ends[i + 1] &&
    starts[i + 1] === ends[i]
  ) {
    const joint = text.charCodeAt(starts[i + 1]);
    const digits = ends[i + 2] - starts[i + 2];
    const next = Number(text.slice(starts[i + 2], Math.min(ends[i + 2], starts[i + 2] + 12)));
    if (joint === 44 && digits === 3) value = value * 1000 + next;
    else if (joint === 46) {
      dense[SLOT.decimals]++;
      if (digits === 2 && next === 0) dense[SLOT.roundCents]++;
      value += next / 10 ** Math.min(digits, 12);
    } else {
      if (joint === 47) dense[SLOT.slashFraction]++;
      break;
    }
    i += 2;
  }
  values.add(value);
  dense[SLOT.numbers]++;
  if (value <= 3) dense[SLOT.smallNumbers]++;
  if (value > 10 && value % 5 !== 0) dense[SLOT.oddNumbers]++;
  dense[SLOT.largest] = Math.max(dense[SLOT.largest], value);
  dense[SLOT.magnitude] += Math.log1p(Math.min(value, 1e6));
  return i;
}

function countMark(code: number, dense: Float64Array): void {
  if (code === 63) dense[SLOT.questionMarks]++;
  else if (code === 44) dense[SLOT.commas]++;
  else if (code === 39 || code === 0x2019) dense[SLOT.possessive]++;
  else if (code === 34 || code === 0x201c || code === 0x201d) dense[SLOT.quotes]++;
  else if (code === 58 || code === 59) dense[SLOT.colons]++;
  else if (code === 37) dense[SLOT.percent]++;
  else if (code === 36) dense[SLOT.dollar]++;
  else if (code === 95) dense[SLOT.blank]++;
  if (SYMBOLS.has(code)) dense[SLOT.symbols]++;
}

/** Counts of which the model reads the logarithm. */
const LOGARITHMIC = ([
  "questionChars",
  "questionWords",
  "sentences",
  "lastSentence",
  "numbers",
  "distinctNumbers",
  "decimals",
  "roundCents",
  "smallNumbers",
  "oddNumbers",
  "magnitude",
  "percent",
  "dollar",
  "slashFraction",
  "pastTense",
  "capitals",
  "names",
  "commas",
  "possessive",
  "quotes",
  "colons",
  "symbols",
  "singleLetters",
  "questionMarks",
  "lines",
] as const).map((name) => SLOT[name]);
/** Counts that the model reads as a share of all words. */
const SHARES = (["wordLength", "longWords", "distinctWords", "foreign"] as const).map((name) => SLOT[name]);

/** Converts counts to the values that the model reads: logarithms and shares. */
function scaleCounts(dense: Float64Array): void {
  const words = dense[SLOT.questionWords];
  const numbers = dense[SLOT.numbers];
  const quantities = numbers + dense[SLOT.numberWord] + dense[SLOT.fraction] + dense[SLOT.multiple];
  dense[SLOT.quantities] = Math.log1p(quantities);
  dense[SLOT.wordsPerSentence] = Math.log1p(words / Math.max(1, dense[SLOT.sentences]));
  dense[SLOT.wordsPerNumber] = Math.log((words + 1) / (1 + numbers));
  dense[SLOT.largest] = Math.log1p(Math.min(dense[SLOT.largest], 1e6));
  dense[SLOT.blank] = dense[SLOT.blank] > 1 ? 1 : 0;
  for (const slot of SHARES) dense[slot] /= Math.max(1, words);
  for (const slot of LOGARITHMIC) dense[slot] = Math.log1p(dense[slot]);
  for (let i = FIRST_CLASS; i < dense.length; i++) dense[i] = Math.log1p(dense[i]);
}

const SYMBOLS = new Set([..."=+*/^<>|\\{}[]()_−×≤≥√∑∫"].map((c) => c.charCodeAt(0)));

function readOptions(
  text: string,
  options: Option[],
  questionTokens: number,
  tokens: Tokens,
  dense: Float64Array,
): void {
  const { count, hashes, kinds, starts, ends } = tokens;
  const inQuestion = new Set<number>();
  for (let i = 0; i < questionTokens; i++) if (kinds[i] === WORD_TOKEN) inQuestion.add(hashes[i]);
  const optionsWith = new Map<number, number>();
  const lengths: number[] = [];
  let numeric = 0, negating = 0, named = 0, overlap = 0;
  for (const option of options) {
    lengths.push(Math.log1p(option.end - option.body));
    const own = new Set<number>();
    let negates = false, capitals = 0, shared = 0;
    const first = firstTokenAt(tokens, option.body);
    for (let i = first; i < count && starts[i] < option.end; i++) {
      if (kinds[i] === MARK_TOKEN || own.has(hashes[i])) continue;
      own.add(hashes[i]);
      if (NEGATING.has(hashes[i])) negates = true;
      if (inQuestion.has(hashes[i])) shared++;
      if (isUpper(text.charCodeAt(starts[i])) && ends[i] - starts[i] > 1) capitals++;
    }
    for (const hash of own) optionsWith.set(hash, (optionsWith.get(hash) ?? 0) + 1);
    const lead = first < count && kinds[first] === MARK_TOKEN ? first + 1 : first;
    if (lead < count && starts[lead] < option.end && kinds[lead] === NUMBER_TOKEN) numeric++;
    if (negates) negating++;
    if (capitals > 1) named++;
    overlap += shared / Math.max(1, own.size);
  }
  const n = options.length;
  const mean = lengths.reduce((sum, x) => sum + x, 0) / n;
  let everywhere = 0;
  for (const times of optionsWith.values()) if (times === n) everywhere++;
  dense[SLOT.options] = n;
  dense[SLOT.optionMean] = mean;
  dense[SLOT.optionLongest] = Math.max(...lengths);
  dense[SLOT.optionShortest] = Math.min(...lengths);
  dense[SLOT.optionSpread] = Math.sqrt(lengths.reduce((sum, x) => sum + (x - mean) ** 2, 0) / n);
  dense[SLOT.optionNumeric] = numeric / n;
  dense[SLOT.optionShared] = everywhere / Math.max(1, optionsWith.size);
  dense[SLOT.optionInQuestion] = overlap / n;
  dense[SLOT.optionNegation] = negating / n;
  dense[SLOT.optionNames] = named / n;
}
