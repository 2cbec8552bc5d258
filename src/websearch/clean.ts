/**
 * A page's words as a model may read them: no markup, no invisible characters, no text that poses as the conversation's
 * own structure. It cannot make a stranger's words trustworthy; the model is told that they are not.
 */

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};

/** Marks that chat templates put between turns, and tags that would close the place where results stand. */
const TEMPLATE_MARKS =
  /<\|[^|>]{1,40}\|>|\[\/?INST\]|<<\/?SYS>>|<\/?(?:search_results|system|assistant|user|tool_result|function_results)\b[^>]{0,200}>/gi;
/** Sentences whose only use in a search result is to talk to the model. */
const ORDERS =
  /\b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+|the\s+|your\s+)*(?:previous|prior|above|earlier)\s+(?:instructions?|prompts?|messages?|rules)\b[^.!?\n]{0,200}[.!?]?|\byou are now\b[^.!?\n]{0,200}[.!?]?|^\s*(?:system|assistant|developer)\s*:\s*/gim;

/** @param most longest result, in UTF-16 units */
export function cleanText(html: string, most: number): string {
  const text = html.slice(0, most * 8)
    .replace(/<(script|style)\b[\s\S]{0,100000}?<\/\1>/gi, " ")
    .replace(TEMPLATE_MARKS, " ")
    .replace(/<\/?[a-z!][^>]{0,2000}>/gi, "")
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi, (whole, decimal, hex, name) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
      const code = parseInt(decimal ?? hex, decimal === undefined ? 16 : 10);
      return code > 31 && code <= 0x10ffff ? String.fromCodePoint(code) : " ";
    })
    .normalize("NFKC")
    .replace(/[\p{Cf}\p{Co}\p{Cs}]/gu, "")
    .replace(TEMPLATE_MARKS, " ")
    .replace(ORDERS, "[removed] ")
    .replace(/\s+/g, " ")
    .trim();
  return text.length > most ? `${text.slice(0, most).trimEnd()}…` : text;
}
