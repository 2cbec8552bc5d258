/**
 * Replaces findings by placeholders, and scans again until the request is clean. This fails for leaves that
 * must not be changed, and for numbers in JSON, which a placeholder would turn into a string.
 */
import { type BodyLeaves, type Leaf, replaceLeaf } from "../formats/leaves/mod.ts";
import { echoesOf } from "./echoes.ts";
import { replaceInJson, replaceInText, type Replacement } from "./json_text.ts";
import { meantValues } from "./meant_values.ts";
import { isWithinPlaceholder, type Placeholders, unnamed } from "./placeholders.ts";
import type { Check } from "./policy.ts";
import { type Found, Scan, type SliceClock } from "./scan_leaves.ts";

/** Masking one finding costs as much as scanning this many units of text. */
const FINDING = 128;
/** Maximum number of rounds. */
const ROUNDS = 3;

export interface MaskOptions {
  /** The leaves in which the findings were searched. */
  scanned: readonly Leaf[];
  check: Check;
  clock: SliceClock;
  names: Placeholders;
}

/**
 * Masks findings until nothing is found any more. False: not possible.
 */
export function* maskAll(
  reading: BodyLeaves,
  found: readonly Found[],
  { scanned, check, clock, names }: MaskOptions,
): Generator<void, boolean> {
  const isPlaceholder = ({ leaf, start, end }: Found) =>
    isWithinPlaceholder(leaf.text, start, end, names.originals);
  let todo = yield* meantValues(found.filter(({ mode }) => mode === "mask"), clock);
  todo = [
    ...todo,
    ...yield* echoesOf(scanned, todo, clock, (leaf) => check.restore && isFromModel(leaf, reading)),
  ];
  if (clock.spent) return false;
  let leaves = reading.leaves;
  for (let round = 0; todo.length > 0; round++) {
    if (round === ROUNDS) return false;
    const changed = yield* maskOnce(leaves, todo, names, clock);
    if (!changed) return false;
    leaves = leaves.map((leaf) => changed.get(leaf) ?? leaf);
    const again: Found[] = [];
    // Patterns were matched before masking, and their matches have been masked; the text has changed since.
    // A placeholder is no context for the text beside it: "<US_SSN_1> 123456789".
    const read = (text: string) => unnamed(text, names.originals);
    const scan = new Scan({ ...check, patterns: [] }, clock, undefined, undefined, read);
    for (const leaf of changed.values()) yield* scan.leaf(leaf, again);
    for (const group of new Set([...changed.keys()].map((leaf) => leaf.group))) {
      if (group === null || group.leaves.length < 2) continue;
      group.leaves.forEach((leaf, i) => group.leaves[i] = changed.get(leaf) ?? leaf);
      yield* scan.group(group, again);
    }
    if (clock.spent) return false;
    if (
      again.some((one) => one.mode === "block" && !isPlaceholder(one))
    ) {
      return false;
    }
    todo = yield* meantValues(again.filter((one) => one.mode === "mask" && !isPlaceholder(one)), clock);
  }
  return true;
}

/** Whether a leaf belongs to a message or tool call of the model. */
function isFromModel({ message, location }: Leaf, { senders }: BodyLeaves): boolean {
  if (message === null) return false;
  const role = senders[message]?.role;
  return role === undefined ? /\]\.(?:arguments|input)$/.test(location) : role === "assistant";
}

/** A range of a leaf to be masked. `found` is null for the continuation of a value in later parts. */
interface Span {
  start: number;
  end: number;
  found: Found | null;
}

/** Replaces all findings, and returns the new leaf for each changed one. Null: a finding cannot be replaced. */
function* maskOnce(
  leaves: readonly Leaf[],
  found: readonly Found[],
  names: Placeholders,
  clock: SliceClock,
): Generator<void, Map<Leaf, Leaf> | null> {
  const spans = new Map<Leaf, Span[]>();
  const add = (leaf: Leaf, span: Span) => {
    const list = spans.get(leaf);
    if (list) list.push(span);
    else spans.set(leaf, [span]);
  };
  for (const one of found) {
    add(one.leaf, { start: one.start, end: one.end, found: one });
    for (const { leaf, start, end } of one.rest) add(leaf, { start, end, found: null });
  }
  const changed = new Map<Leaf, Leaf>();
  for (const leaf of leaves) {
    const list = spans.get(leaf);
    if (list === undefined) continue;
    if (leaf.fixed) return null;
    const replacements: Replacement[] = [];
    for (const { start, end, found } of mergeSpans(list)) {
      replacements.push({ start, end, by: found === null ? "" : nameOf(found, leaf, start, end, names) });
      if (clock.due(FINDING)) yield* clock.rest();
    }
    const replace = leaf.kind === "json" ? replaceInJson : replaceInText;
    const text = replace(leaf.text, replacements);
    if (text === null) return null;
    replaceLeaf(leaf, text);
    changed.set(leaf, { ...leaf, text });
    if (clock.due(text.length)) yield* clock.rest();
  }
  return changed;
}

function nameOf(found: Found, leaf: Leaf, start: number, end: number, names: Placeholders): string {
  const { entity_type, category } = found.reported;
  // A range extended by overlapping ones represents all of them.
  const grown = found.rest.length === 0 && (start < found.start || end > found.end);
  return names.of(entity_type, category, grown ? leaf.text.slice(start, end) : found.value);
}

/** Merges overlapping spans under the name of the longest. */
function mergeSpans(list: Span[]): Span[] {
  const length = ({ found }: Span) => found === null ? 0 : found.end - found.start;
  list.sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Span[] = [];
  for (const span of list) {
    const last = merged.at(-1);
    if (last && span.start < last.end) {
      last.end = Math.max(last.end, span.end);
      if (length(span) > length(last)) last.found = span.found;
    } else merged.push({ ...span });
  }
  return merged;
}
