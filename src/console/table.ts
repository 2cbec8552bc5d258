/** Lists as RFC 4180 CSV, for who asks for that. */
import { accepts } from "@std/http/negotiation.js";
import type { IncomingRequest } from "../http/endpoint.ts";

export interface ListPage {
  data: readonly object[];
  next_cursor?: string | null;
}

/** Whether the caller rather has CSV than JSON. */
export function wantsTable(request: IncomingRequest): boolean {
  return accepts(request, "application/json", "text/csv") === "text/csv";
}

/** One page as CSV. */
export function table({ data, next_cursor }: ListPage): Response {
  return new Response(csv(data), {
    headers: { ...HEADERS, ...(next_cursor ? { "x-next-cursor": next_cursor } : {}) },
  });
}

/**
 * A whole list as CSV, a page at a time as the caller takes it. What goes wrong with the first page is an answer of its
 * own; later the connection breaks off, so that nobody takes a part for the whole.
 */
export async function wholeTable(page: (at: { cursor?: string }) => Promise<ListPage>): Promise<Response> {
  const first = await page({});
  async function* lines(): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    yield encoder.encode(csv(first.data));
    let cursor = first.next_cursor;
    while (cursor) {
      const { data, next_cursor } = await page({ cursor });
      yield encoder.encode(csv(data, { head: false }));
      cursor = next_cursor;
    }
  }
  return new Response(ReadableStream.from(lines()), { headers: HEADERS });
}

const HEADERS = {
  "content-type": "text/csv; charset=utf-8",
  "cache-control": "no-store",
  "vary": "accept",
};

/**
 * Rows under their names; a nested value is JSON. A cell that a spreadsheet would run as a formula gets a quote before it.
 *
 * Not `@std/csv`: it leaves a cell with a lone CR unquoted, which spreadsheets read as the end of a row.
 */
export function csv(rows: readonly object[], { head = true } = {}): string {
  if (rows.length === 0) return "";
  const names = Object.keys(rows[0]);
  const cell = (value: unknown) => {
    if (value === null || value === undefined) return "";
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const line = (row: object) => names.map((name) => cell((row as Record<string, unknown>)[name])).join(",");
  return [...(head ? [names.join(",")] : []), ...rows.map(line)].join("\r\n") + "\r\n";
}
