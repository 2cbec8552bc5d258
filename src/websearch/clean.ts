/**
 * A page's words as a model may read them: no markup, no invisible characters, no text that poses as the conversation's
 * own structure. It cannot make a stranger's words trustworthy; the model is told that they are not.
 *
 * Every expression here reads its text once: what a page says must not be able to hold up the process.
 */
import { decodeHTML } from "entities/decode";

/** Tags inside a word or a sentence; any other one separates the words before and after it. */
const INLINE = /^<\/?(?:a|abbr|b|code|em|font|i|mark|small|span|strong|sub|sup|u|wbr)\b/i;

/** Marks that chat templates put between turns, and tags that would close the place where results stand. */
const TEMPLATE_MARKS =
  /<[ \t]{0,9}\|[^|<>]{1,40}\|[ \t]{0,9}>|\[\s{0,9}\/?\s{0,9}(?:INST|TOOL_RESULTS|AVAILABLE_TOOLS)\s{0,9}\]|<<\s{0,9}\/?\s{0,9}SYS\s{0,9}>>|<\s{0,9}\/?\s{0,9}(?:antml:\w+|search_results|system|assistant|user|human|tool_result|tool_response|function_results|function_calls|invoke|start_of_turn|end_of_turn|s)\b[^<>]{0,200}>/gi;
/** What a program that shows an answer would load from an address, and tell that address what stands in it. */
const EMBEDDED =
  /!\s{0,9}\[([^[\]]{0,200})\]\s{0,9}(?:\([^()]{0,2000}(?:\([^()]{0,200}\)[^()]{0,2000})?\)|\[[^[\]]{0,200}\])|<\s{0,9}\/?\s{0,9}(?:img|image|picture|source|video|audio|iframe|object|embed|link|svg|script|style|meta|base|form|input)\b[^<>]{0,2000}>/gi;
/** Who speaks next, at the start of a line. */
const SPEAKERS = /^(?:system|assistant|developer|human|user) ?: ?/gim;
/** Sentences whose only use in a search result is to talk to the model. */
const ORDERS = [
  /\b(?:ignore|disregard|forget|override)\b[^.!?\n]{0,40}?\b(?:previous|prior|above|earlier|preceding|all)\b[^.!?\n]{0,40}?\b(?:instructions?|prompts?|messages?|rules|directions)\b[^.!?\n]{0,200}[.!?]?/gi,
  /\b(?:reveal|print|repeat|output|show|send)\b[^.!?\n]{0,40}?\b(?:system prompt|your (?:instructions|prompt))\b[^.!?\n]{0,200}[.!?]?/gi,
  /\byou are now\b[^.!?\n]{0,200}[.!?]?/gi,
];
/** Format characters, private use, lone surrogates, variation selectors: what hides text from people. */
const INVISIBLE = /[\p{Cf}\p{Co}\p{Cs}\u{fe00}-\u{fe0f}\u{e0100}-\u{e01ef}]/gu;

/** @param most longest result, in UTF-16 units */
export function cleanText(html: string, most: number): string {
  const words = withoutScripts(html.slice(0, most * 8))
    .replace(TEMPLATE_MARKS, " ")
    .replace(/<[/!?a-z][^<>]*>/gi, (tag) => INLINE.test(tag) ? "" : " ");
  let text = decodeHTML(words)
    // Wide forms of ASCII can spell a mark. Compatibility forms beyond them mean something: 10² is not 102.
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(INVISIBLE, "")
    .replace(TEMPLATE_MARKS, " ")
    .replace(EMBEDDED, (_, words = "") => ` ${words} `)
    .replace(/[\s\p{Cc}]+/gu, (run) => run.includes("\n") ? "\n" : " ")
    .replace(SPEAKERS, "[removed] ");
  for (const order of ORDERS) text = text.replace(order, "[removed] ");
  text = text.replace(/\s+/g, " ").trim();
  return text.length > most ? `${text.slice(0, most).toWellFormed().trimEnd()}…` : text;
}

/** Scripts and style sheets are no words. What is not closed reaches to the end. */
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
