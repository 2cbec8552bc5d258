/**
 * Where in a text that still grows a value may have begun that is not at its end yet.
 *
 * A value is a run without blanks, or digits in groups, or words that a stop word begins with. Clean prose has only its
 * last word open, and that only until something follows it.
 */

/** The longest value that is waited for, in units of text. */
export const LONGEST_OPEN = 512;
/** Digits in groups: the longest form of a number, an IBAN with blanks, takes half of it. */
const LONGEST_GROUPS = 96;
/** Words of an address whose signs are written out. */
const WRITTEN_SIGN = /^[[(](?:at|dot)[\])]?$/iu;
/** A word that may become one. */
const BEGINS_SIGN = /^[[(](?:a|d|do)?$|^[[(](?:at|dot)[\])]?$/iu;
const IN_GROUPS =
  /[\p{Nd}@]|^[\p{Lu}]{1,6}[\p{P}\p{S}]*$|^[\p{P}\p{S}]+$|^(?=.*[\p{Ll}].*\p{Lu}|.{28})[\p{L}\p{P}\p{S}]+$/u;
const BREAK = /[\s"{}<>,;\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff0c\uff1b]/u;
const BEGIN_BLOCK = "-----BEGIN ";
const END_BLOCK = /-----END [A-Z0-9 ]+-----/;
/**
 * What an answer may begin with and no value does: a word with a capital that goes on in small letters only, letters of
 * scripts that have no capitals, and signs of Markdown and JSON.
 */
const HARMLESS =
  /^(?:[\s"{}[\]<>,;:*#`|!?~]|-(?=\s))*(?:(?:\p{Lu}[\p{Ll}'’]*|[\p{Lo}\p{M}]+)[!,:;?…*]*)?\s*$/u;

/** Words, folded, that a value may begin with. */
export interface Openings {
  /** Stop words that hold blanks, in lower case and with single blanks. */
  readonly phrases: readonly string[];
  /** Words before the last one that are kept back, for patterns that reach over blanks. */
  readonly words: number;
}

/**
 * @param text what has come, from any point on
 * @param from where it has not been let go yet
 * @param whole the text begins the answer
 */
export function openFrom(text: string, from: number, whole: boolean, openings: Openings): number {
  const floor = Math.max(from, text.length - LONGEST_OPEN);
  const isOurs = openings.phrases.length > 0 || openings.words > 0;
  if (whole && from === 0 && !isOurs && HARMLESS.test(text)) return text.length;
  let at = text.length;
  while (at > floor && !BREAK.test(text[at - 1])) at--;
  // What follows a word may make it a part of an address: "jane (at) corp".
  const mayGoOn = at === text.length || BEGINS_SIGN.test(text.slice(at));
  const grouped = groupsFrom(text, at, floor);
  at = mayGoOn && grouped === at ? groupsFrom(text, wordsFrom(text, at, 1, floor), floor) : grouped;
  if (openings.words > 0) at = wordsFrom(text, at, openings.words, floor);
  for (const phrase of openings.phrases) at = Math.min(at, phraseFrom(text, phrase, floor));
  return Math.min(at, blockFrom(text, floor));
}

/** Whether what is open is nothing but a word of letters, written as words are: keys mix capitals and small letters. */
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
      // The word before it is part of the address.
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
    // The word before has gone.
    if (start === floor) break;
    while (start > floor && !BREAK.test(text[start - 1])) start--;
    at = start;
  }
  return at;
}

/** Where the text ends in the beginning of a phrase. */
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

/** Nearly the same word: as long but for two letters, and one of its ends agrees. */
function isNear(word: string, said: string): boolean {
  return word === said || Math.abs(word.length - said.length) <= 2 && word.length > 3 &&
      (word[0] === said[0] || word.at(-1) === said.at(-1));
}

function blockFrom(text: string, floor: number): number {
  const begin = text.lastIndexOf(BEGIN_BLOCK);
  if (begin < floor) return text.length;
  return END_BLOCK.test(text.slice(begin)) ? text.length : begin;
}
