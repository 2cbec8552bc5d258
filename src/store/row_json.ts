/**
 * Hand-written JSON encoding of ledger rows: it runs for every call, and `JSON.stringify` takes twice as
 * long.
 *
 * Most columns of a row equal those of an earlier row, so their text is cached. The columns that differ each
 * time stand between the cached parts.
 */
import type { Value } from "./rows.ts";

/** A run of adjacent columns that often have the same values, with a cache of their text. */
class Run {
  readonly #from: number;
  readonly #to: number;
  readonly #by: number;
  readonly #after: string;
  /** The last values and text, by the value of one column. */
  readonly #seen = new Map<Value, { own: readonly Value[]; text: string }>();

  /**
   * @param by the column that best predicts the others
   * @param after text that follows in the row, preceded by a comma
   */
  constructor(from: number, to: number, by: number, after = ",") {
    this.#after = after;
    this.#from = from;
    this.#to = to;
    this.#by = by;
  }

  text(values: readonly Value[]): string {
    const seen = this.#seen.get(values[this.#by]);
    if (seen !== undefined && this.#isLike(seen.own, values)) return seen.text;
    const own = values.slice(this.#from, this.#to);
    const text = `,${JSON.stringify(own).slice(1, -1)}${this.#after}`;
    if (this.#seen.size >= MOST_SEEN) this.#seen.clear();
    // Only this run is measured: other columns of the row may be long.
    if (text.length <= MOST_CHARS) this.#seen.set(values[this.#by], { own, text });
    return text;
  }

  #isLike(own: readonly Value[], row: readonly Value[]): boolean {
    const from = this.#from;
    for (let i = 0; i < own.length; i++) if (own[i] !== row[from + i]) return false;
    return true;
  }
}

const MOST_SEEN = 1000;
const MOST_CHARS = 1000;

/** Column indexes; the order is that of `COLUMNS`. */
const [KEY_ID, PROVIDER, INPUT, CACHED, CACHE_WRITE, OUTPUT, REASONING, AUDIO_OUTPUT] = [
  2,
  8,
  13,
  14,
  15,
  20,
  21,
  22,
];
const [COST, TTFT, LATENCY, CLIENT_GONE, PRICE_VERSION, CACHE_SAVED, TOOL_CALLS, REPAIRED, STEPS, LIST_COST] =
  [
    25,
    26,
    27,
    28,
    34,
    35,
    36,
    37,
    38,
    39,
  ];

const WHOSE = new Run(KEY_ID, PROVIDER, KEY_ID, "");
const HOW = new Run(PROVIDER, INPUT, PROVIDER);
const INPUT_KINDS = new Run(CACHE_WRITE, OUTPUT, CACHE_WRITE);
const OUTPUT_KINDS = new Run(AUDIO_OUTPUT, COST, AUDIO_OUTPUT);
const BILLED_BY = new Run(CLIENT_GONE, CACHE_SAVED, PRICE_VERSION);

/** Characters that need no escaping in JSON. */
const PLAIN = /^[\w-]*$/;

/**
 * The JSON of the columns up to the provider, which are known when a generation starts, without the closing
 * bracket.
 */
export function headJson(values: readonly Value[]): string {
  const [id, created] = values;
  const idJson = PLAIN.test(id as string) ? `["${id}",` : `[${JSON.stringify(id)},`;
  return flat(idJson + created + WHOSE.text(values));
}

/**
 * The JSON of the whole row, amounts as text. Trailing columns that an older release lacks are left out if
 * they are null.
 */
export function rowJson(head: string, v: readonly Value[]): string {
  // Short texts are concatenated first: appending to a long one makes V8's rope string deeper, see `flat`.
  const input = `${v[INPUT]},${v[CACHED]}`;
  const output = `${v[OUTPUT]},${v[REASONING]}`;
  const bill = `"${v[COST]}",${v[TTFT]},${v[LATENCY]}`;
  return flat(
    head + HOW.text(v) + input + INPUT_KINDS.text(v) + output + OUTPUT_KINDS.text(v) + bill +
      BILLED_BY.text(v) +
      endJson(v),
  );
}

function endJson(v: readonly Value[]): string {
  const end = `${amountJson(v[CACHE_SAVED])},${v[TOOL_CALLS]}`;
  if (v[REPAIRED] === null && v[STEPS] === null && v[LIST_COST] === null) return `${end}]`;
  return `${end},${v[REPAIRED]},${JSON.stringify(v[STEPS])},${amountJson(v[LIST_COST])}]`;
}

function amountJson(amount: Value): string {
  return amount === null ? "null" : `"${amount}"`;
}

/**
 * Flattens a concatenated string. V8 keeps it as a tree (rope) until a character is read; the journal and the
 * hash would each have to traverse it.
 */
function flat(text: string): string {
  return text.charCodeAt(text.length - 1) === 0 ? "" : text;
}
