/**
 * One finding for each value: where spans overlap the longest wins, then the surer, then the more specific. Two things are
 * not rivals: an address and a secret in it, and the types of one number whose check digits fit several equally well.
 */

import type { Candidate } from "./recognizers/scanned_view.ts";

/** Types whose values hold other values. */
const CONTAINERS: ReadonlySet<string> = new Set(["URL", "DOMAIN_NAME"]);
/** Of one span, at most this many types are reported. */
const MOST_TYPES = 6;
/** At most this many of a chain of overlapping spans are compared one with another. */
const CHAIN = 400;

/** The findings that stay, by their place in the text. */
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

/** Another type of the very same number, as sure as the first, or the same document of another country. */
function isAsGood(one: Candidate, other: Candidate): boolean {
  return one.start === other.start && one.end === other.end && one.type !== other.type &&
    (one.confidence === other.confidence || kindOf(one) === kindOf(other) && kindOf(one) !== "") &&
    specificity(one) === 2 && specificity(other) === 2;
}

/** As sure as checks make it, so that what sticks out of the other is a part of a value as well. */
const SURE = 0.85;

/** Whether two sure values share a part only: dropping one would leave the rest of it where it is. */
function crosses(one: Candidate, other: Candidate): boolean {
  return one.confidence >= SURE && other.confidence >= SURE &&
    (one.start < other.start ? one.end < other.end : one.start > other.start && one.end > other.end);
}

/** `PASSPORT` of `KR_PASSPORT`; types of no country have none. */
function kindOf({ type }: Candidate): string {
  return /^[A-Z]{2}_((?:PASSPORT|DRIVER_LICENSE|DRIVING_LICENCE))$/.exec(type)?.[1].replace(
    "DRIVING_LICENCE",
    "DRIVER_LICENSE",
  ) ?? "";
}

function specificity({ type }: Candidate): number {
  return type === "GENERIC_SECRET" ? 0 : type === "API_KEY" || type === "PHONE_NUMBER" ? 1 : 2;
}
