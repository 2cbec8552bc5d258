/** Lists as RFC 4180 CSV, or as lines of JSON, for who asks for that. */
import { accepts } from "@std/http/negotiation.js";
import type { IncomingRequest } from "../http/endpoint.ts";
import { AMOUNTS } from "./columns.ts";

export interface ListPage {
  data: readonly object[];
  next_cursor?: string | null;
  /** Something from before this time is missing. */
  incomplete_before?: string;
}

export const LINES = "application/x-ndjson";

/** Whether the caller rather has CSV than JSON. */
export function wantsTable(request: IncomingRequest): boolean {
  return accepts(request, "application/json", "text/csv") === "text/csv";
}

/** Whether the caller rather has a line of JSON for each row than one JSON for all. */
export function wantsLines(request: IncomingRequest): boolean {
  return accepts(request, "application/json", LINES) === LINES;
}

/** One page as CSV. @param columns all names that its rows may have */
export function table(page: ListPage, columns: readonly string[]): Response {
  const { data, next_cursor } = page;
  return new Response(csv(data, columns), {
    headers: { ...HEADERS, ...incomplete(page), ...(next_cursor ? { "x-next-cursor": next_cursor } : {}) },
  });
}

function incomplete({ incomplete_before }: ListPage): Record<string, string> {
  return incomplete_before === undefined ? {} : { "x-incomplete-before": incomplete_before };
}

type Pages = (at: { cursor?: string }) => Promise<ListPage>;

/** A whole list as CSV. @param columns all names that its rows may have */
export function wholeTable(page: Pages, columns: readonly string[]): Promise<Response> {
  let head = true;
  return whole(page, HEADERS, (rows) => {
    const text = csv(rows, columns, { head });
    head = false;
    return text;
  });
}

/** A whole list as JSON, a line for each row. */
export function wholeLines(page: Pages): Promise<Response> {
  const headers = { ...HEADERS, "content-type": LINES };
  return whole(page, headers, (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

/**
 * A whole list, a page at a time as the caller takes it. What goes wrong with the first page is an answer of its
 * own; later the connection breaks off, so that nobody takes a part for the whole.
 */
async function whole(
  page: Pages,
  headers: Record<string, string>,
  textOf: (rows: readonly object[]) => string,
): Promise<Response> {
  const first = await page({});
  async function* pieces(): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    yield encoder.encode(textOf(first.data));
    let cursor = first.next_cursor;
    while (cursor) {
      const { data, next_cursor } = await page({ cursor });
      if (data.length > 0) yield encoder.encode(textOf(data));
      cursor = next_cursor;
    }
  }
  return new Response(ReadableStream.from(pieces()), { headers: { ...headers, ...incomplete(first) } });
}

const HEADERS = {
  "content-type": "text/csv; charset=utf-8",
  "cache-control": "no-store",
  "vary": "accept",
};

/**
 * Rows under their names; a nested value is JSON. A text that a spreadsheet would run as a formula gets a quote before it, but
 * for the gateway's own amounts, which may be below zero.
 *
 * Not `@std/csv`: it leaves a cell with a lone CR unquoted, which spreadsheets read as the end of a row.
 */
export function csv(
  rows: readonly object[],
  columns: readonly string[],
  { head = true }: { head?: boolean } = {},
): string {
  const cell = (value: unknown, name: string) => {
    if (value === null || value === undefined) return "";
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    const runs = typeof value === "string" && !AMOUNTS.includes(name) && /^[=+\-@\t\r＝＋－＠]/.test(text);
    const safe = runs ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const line = (row: object) =>
    columns.map((name) => cell((row as Record<string, unknown>)[name], name)).join(",");
  return [...(head ? [columns.join(",")] : []), ...rows.map(line)].map((line) => `${line}\r\n`).join("");
}
