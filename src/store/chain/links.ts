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
  /** Start of the chain's day, in milliseconds since the epoch. */
  day: number;
  length: number;
  hash: string;
}

/** A record's position in its chain, stored in its column as `CHAIN POSITION HASH`. */
export interface Link {
  chain: string;
  /** Starts at 1. */
  position: number;
  hash: string;
}

/**
 * Hexadecimal digits kept of each hash: 96 bits. Truncation keeps most of the hash secret, so a chain cannot
 * be extended without the key, and one round of hashing is enough. Hexadecimal is the only encoding for which
 * the runtime has a fast path.
 */
const LETTERS = 24;

/**
 * The key for the ledger's links, derived from the pepper. Write access to the database alone does not allow
 * anybody to make a valid link.
 */
export function chainKeyOf(pepper: string): string {
  return base64url(hmacSha256(pepper, "ledger chain"));
}

function keyed(key: string, text: string): string {
  return sha256Hex(key + text).slice(0, LETTERS);
}

/** The value used in place of a previous hash for the first link of a chain. */
export function firstOf({ node, day }: Pick<ChainEnd, "node" | "day">): string {
  return `${node} ${day}`;
}

/** The hash of a record's link. */
export function linkHash(key: string, before: string, content: string): string {
  return keyed(key, `${before}\n${content}`);
}

/** A keyed hash of a chain's end. Without it, a chain could be truncated unnoticed to an earlier link. */
export function sealOfEnd(key: string, { id, node, day, length, hash }: ChainEnd): string {
  return keyed(key, `end ${id} ${node} ${day} ${length} ${hash}`);
}

/** A keyed hash for a record that was removed deliberately. */
export function sealOfRemoved(key: string, link: string, content: string): string {
  return keyed(key, `removed ${link}\n${content}`);
}

/**
 * The part of a row's text that is hashed: trailing nulls are cut, so that columns added by a later release
 * do not change the hash.
 */
export function contentOf(json: string): string {
  // Fast path: most rows end with a number.
  if (json.charCodeAt(json.length - 2) !== 0x6c || !json.endsWith(",null]")) return json;
  let end = json.length - 1;
  while (json.endsWith(",null", end)) end -= 5;
  return `${json.slice(0, end)}]`;
}

/** The day, in UTC, that holds a time: its first millisecond. */
export function dayOf(created: number): number {
  return created - created % DAY;
}

/** The text of a link: chain, position in base 36 and hash, separated by spaces. */
export function linkText({ chain, position, hash }: Link): string {
  return `${chain} ${position.toString(36)} ${hash}`;
}

/** Null: not a valid link. */
export function readLink(text: string): Link | null {
  const match = /^([\w-]{8}) ([1-9a-z][0-9a-z]{0,8}) ([0-9a-f]{24})$/.exec(text);
  if (match === null) return null;
  const [, chain, position, hash] = match;
  return { chain, position: parseInt(position, 36), hash };
}
