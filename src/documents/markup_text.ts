/** The text of markup, and the attributes that a reader sees or follows. */
import { decodeXML } from "entities/decode";

/** Elements that end a line. All other elements are inline and may split a word or a number. */
const LINE =
  /^(?:[\w-]+:)?(?:p|br|cr|h\d?|tr|table-row|table-cell|tc|td|th|li|div|title|row|si|c|cell|lastModifiedBy|creator|subject|description|keywords|category|company|manager|comment|item|dt|dd|option|section|Relationship|text-box|property|lpwstr|bookmark)$/i;
const BLANK = /^(?:[\w-]+:)?(?:tab|s|noBreakHyphen)$/;
/** Attribute values that may contain text: shorter ones are sizes, colours and names of styles. */
const ATTRIBUTE = /\s([\w:.-]+)\s*=\s*(?:"([^"]{5,})"|'([^']{5,})')/g;
/** Attributes that a reader sees or follows; they count at any length. */
const VISIBLE =
  /^(?:[\w-]+:)?(?:descr|title|alt|tooltip|Target|href|value|string-value|instr|author|name|content|display-name)$/;
const LEAST = 9;
const OF_THE_FORMAT = /^(?:https?:\/\/(?:schemas\.|www\.w3\.org|purl\.)|urn:schemas)/;
const TAG =
  /<(?:!\[CDATA\[([\s\S]*?)\]\]>|!--([\s\S]*?)-->|[?!][^>]*>|(\/?)([\w:.-]+)((?:"[^"]*"|'[^']*'|[^>"'])*)>)/g;

/** The text that HTML or XML shows, with the text of attributes and comments. */
export function markupText(markup: string): string {
  const out: string[] = [];
  const attributes = new Set<string>();
  const aside: string[] = [];
  let deleted = false;
  let at = 0;
  TAG.lastIndex = 0;
  for (let tag = TAG.exec(markup); tag; tag = TAG.exec(markup)) {
    if (tag.index > at) (deleted ? aside : out).push(written(markup.slice(at, tag.index)));
    at = TAG.lastIndex;
    const [, data, comment, close, name, rest] = tag;
    if (data !== undefined) out.push(data);
    else if (comment !== undefined) aside.push(comment);
    else if (name !== undefined) {
      if (LINE.test(name)) out.push("\n");
      else if (BLANK.test(name)) out.push(name.endsWith("noBreakHyphen") ? "-" : " ");
      // Deleted text is between parts of the remaining text.
      deleted = close === "" && /^(?:[\w-]+:)?del(?:Text|InstrText)$/.test(name);
      if (rest.length > 8) attributeTexts(rest, attributes);
    }
  }
  if (at < markup.length) out.push(written(markup.slice(at)));
  return [...out, "\n", ...aside, "\n", [...attributes].join("\n")].join("");
}

function attributeTexts(rest: string, attributes: Set<string>): void {
  for (const [, name, a, b] of rest.matchAll(ATTRIBUTE)) {
    const value = a ?? b;
    if ((value.length >= LEAST || VISIBLE.test(name)) && !OF_THE_FORMAT.test(value)) {
      attributes.add(decodeXML(value));
    }
  }
}

/** Line breaks between elements do not belong to the text. */
function written(text: string): string {
  return /^\s*$/.test(text) ? (text.includes("\n") ? "" : text) : decodeXML(text);
}
