/** What markup says: its text, and those attributes that a reader sees or follows. */
import { decodeXML } from "entities";

/** Elements behind which another line begins; all others stand within one, and may cut a word or a number. */
const LINE =
  /^(?:[\w-]+:)?(?:p|br|cr|h\d?|tr|table-row|table-cell|tc|td|th|li|div|title|row|si|c|cell|lastModifiedBy|creator|subject|description|keywords|category|company|manager|comment|item|dt|dd|option|section|Relationship|text-box|property|lpwstr|bookmark)$/i;
const BLANK = /^(?:[\w-]+:)?(?:tab|s|noBreakHyphen)$/;
const SEEN =
  /\s(?:[\w-]+:)?(?:descr|title|alt|tooltip|Target|href|value|string-value|instr|author|name|content|display-name)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const TAG =
  /<(?:!\[CDATA\[([\s\S]*?)\]\]>|!--[\s\S]*?-->|[?!][^>]*>|(\/?)([\w:.-]+)((?:"[^"]*"|'[^']*'|[^>"'])*)>)/g;

export function markupText(markup: string): string {
  const out: string[] = [];
  const attributes: string[] = [];
  let at = 0;
  TAG.lastIndex = 0;
  for (let tag = TAG.exec(markup); tag; tag = TAG.exec(markup)) {
    if (tag.index > at) out.push(written(markup.slice(at, tag.index)));
    at = TAG.lastIndex;
    const [, data, , name, rest] = tag;
    if (data !== undefined) out.push(data);
    else if (name !== undefined) {
      if (LINE.test(name)) out.push("\n");
      else if (BLANK.test(name)) out.push(name.endsWith("noBreakHyphen") ? "-" : " ");
      if (rest.length > 8) { for (const [, a, b] of rest.matchAll(SEEN)) attributes.push(decodeXML(a ?? b)); }
    }
  }
  if (at < markup.length) out.push(written(markup.slice(at)));
  return [...out, "\n", attributes.filter((value) => value.length > 4).join("\n")].join("");
}

/** Line breaks between elements are none of the text. */
function written(text: string): string {
  return /^\s*$/.test(text) ? (text.includes("\n") ? "" : text) : decodeXML(text);
}
