/**
 * Resolves overlapping findings: the longest wins, then the one with higher confidence, then the more
 * specific one. Exceptions: an address and a secret in it, and types of one number whose check digits fit
 * several of them.
 */

import type { Candidate } from "./recognizers/scanned_view.ts";

/** Types whose values contain other values. */
const CONTAINERS: ReadonlySet<string> = new Set(["URL", "DOMAIN_NAME"]);
/** Maximum number of types reported for one span. */
const MOST_TYPES = 6;
/** Maximum number of findings in a chain of overlaps that are compared pairwise. */
const CHAIN = 400;

/** The remaining findings, in order of position. */
export function overlaps(found: Candidate[]): Candidate[] {
  if (found.length < 2) return found;
  const containers = found.filter(({ type }) => CONTAINERS.has(type));
  if (containers.length === 0) return resolve(found);
  const values = resolve(found.filter(({ type }) => !CONTAINERS.has(type)));
  return [...values, ...resolve(containers)].sort((a, b) => a.start - b.start);
}

function resolve(found: Candidate[]): Candidate[] {
  found.sort((a, b) => a.start - b.start);
  const kept: Candidate[] = [];
  for (let i = 0; i < found.length;) {
    let end = found[i].end;
    let j = i + 1;
    for (; j < found.length && found[j].start < end; j++) end = Math.max(end, found[j].end);
    if (j === i + 1) kept.push(found[i]);
    else choose(found.slice(i, j), kept);
    i = j;
  }
  return kept.sort((a, b) => a.start - b.start);
}

function choose(chain: Candidate[], kept: Candidate[]): void {
  chain.sort((a, b) =>
    (b.end - b.start) - (a.end - a.start) || b.confidence - a.confidence || specificity(b) - specificity(a)
  );
  const taken: Candidate[] = [];
  for (const one of chain.slice(0, CHAIN)) {
    const rivals = taken.filter((other) => other.start < one.end && one.start < other.end);
    if (rivals.length >= MOST_TYPES) continue;
    if (rivals.every((other) => isAsGood(one, other) || crosses(one, other))) taken.push(one);
  }
  kept.push(...taken);
}

/** Another type of the same number with equal confidence, or the same document of another country. */
function isAsGood(one: Candidate, other: Candidate): boolean {
  return one.start === other.start && one.end === other.end && one.type !== other.type &&
    (one.confidence === other.confidence || kindOf(one) === kindOf(other) && kindOf(one) !== "") &&
    specificity(one) === 2 && specificity(other) === 2;
}

/**
 * Confidence from which a finding counts as verified, so that a part that extends beyond another finding is
 * kept.
 */
const SURE = 0.85;

/** Whether two verified values overlap partially: dropping one would leave its rest unmasked. */
function crosses(one: Candidate, other: Candidate): boolean {
  return one.confidence >= SURE && other.confidence >= SURE &&
    (one.start < other.start ? one.end < other.end : one.start > other.start && one.end > other.end);
}

/** `PASSPORT` of `KR_PASSPORT`; other types are unchanged. */
function kindOf({ type }: Candidate): string {
  return /^[A-Z]{2}_((?:PASSPORT|DRIVER_LICENSE|DRIVING_LICENCE))$/.exec(type)?.[1].replace(
    "DRIVING_LICENCE",
    "DRIVER_LICENSE",
  ) ?? "";
}

function specificity({ type }: Candidate): number {
  return type === "GENERIC_SECRET" ? 0 : type === "API_KEY" || type === "PHONE_NUMBER" ? 1 : 2;
}
