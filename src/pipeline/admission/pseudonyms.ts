/**
 * Fields by which providers tell users, sessions and cached prefixes apart: no model reads them, and they are compared between requests.
 * A placeholder with a number is of no use there, since another request has the same placeholder for another value: all users would share
 * one identity at the provider, and one prompt cache.
 */
import { isObject, type Loose } from "../../exchange/json.ts";

/** OpenAI's and Anthropic's; those of OpenRouter, DeepSeek and Z.ai; of vLLM and Fireworks, whose caches are kept apart by them. */
const FIELDS = [
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "session_id",
  "user_id",
  "cache_salt",
  "prompt_cache_isolation_key",
];
/** Objects with such fields of any name. */
const OBJECTS = ["metadata", "client_metadata", "trace"];

/** No provider allows fewer characters in such a field, or in a field of such an object. */
const [MOST_IN_FIELD, MOST_IN_OBJECT] = [64, 256];

/** A placeholder of a mask. Its number says which of the values of one request it stands for. */
const PLACEHOLDER = /<([A-Z][A-Z0-9_]*)_\d+>/g;
/** Between a masked text and the fingerprint of the original. */
const MARK = "#";

/** Values of such fields by object and name, before anything is masked. */
export interface Identities {
  /** Of the request itself: empty name. */
  [object: string]: Readonly<Record<string, string>>;
}

/** Null: the request has none. */
export function identitiesOf(body: unknown): Identities | null {
  let found: Identities | null = null;
  for (const [name, holder, fields] of holders(body)) {
    const values: [string, string][] = [];
    for (const field of fields) {
      const value = holder[field];
      // A mask makes a string of a number.
      if (typeof value === "string" || typeof value === "number") values.push([field, String(value)]);
    }
    if (values.length > 0) (found ??= {})[name] = Object.fromEntries(values);
  }
  return found;
}

/** Writes a pseudonym in place of each value that was masked: always the same for the same value. */
export function setPseudonyms(
  body: unknown,
  sent: Identities,
  fingerprint: (text: string) => string,
): void {
  for (const [name, holder] of holders(body)) {
    for (const [field, before] of Object.entries(sent[name] ?? {})) {
      const now = holder[field];
      if (typeof now !== "string" || now === before) continue;
      const most = Math.max(name === "" ? MOST_IN_FIELD : MOST_IN_OBJECT, before.length);
      holder[field] = pseudonym(now, fingerprint(before), most);
    }
  }
}

function* holders(body: unknown): Generator<[name: string, holder: Loose, fields: readonly string[]]> {
  if (!isObject(body)) return;
  yield ["", body, FIELDS];
  for (const name of OBJECTS) {
    const holder = body[name];
    if (isObject(holder)) yield [name, holder, Object.keys(holder)];
  }
}

/**
 * A masked text with a fingerprint of the original, at most `most` UTF-16 units long.
 *
 * The placeholders get numbers of this field alone, because another field of the request may hold the same value in one request and not in
 * the next. The mark follows the first of them, so that JSON in such a field stays JSON.
 */
export function pseudonym(masked: string, fingerprint: string, most: number): string {
  const mark = MARK + fingerprint;
  const numbered = renumbered(masked);
  const first = numbered.search(PLACEHOLDER);
  if (first !== -1 && numbered.length + mark.length <= most) {
    const end = numbered.indexOf(">", first) + 1;
    return numbered.slice(0, end) + mark + numbered.slice(end);
  }
  // Half of a character would be no valid JSON for some providers.
  return numbered.slice(0, most - mark.length).toWellFormed() + mark;
}

/** Numbers placeholders by type in the order of their first appearance. */
function renumbered(masked: string): string {
  const numbers = new Map<string, number>();
  const counts = new Map<string, number>();
  return masked.replace(PLACEHOLDER, (placeholder, type: string) => {
    let number = numbers.get(placeholder);
    if (number === undefined) {
      number = (counts.get(type) ?? 0) + 1;
      counts.set(type, number);
      numbers.set(placeholder, number);
    }
    return `<${type}_${number}>`;
  });
}
