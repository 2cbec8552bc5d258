/**
 * Finds where a value may have started that is incomplete at the end of a streamed text.
 *
 * A value is a run without white space, or digits in groups, or words that a stop word starts with. In plain
 * prose only the last word is open, until something follows it.
 */

import { END_OF_BLOCK } from "./recognizers/secrets/key_block.ts";

/** The longest value that is waited for, in units of text. */
export const LONGEST_OPEN = 512;
/** Maximum length of grouped digits: an IBAN with spaces takes half of it. */
const LONGEST_GROUPS = 96;
/** Words for the characters of an e-mail address. */
const WRITTEN_SIGN = /^[[(](?:at|dot)[\])]?$/iu;
/** A prefix of such a word. */
const BEGINS_SIGN = /^[[(](?:a|d|do)?$|^[[(](?:at|dot)[\])]?$/iu;
const IN_GROUPS =
  /[\p{Nd}@]|^[\p{Lu}]{1,6}[\p{P}\p{S}]*$|^[\p{P}\p{S}]+$|^(?=.*[\p{Ll}].*\p{Lu}|.{28})[\p{L}\p{P}\p{S}]+$/u;
const BREAK = /[\s"{}<>,;\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff0c\uff1b]/u;
const BEGIN_BLOCK = "-----BEGIN ";
const BEGIN_SSH2_BLOCK = "---- BEGIN SSH2 ";
/**
 * Beginnings of an answer that are not beginnings of a value: a capitalized word, letters of scripts without
 * capitals, and punctuation of Markdown and JSON.
 */
const HARMLESS =
  /^(?:[\s"{}[\]<>,;:*#`|!?~]|-(?=\s))*(?:(?:\p{Lu}[\p{Ll}'’]*|[\p{Lo}\p{M}]+)[!,:;?…*]*)?\s*$/u;

/** Folded words that a value may start with. */
export interface Openings {
  /** Stop words with spaces, in lower case and with single spaces. */
  readonly phrases: readonly string[];
  /** Number of words before the last that are held back, for patterns that match across spaces. */
  readonly words: number;
}

/**
 * @param text the received text, from any point on
 * @param from position up to which it has been released
 * @param whole the text is the beginning of the answer
 */
export function openFrom(text: string, from: number, whole: boolean, openings: Openings): number {
  const floor = Math.max(from, text.length - LONGEST_OPEN);
  const isOurs = openings.phrases.length > 0 || openings.words > 0;
  if (whole && from === 0 && !isOurs && HARMLESS.test(text)) return text.length;
  let at = text.length;
  while (at > floor && !BREAK.test(text[at - 1])) at--;
  // The following text may make the word part of an address: "jane (at) corp".
  const mayGoOn = at === text.length || BEGINS_SIGN.test(text.slice(at));
  const grouped = groupsFrom(text, at, floor);
  at = mayGoOn && grouped === at ? groupsFrom(text, wordsFrom(text, at, 1, floor), floor) : grouped;
  if (openings.words > 0) at = wordsFrom(text, at, openings.words, floor);
  for (const phrase of openings.phrases) at = Math.min(at, phraseFrom(text, phrase, floor));
  return Math.min(at, blockFrom(text, floor));
}

/** Whether the open text is only a word of letters in usual capitalization: keys mix upper and lower case. */
export function isPlainWord(open: string): boolean {
  return /^(?:\p{Lu}?[\p{Ll}\p{Lo}\p{M}'’]{0,24}|\p{Lu}{1,5})[.,:;!?…)*]*\s*$/u.test(open);
}

function groupsFrom(text: string, at: number, floor: number): number {
  const least = Math.max(floor, text.length - LONGEST_GROUPS);
  for (;;) {
    let end = at;
    while (end > least && BREAK.test(text[end - 1]) && text[end - 1] !== '"') end--;
    let start = end;
    while (start > least && !BREAK.test(text[start - 1])) start--;
    if (start === end) return at;
    const word = text.slice(start, end);
    if (WRITTEN_SIGN.test(word)) {
      // The preceding word is part of the address.
      while (start > least && BREAK.test(text[start - 1])) start--;
      while (start > least && !BREAK.test(text[start - 1])) start--;
    } else if (!IN_GROUPS.test(word)) return at;
    if (start === at) return at;
    at = start;
  }
}

function wordsFrom(text: string, at: number, count: number, floor: number): number {
  for (let i = 0; i < count; i++) {
    let start = at;
    while (start > floor && BREAK.test(text[start - 1])) start--;
    // The preceding word has been released.
    if (start === floor) break;
    while (start > floor && !BREAK.test(text[start - 1])) start--;
    at = start;
  }
  return at;
}

/** Where the text ends with the beginning of a phrase. */
function phraseFrom(text: string, phrase: string, floor: number): number {
  const least = Math.max(floor, text.length - phrase.length * 2 - 16);
  const words = phrase.split(" ");
  for (let at = least; at < text.length; at++) {
    if (at > least && !BREAK.test(text[at - 1])) continue;
    const said = text.slice(at).toLowerCase().split(/[\s_.-]+/u).filter((word) => word !== "");
    if (said.length === 0 || said.length > words.length) continue;
    const last = said.length - 1;
    if (said.every((word, i) => i === last ? begins(words[i], word) : isNear(words[i], word))) return at;
  }
  return text.length;
}

function begins(word: string, said: string): boolean {
  return word.startsWith(said) || word[0] === said[0] && said.length <= word.length + 2;
}

/** Similar words: lengths differ by at most two, and one of their ends agrees. */
function isNear(word: string, said: string): boolean {
  return word === said || Math.abs(word.length - said.length) <= 2 && word.length > 3 &&
      (word[0] === said[0] || word.at(-1) === said.at(-1));
}

function blockFrom(text: string, floor: number): number {
  const begin = Math.max(text.lastIndexOf(BEGIN_BLOCK), text.lastIndexOf(BEGIN_SSH2_BLOCK));
  if (begin < floor) return text.length;
  return END_OF_BLOCK.test(text.slice(begin)) ? text.length : begin;
}
