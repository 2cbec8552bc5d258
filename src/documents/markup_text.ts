/** The text of markup, and the attributes that a reader sees or follows. */
import { decodeXML } from "entities/decode";

/** Elements that end a line. All other elements are inline and may split a word or a number. */
const LINE =
  /^(?:[\w-]+:)?(?:p|br|cr|h\d?|li|div|title|row|si|c|cell|lastModifiedBy|creator|subject|description|keywords|category|company|manager|comment|item|dt|dd|option|section|Relationship|text-box|property|lpwstr|bookmark)$/i;
/** Tables, their rows and cells. */
const TABLE = /^(?:[\w-]+:)?(?:(tbl|table)|(tr|table-row)|(td|th|tc|table-cell|covered-table-cell))$/i;
/** OpenDocument: so many equal cells, which may be all to the right of a sheet. */
const REPEATED = /number-columns-repeated\s*=\s*["'](\d{1,2})["']/;
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
  const tables = new Tables(out);
  let deleted = false;
  let at = 0;
  TAG.lastIndex = 0;
  for (let tag = TAG.exec(markup); tag; tag = TAG.exec(markup)) {
    const said = tag.index > at ? written(markup.slice(at, tag.index)) : "";
    if (said !== "") (deleted ? aside : out).push(said);
    at = TAG.lastIndex;
    const [, data, comment, close, name, rest] = tag;
    if (data !== undefined) out.push(data);
    else if (comment !== undefined) aside.push(comment);
    else if (name !== undefined) {
      const table = TABLE.exec(name);
      if (table) tables.tag(table, close !== "", rest);
      else if (LINE.test(name)) out.push("\n");
      else if (BLANK.test(name)) out.push(name.endsWith("noBreakHyphen") ? "-" : " ");
      // Deleted text is between parts of the remaining text.
      deleted = close === "" && /^(?:[\w-]+:)?del(?:Text|InstrText)$/.test(name);
      if (rest.length > 8) attributeTexts(rest, attributes);
    }
  }
  if (at < markup.length) out.push(written(markup.slice(at)));
  return [...out, "\n", ...aside, "\n", [...attributes].join("\n")].join("");
}

/**
 * Writes a row of a table as a line with tabs, as in a text file: the header of a column then names its values. A cell
 * of several lines stays as it is, and one with a table ends before it.
 */
class Tables {
  /** Where in `out` the open cell begins; -1: none. */
  #cell = -1;

  constructor(readonly out: string[]) {}

  tag([, table, row]: RegExpExecArray, isEnd: boolean, rest: string): void {
    const { out } = this;
    const wasOpen = this.#endCell();
    if (table !== undefined) out.push("\n\n");
    else if (row !== undefined) this.#endLine();
    else if (isEnd) {
      if (!wasOpen) out.push("\n");
    } else if (rest.endsWith("/")) out.push("\t".repeat(Number(REPEATED.exec(rest)?.[1] ?? 1)));
    else this.#cell = out.length;
  }

  #endLine(): void {
    const { out } = this;
    while (out.length > 0 && /^ +$/.test(out.at(-1)!)) out.pop();
    if (out.length > 0 && !out.at(-1)!.endsWith("\n")) out.push("\n");
  }

  /** Whether a cell was open. */
  #endCell(): boolean {
    const start = this.#cell;
    if (start < 0) return false;
    this.#cell = -1;
    const said = this.out.slice(start).join("").trim();
    if (said.includes("\n")) this.out.push("\n");
    else this.out.splice(start, this.out.length - start, said, "\t");
    return true;
  }
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
