/** The cells of a spreadsheet: one line per row, separated by tabs. Cells refer to shared strings by index. */
import { decodeXML } from "entities/decode";
import { markupText } from "./markup_text.ts";

export type SharedStrings = readonly string[];

const ITEM = /<(?:\w+:)?si\b[^>]*>([\s\S]*?)<\/(?:\w+:)?si>|<(?:\w+:)?si\/>/g;
const TEXT = /<(?:\w+:)?t\b[^>]*>([^<]*)<\/(?:\w+:)?t>/g;

/** The shared strings of a workbook. */
export function sharedStrings(xml: string): SharedStrings {
  return Array.from(xml.matchAll(ITEM), ([, inner = ""]) => textIn(inner));
}

function textIn(xml: string): string {
  let text = "";
  for (const [, part] of xml.matchAll(TEXT)) text += part;
  return decodeXML(text);
}

const CELL =
  /<(?:\w+:)?row\b|<(?:\w+:)?c\b([^>]*?)(?:\/>|>([\s\S]*?)<\/(?:\w+:)?c>)|<(?:\w+:)?(?:odd|even|first)(?:Header|Footer)>([^<]*)|<(?:\w+:)?hyperlink\b[^>]*\b(?:display|location)="([^"]*)"/g;

/**
 * The cells of a sheet, separated by tabs and line breaks.
 * @param used collects the shared strings that were written
 */
export function sheetText(xml: string, strings: SharedStrings, used: Set<string>): string {
  const out: string[] = [];
  let column = 0;
  for (const [, attributes, inner, margin, link] of xml.matchAll(CELL)) {
    if (margin !== undefined || link !== undefined) out.push("\n", decodeXML(margin ?? link));
    else if (attributes === undefined) {
      out.push("\n");
      column = 0;
    } else {
      // Empty cells are left out.
      const at = columnOf(attributes) ?? column;
      if (at > column && at - column <= MOST_EMPTY) out.push("\t".repeat(at - column));
      column = at + 1;
      out.push(inner === undefined ? "" : cell(attributes, inner, strings, used), "\t");
    }
  }
  // The text outside the cells: validation rules and lists, links, names.
  out.push("\n", markupText(xml.replace(/<(?:\w+:)?sheetData\b[\s\S]*<\/(?:\w+:)?sheetData>/, "")));
  return `${out.join("")}\n`;
}

/** Maximum number of empty cells between two others that are written. */
const MOST_EMPTY = 200;

/** The column in a reference such as `C12`, from 0. */
function columnOf(attributes: string): number | null {
  const letters = /\br=["']([A-Z]{1,3})\d/.exec(attributes)?.[1];
  if (letters === undefined) return null;
  let n = 0;
  for (const letter of letters) n = n * 26 + letter.charCodeAt(0) - 64;
  return n - 1;
}

function cell(attributes: string, inner: string, strings: SharedStrings, used: Set<string>): string {
  const value = /<(?:\w+:)?v\b[^>]*>([^<]*)</.exec(inner)?.[1];
  const formula = /<(?:\w+:)?f\b[^>]*>([^<]*)</.exec(inner)?.[1];
  const kind = /\bt=["'](\w+)["']/.exec(attributes)?.[1];
  const content = kind === "s"
    ? shared(Number(value), strings, used)
    : kind === "inlineStr"
    ? textIn(inner)
    : kind === undefined || kind === "n"
    ? number(value ?? "")
    : decodeXML(value ?? "");
  return formula === undefined ? content : `${content} ${decodeXML(formula)}`;
}

function shared(index: number, strings: SharedStrings, used: Set<string>): string {
  const string = strings[index] ?? "";
  used.add(string);
  return string;
}

/** Long numbers are stored as `4.539E+15`, and shown with all digits. */
function number(written: string): string {
  if (!/e/i.test(written)) return written;
  const value = Number(written);
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? String(value) : written;
}
