/**
 * Values whose names are separated from them by the structure of the text: members of an object such as
 * `{"name": "ssn", "value": "…"}`, lists after a name, rows of arrays or SQL below their column names,
 * elements and cells of markup, bold labels. The view shows each after its name, as in a form.
 */

import { type FieldsPlace, fieldsPlace, goesOn } from "./fields_place.ts";
import { hl7Fields, x12Fields } from "./hl7_fields.ts";
import { namedLists } from "./named_lists.ts";
import { mayHaveRows, sqlRows } from "./sql_rows.ts";
import { MOST_SAID, nameOfValue } from "./table_cells.ts";
import { type Span, type View, ViewWriter } from "./view.ts";

const MOST_VALUE = 120;
/** Maximum number of columns per table. */
const MOST_COLUMNS = 200;

type AddField = (name: string, value: Span) => void;

/**
 * Null: there are none.
 *
 * @param place what the piece of the text before this one leaves open; is updated
 */
export function namedFields(view: View, place: FieldsPlace = fieldsPlace()): View | null {
  const { text } = view;
  let writer: ViewWriter | null = null;
  let budget = text.length * MOST_SAID + 1024;
  const addField: AddField = (name, value) => {
    const { start, end } = trimmed(text, value);
    if (budget <= 0 || end - start < 3 || end - start > MOST_VALUE) return;
    writer ??= new ViewWriter(view);
    writer.say({ start, end: start, says: `${name}: ` });
    writer.copy(start, end);
    writer.part();
    budget -= name.length + end - start;
  };
  if (
    text.includes("alue") || text.includes("nswer") || text.includes("xample") ||
    text.includes("secret-string")
  ) {
    members(text, addField);
  }
  if (text.includes("efault")) defaults(text, addField);
  resumeLists(text, place, addField);
  if (text.includes("[") || text.includes('":{') || text.includes('": {')) lists(text, place, addField);
  if (mayHaveRows(text, place.sql)) sqlRows(text, place.sql, nameOfValue, itemsAt, addField);
  if (text.includes("</")) markup(text, place, addField);
  if (text.includes("**")) bold(text, addField);
  if (text.includes("variable ")) variables(text, addField);
  if (text.includes("PID|")) hl7Fields(text, addField);
  if (text.includes("NM1*") || text.includes("REF*") || text.includes("DMG*")) x12Fields(text, addField);
  if (text.includes("random_password")) generated(text, addField);
  namedLists(text, place, addField);
  const made = writer as ViewWriter | null;
  return made?.view() ?? null;
}

/** Without surrounding white space, quotes and code markers. */
function trimmed(text: string, { start, end }: Span): Span {
  while (start < end && isAround(text.charCodeAt(start))) start++;
  while (end > start && isAround(text.charCodeAt(end - 1))) end--;
  return { start, end };
}

/** White space, quotes, a comma, an asterisk. */
function isAround(unit: number): boolean {
  return unit <= 32 || unit === 34 || unit === 39 || unit === 42 || unit === 44 || unit === 96;
}

/** A cached version of {@link nameOfValue}, since names recur. */
function naming(): (said: string) => string | null {
  const known = new Map<string, string | null>();
  return (said) => {
    const first = said.charCodeAt(0);
    // Most cells are numbers.
    if (first >= 48 && first < 58) return null;
    let name = known.get(said);
    if (name === undefined) {
      name = nameOfValue(said);
      if (known.size < MOST_KNOWN) known.set(said, name);
    }
    return name;
  };
}

const MOST_KNOWN = 1000;

/** A member with a value and one with its name: in objects, attributes, YAML lists, and options of commands. */
const VALUE_OF =
  /(?:(?:alue|nswer|xample)["']?[ \t]{0,3}(?:=>|[:=])|--(?:[\w-]{0,20}-)?(?:value|secret-string)[ =])[ \t]{0,3}("(?:[^"\\\n]|\\.){1,120}"|'[^'\n]{1,120}'|[^\s"'<>{}[\],]{1,120})/g;
const NAME_OF =
  /(?:[nN]ame|NAME|[kK]ey|[lL]abel|[fF]ield|[tT]itle|[qQ]uestion|ttribute|[pP]aram(?:eter)?|[pP]roperty|(?<![A-Za-z])(?:id|code)|(?:[tT]ype|[sS]ystem|[kK]ind)(?=["']?[ \t]{0,3}[:=][ \t]{0,3}["']?(?:mobile|phone|telephone|cell|fax|handy|whatsapp|sms)))["']?(?:[ \t]{0,3}(?:=>|[:=])|(?<=--[\w-]{0,20}name)[ \t])[ \t]{0,3}("[^"\n]{2,80}"|'[^'\n]{2,80}'|[^\s"'<>{}[\],]{2,80})/g;
/** Maximum distance between name and value. */
const WITHIN = 240;

function members(text: string, addField: AddField): void {
  const nameOf = naming();
  let done = 0;
  for (const match of text.matchAll(VALUE_OF)) {
    const end = match.index + match[0].length;
    const value = { start: end - match[1].length, end };
    const name = lastName(text.slice(objectStart(text, done, match.index), match.index), nameOf) ??
      firstName(text.slice(end, objectEnd(text, end)), nameOf);
    if (name !== null) addField(name, value);
    done = end;
  }
}

/** Brackets, an empty line, or a list item marker: what separates objects. */
function parts(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  if (unit === 10) {
    // A command that is continued.
    if (text.charCodeAt(at - 1) === 92) return false;
    let next = at + 1;
    while (text.charCodeAt(next) === 32) next++;
    // In a removed line of a diff, more blanks follow.
    return text.charCodeAt(next) === 10 || text.charCodeAt(next) === 45 && text.charCodeAt(next + 2) !== 32;
  }
  return unit === 123 || unit === 125 || unit === 60 || unit === 62 && !isQuoteMark(text, at);
}

/** Whether a bracket stands at the beginning of a line, as in a quoted mail. */
function isQuoteMark(text: string, at: number): boolean {
  let start = at;
  while (at - start < 16 && (text.charCodeAt(start - 1) === 62 || text.charCodeAt(start - 1) === 32)) start--;
  return start === 0 || text.charCodeAt(start - 1) === 10;
}

function objectStart(text: string, from: number, before: number): number {
  let start = before;
  while (start > from && before - start < WITHIN && !parts(text, start - 1)) start--;
  return start;
}

function objectEnd(text: string, behind: number): number {
  let end = behind;
  while (end < text.length && end - behind < WITHIN && !parts(text, end)) end++;
  return end;
}

function lastName(lead: string, nameOf: (said: string) => string | null): string | null {
  let name: string | null = null;
  for (const [, said] of lead.matchAll(NAME_OF)) name = nameOf(said.slice(said.lastIndexOf("/") + 1)) ?? name;
  return name;
}

function firstName(rest: string, nameOf: (said: string) => string | null): string | null {
  for (const [, said] of rest.matchAll(NAME_OF)) {
    const name = nameOf(said);
    if (name !== null) return name;
  }
  return null;
}

/** A list or object of scalar values, the name before it, and a list of names. */
const LIST = /[[{]\s{0,40}["'\d-]/g;
const LIST_NAME = /["']?([A-Za-z][\w -]{1,40})["']?\s{0,3}[:=]\s{0,3}$/;
const LONGEST_LIST_NAME = 52;
const NAMES = /\[\s{0,40}(?:"[^"\\\n]{0,40}"\s{0,40},\s{0,40}){1,200}"[^"\\\n]{0,40}"\s{0,40}\]/g;
/** A list entry, possibly after a key: a string, number or keyword. */
const ITEM =
  /\s{0,40}(?:"[^"\\\n]{1,40}"\s{0,3}:\s{0,3})?("(?:[^"\\\n]|\\.){0,400}"|'[^'\n]{0,400}'|-?[\d.]{1,40}|null|NULL|true|false)\s{0,40}(,?)/y;
/** Separators between a list of names and the first row, and between rows. */
const ROW = /[\s\],]{0,40}(?:"\w{1,20}"\s{0,3}:\s{0,3}\[?)?\s{0,40}\[(?=[\s"'\d-nft])/y;

function lists(text: string, place: FieldsPlace, addField: AddField): void {
  for (const { index } of text.matchAll(LIST)) {
    if (!isGiving(text, index)) continue;
    const named = LIST_NAME.exec(text.slice(Math.max(0, index - LONGEST_LIST_NAME), index));
    const name = named && nameOfValue(named[1]);
    if (name) place.list = listAt(text, index + 1, name, addField);
  }
  let done = 0;
  for (const match of text.matchAll(NAMES)) {
    // A row of the previous table.
    if (match.index < done) continue;
    const names = itemsAt(text, match.index + 1).map(({ start, end }) => nameOfValue(text.slice(start, end)));
    if (names.length > MOST_COLUMNS || names.every((name) => name === null)) continue;
    done = rowsFrom(text, match.index + match[0].length, names, addField);
    place.rows = goesOn(text, done, /\]\s{0,40}[\]}]/) ? names : null;
  }
}

/** The values of a list that starts at a position; returns its name if the list goes on behind the text. */
function listAt(text: string, start: number, name: string, addField: AddField): string | null {
  const items = itemsAt(text, start);
  for (const item of items) addField(name, item);
  return goesOn(text, items.at(-1)?.end ?? start, /[\]}]/) ? name : null;
}

/** The rows behind a position; returns the end of the last one. */
function rowsFrom(
  text: string,
  start: number,
  names: readonly (string | null)[],
  addField: AddField,
): number {
  for (let at = start;;) {
    ROW.lastIndex = at;
    if (!ROW.test(text)) return at;
    const items = itemsAt(text, ROW.lastIndex);
    if (items.length !== names.length) return at;
    items.forEach((item, i) => names[i] !== null && addField(names[i], item));
    // The next row starts after the closing bracket of this one.
    at = items.at(-1)!.end;
  }
}

/** Where the next value of a list begins in a text that may start within one, and the end of a row. */
const NEXT_VALUE = /(?:^\s{1,40}|,\s{0,40})(?=["'])|,\s{0,40}(?=[\d-])/;
const ROW_END = /\](?=\s{0,40},\s{0,40}\[)/;
const NEXT_WITHIN_START = 1024;

/** Lists that were open at the end of the piece before. */
function resumeLists(text: string, place: FieldsPlace, addField: AddField): void {
  const { list, rows } = place;
  place.list = place.rows = null;
  const beginning = text.slice(0, NEXT_WITHIN_START);
  if (list !== null) {
    const next = NEXT_VALUE.exec(beginning);
    if (next) place.list = listAt(text, next.index + next[0].length, list, addField);
  }
  if (rows === null) return;
  const first = ROW_END.exec(beginning);
  if (first === null) return;
  const end = rowsFrom(text, first.index, rows, addField);
  if (goesOn(text, end, /\]\s{0,40}[\]}]/)) place.rows = rows;
}

/** Whether there is a colon or an equals sign before a position. */
function isGiving(text: string, at: number): boolean {
  for (let i = at - 1; i >= at - 3; i--) {
    const unit = text.charCodeAt(i);
    if (unit === 58 || unit === 61) return true;
    if (unit > 32) return false;
  }
  return false;
}

const MOST_ITEMS = 20_000;

function itemsAt(text: string, start: number): Span[] {
  const items: Span[] = [];
  ITEM.lastIndex = start;
  while (items.length < MOST_ITEMS) {
    const match = ITEM.exec(text);
    if (match === null) break;
    const at = match[0].lastIndexOf(match[1]) + match.index;
    items.push({ start: at, end: at + match[1].length });
    if (match[2] === "") break;
  }
  return items;
}

/** A tag from its name on, and its maximum length. */
const TAG = /[A-Za-z][\w:.-]{0,60}/y;
const LONGEST_TAG = 512;
const VALUE_ATTRIBUTE = /\bvalue\s{0,3}=\s{0,3}("[^"\n]{1,120}"|'[^'\n]{1,120}')/;
const LONGEST_NAME = 60;
const ALPHANUMERIC = /[\p{L}\p{N}]/u;
/** Maximum distance between a name and the following text. */
const NEXT_WITHIN = 300;

/** Elements named after their contents, texts after texts that name them, and cells below headers. */
function markup(text: string, place: FieldsPlace, addField: AddField): void {
  const nameOf = naming();
  let named: { name: string; end: number } | null = null;
  let element: string | null = null;
  let headers = [...place.headers ?? []];
  // A piece may begin in the middle of a row.
  let column = MOST_COLUMNS;
  let cell = "";
  let done = 0;
  for (let at = text.indexOf("<"); at >= 0; at = text.indexOf("<", at + 1)) {
    const closing = text.charCodeAt(at + 1) === 47;
    TAG.lastIndex = closing ? at + 2 : at + 1;
    const called = TAG.exec(text)?.[0];
    const stop = called === undefined ? -1 : text.slice(at, at + LONGEST_TAG).indexOf(">");
    if (called === undefined || stop < 0) continue;
    const kind = called.toLowerCase();
    const said = trimmed(text, { start: done, end: at });
    done = at + stop + 1;
    const length = said.end - said.start;
    if (length > 2 || length > 0 && ALPHANUMERIC.test(text.slice(said.start, said.end))) {
      const name = length <= LONGEST_NAME ? nameOf(text.slice(said.start, said.end)) : null;
      const below = cell === "td" ? headers[column] ?? null : null;
      if (cell === "th") headers[column] = name;
      const given = element ?? below ??
        (named !== null && said.start - named.end < NEXT_WITHIN ? named.name : null);
      if (given !== null && name === null) addField(given, said);
      named = name === null ? null : { name, end: said.end };
    }
    if (closing) {
      element = null;
      if (kind === cell) cell = "";
      else if (kind === "table") headers = [];
      continue;
    }
    // `<Password><Value>…`
    if (!(element !== null && length === 0 && kind === "value")) {
      element = nameOf(called.slice(called.lastIndexOf(":") + 1));
    }
    if (kind === "table") headers = [];
    else if (kind === "tr") column = -1;
    else if (kind === "td" || kind === "th") {
      column = Math.min(column + 1, MOST_COLUMNS);
      cell = kind;
    }
    if (named === null || done - named.end > NEXT_WITHIN) continue;
    const value = VALUE_ATTRIBUTE.exec(text.slice(at, done));
    if (value === null) continue;
    const end = at + value.index + value[0].length;
    addField(named.name, { start: end - value[1].length, end });
  }
  place.headers = headers.some((name) => name) ? headers : null;
}

/** `**Date of birth:** 1984-03-12` */
const BOLD = /\*\*([^*\n]{2,60})\*\*[ \t]{0,3}[:=-]?[ \t]{0,3}([^\n|]{3,140})/g;

function bold(text: string, addField: AddField): void {
  for (const match of text.matchAll(BOLD)) {
    const name = nameOfValue(match[1]);
    const end = match.index + match[0].length;
    if (name !== null) addField(name, { start: end - match[2].length, end });
  }
}

/** `variable "db_password" { default = "…" }` */
const VARIABLE =
  /\bvariable\s{1,4}"([\w-]{2,60})"\s{0,4}\{[^{}]{0,400}?\bdefault\s{0,20}=\s{0,20}("[^"\n]{1,120}"|\d{3,40})/g;

function variables(text: string, addField: AddField): void {
  for (const match of text.matchAll(VARIABLE)) {
    const name = nameOfValue(match[1]);
    const end = match.index + match[0].length;
    if (name !== null) addField(name, { start: end - match[2].length, end });
  }
}

/** The default of a parameter whose name is the key of the object that it is in: CloudFormation, schemas. */
const DEFAULT =
  /["']?\b[dD]efault(?:Value)?["']?[ \t]{0,3}:[ \t]{0,3}("(?:[^"\\\n]|\\.){1,120}"|'[^'\n]{1,120}'|[^\s"'{}[\],]{1,120})/g;
/** The key of an object in JSON, up to its bracket, and a line of YAML that is a key. */
const OBJECT_KEY = /["']([\w.-]{2,60})["']\s{0,3}:\s{0,3}\{[^{}]*$/;
const KEY_LINE = /^[ \t>+#|/-]*["']?([\w.-]{2,60})["']?:[ \t]*\r?$/;
const INDENT = /^[ \t>+#|/-]*/;
const PARENT_WITHIN = 400;

function defaults(text: string, addField: AddField): void {
  for (const match of text.matchAll(DEFAULT)) {
    const end = match.index + match[0].length;
    const said = parentKey(text.slice(Math.max(0, match.index - PARENT_WITHIN), match.index));
    const name = said === null ? null : nameOfValue(said);
    if (name !== null) addField(name, { start: end - match[1].length, end });
  }
}

function parentKey(lead: string): string | null {
  const key = OBJECT_KEY.exec(lead)?.[1];
  if (key !== undefined) return key;
  const lines = lead.split("\n");
  const indent = INDENT.exec(lines.pop()!)![0].length;
  while (lines.length > 0) {
    const line = lines.pop()!;
    if (INDENT.exec(line)![0].length < indent) {
      return lines.length > 0 ? KEY_LINE.exec(line)?.[1] ?? null : null;
    }
  }
  return null;
}

/** What Terraform generated, in its state. */
const GENERATED = /"random_password"[^]{0,900}?"result"\s{0,3}:\s{0,3}("(?:[^"\\\n]|\\.){4,120}")/g;

function generated(text: string, addField: AddField): void {
  for (const match of text.matchAll(GENERATED)) {
    const end = match.index + match[0].length;
    addField("password", { start: end - match[1].length, end });
  }
}
