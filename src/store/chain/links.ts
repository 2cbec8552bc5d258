/**
 * Hash chains of records: the link of a record is a keyed hash of the previous link and the record. Without the key, a changed, removed,
 * inserted or moved record is detected.
 *
 * There is one chain for each node and day. The transactions of a node are sequential, so nodes never wait for each other to extend a
 * chain. The key is derived from the pepper, which is not in the database.
 */
import { base64url, hmacSha256, sha256Hex } from "../../exchange/hashes.ts";
import { DAY } from "../sums.ts";

/** A chain's end: how many links there are, and the last one. */
export interface ChainEnd {
  id: string;
  node: string;
  /** When it begins. */
  day: number;
  length: number;
  hash: string;
}

/** Where in which chain a record stands, as its column holds it: `CHAIN POSITION HASH`. */
export interface Link {
  chain: string;
  /** From 1. */
  position: number;
  hash: string;
}

/**
 * Of a hash, in hexadecimal: 96 bits. Most of a hash is told to nobody, so none can be continued without the key, and one round
 * is enough. (The runtime has a quick way to a hash in hexadecimal, and no other.)
 */
const LETTERS = 24;

/** The key of the ledger's links, made from the pepper: whoever can write to the database alone cannot make a link. */
export function chainKeyOf(pepper: string): string {
  return base64url(hmacSha256(pepper, "ledger chain"));
}

function keyed(key: string, text: string): string {
  return sha256Hex(key + text).slice(0, LETTERS);
}

/** What stands where the first link has one before it. */
export function firstOf({ node, day }: Pick<ChainEnd, "node" | "day">): string {
  return `${node} ${day}`;
}

/** The hash of a record's link. */
export function linkHash(key: string, before: string, content: string): string {
  return keyed(key, `${before}\n${content}`);
}

/** Of a chain's end: without it a chain could be shortened to any link that it has had. */
export function sealOfEnd(key: string, { id, node, day, length, hash }: ChainEnd): string {
  return keyed(key, `end ${id} ${node} ${day} ${length} ${hash}`);
}

/** Of a record that was taken out for a reason. */
export function sealOfRemoved(key: string, link: string, content: string): string {
  return keyed(key, `removed ${link}\n${content}`);
}

/** What of a row's text is hashed: columns that a later release adds are null in it, and stand at its end. */
export function contentOf(json: string): string {
  // Most rows end in a number.
  if (json.charCodeAt(json.length - 2) !== 0x6c || !json.endsWith(",null]")) return json;
  let end = json.length - 1;
  while (json.endsWith(",null", end)) end -= 5;
  return `${json.slice(0, end)}]`;
}

/** The day, in UTC, that holds a time: its first millisecond. */
export function dayOf(created: number): number {
  return created - created % DAY;
}

/** A link as it stands in a record: chain, position in base 36 and hash, with blanks between. */
export function linkText({ chain, position, hash }: Link): string {
  return `${chain} ${position.toString(36)} ${hash}`;
}

/** Null: it is no link. */
export function readLink(text: string): Link | null {
  const match = /^([\w-]{8}) ([1-9a-z][0-9a-z]{0,8}) ([0-9a-f]{24})$/.exec(text);
  if (match === null) return null;
  const [, chain, position, hash] = match;
  return { chain, position: parseInt(position, 36), hash };
}
