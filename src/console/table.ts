/** Lists as CSV (RFC 4180) or JSON lines, if requested. */
import { accepts } from "@std/http/negotiation.js";
import type { IncomingRequest } from "../http/endpoint.ts";
import { AMOUNTS } from "./columns.ts";

export interface ListPage {
  data: readonly object[];
  next_cursor?: string | null;
  /** Records before this time may be missing. */
  incomplete_before?: string;
}

export const LINES = "application/x-ndjson";

/** Whether the client prefers CSV to JSON. */
export function wantsTable(request: IncomingRequest): boolean {
  return accepts(request, "application/json", "text/csv") === "text/csv";
}

/** Whether the client prefers JSON lines to a JSON object. */
export function wantsLines(request: IncomingRequest): boolean {
  return accepts(request, "application/json", LINES) === LINES;
}

/**
 * One page as CSV.
 * @param columns all fields that its rows may have
 */
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

/**
 * A whole list as CSV.
 * @param columns all fields that its rows may have
 */
export function wholeTable(page: Pages, columns: readonly string[]): Promise<Response> {
  let head = true;
  return whole(page, HEADERS, (rows) => {
    const text = csv(rows, columns, { head });
    head = false;
    return text;
  });
}

/** A whole list as JSON lines. */
export function wholeLines(page: Pages): Promise<Response> {
  const headers = { ...HEADERS, "content-type": LINES };
  return whole(page, headers, (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

/**
 * A whole list, read page by page as the client receives it. An error on the first page becomes an error
 * response; later the connection is aborted, so that a part is not taken for the whole.
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
 * Rows under a header; nested values are JSON. Text that a spreadsheet would interpret as a formula is
 * prefixed with a quote, except for the gateway's own amounts, which may be negative.
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
