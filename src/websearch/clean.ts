/**
 * Cleans the text of a web page before a model reads it: removes markup, invisible characters, and text that
 * imitates the structure of a conversation. The text remains untrusted, which the model is told.
 *
 * Every expression scans its text in linear time, so that the content of a page cannot block the process.
 */
import { decodeHTML } from "entities/decode";

/** Inline tags. Any other tag separates the words before and after it. */
const INLINE = /^<\/?(?:a|abbr|b|code|em|font|i|mark|small|span|strong|sub|sup|u|wbr)\b/i;

/** Tokens that chat templates put between turns, and tags that would close the block of search results. */
const TEMPLATE_MARKS =
  /<[ \t]{0,9}\|[^|<>]{1,40}\|[ \t]{0,9}>|\[\s{0,9}\/?\s{0,9}(?:INST|TOOL_RESULTS|AVAILABLE_TOOLS)\s{0,9}\]|<<\s{0,9}\/?\s{0,9}SYS\s{0,9}>>|<\s{0,9}\/?\s{0,9}(?:antml:\w+|search_results|system|assistant|user|human|tool_result|tool_response|function_results|function_calls|invoke|start_of_turn|end_of_turn|s)\b[^<>]{0,200}>/gi;
/** Embedded content: a client that renders the answer would load its URL and thereby send data to that server. */
const EMBEDDED =
  /!\s{0,9}\[([^[\]]{0,200})\]\s{0,9}(?:\([^()]{0,2000}(?:\([^()]{0,200}\)[^()]{0,2000})?\)|\[[^[\]]{0,200}\])|<\s{0,9}\/?\s{0,9}(?:img|image|picture|source|video|audio|iframe|object|embed|link|svg|script|style|meta|base|form|input)\b[^<>]{0,2000}>/gi;
/** Role names at the start of a line. */
const ROLE_NAMES = /^(?:system|assistant|developer|human|user) ?: ?/gim;
/** Sentences that address the model, such as instructions to ignore earlier ones. */
const INSTRUCTIONS = [
  /\b(?:ignore|disregard|forget|override)\b[^.!?\n]{0,40}?\b(?:previous|prior|above|earlier|preceding|all)\b[^.!?\n]{0,40}?\b(?:instructions?|prompts?|messages?|rules|directions)\b[^.!?\n]{0,200}[.!?]?/gi,
  /\b(?:reveal|print|repeat|output|show|send)\b[^.!?\n]{0,40}?\b(?:system prompt|your (?:instructions|prompt))\b[^.!?\n]{0,200}[.!?]?/gi,
  /\byou are now\b[^.!?\n]{0,200}[.!?]?/gi,
];
/** Format characters, private use, lone surrogates, variation selectors: they can hide text from people. */
const INVISIBLE = /[\p{Cf}\p{Co}\p{Cs}\u{fe00}-\u{fe0f}\u{e0100}-\u{e01ef}]/gu;

/** @param most maximum length of the result, in UTF-16 units */
export function cleanText(html: string, most: number): string {
  const words = withoutScripts(html.slice(0, most * 8))
    .replace(TEMPLATE_MARKS, " ")
    .replace(/<[/!?a-z][^<>]*>/gi, (tag) => INLINE.test(tag) ? "" : " ");
  let text = decodeHTML(words)
    // Full-width forms of ASCII can spell a token. Other compatibility forms have a meaning: 10² is not 102.
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(INVISIBLE, "")
    .replace(TEMPLATE_MARKS, " ")
    .replace(EMBEDDED, (_, words = "") => ` ${words} `)
    .replace(/[\s\p{Cc}]+/gu, (run) => run.includes("\n") ? "\n" : " ")
    .replace(ROLE_NAMES, "[removed] ");
  for (const pattern of INSTRUCTIONS) text = text.replace(pattern, "[removed] ");
  text = text.replace(/\s+/g, " ").trim();
  return text.length > most ? `${text.slice(0, most).toWellFormed().trimEnd()}…` : text;
}

/** Removes scripts and style sheets. An unclosed one extends to the end. */
function withoutScripts(html: string): string {
  const open = /<(script|style)\b/gi;
  let kept = "";
  let from = 0;
  for (let found = open.exec(html); found; found = open.exec(html)) {
    kept += html.slice(from, found.index) + " ";
    const close = found[1].toLowerCase() === "script" ? /<\/script[^<>]*>/gi : /<\/style[^<>]*>/gi;
    close.lastIndex = open.lastIndex;
    if (!close.exec(html)) return kept;
    from = open.lastIndex = close.lastIndex;
  }
  return kept + html.slice(from);
}
