/** Lists as RFC 4180 CSV, for who asks for that. */
import { accepts } from "@std/http/negotiation.js";

/** The list as CSV; null when the caller rather has JSON. */
export function table(
  request: Request,
  list: { data: readonly object[]; next_cursor?: string | null },
): Response | null {
  if (accepts(request, "application/json", "text/csv") !== "text/csv") return null;
  const headers = new Headers({
    "content-type": "text/csv; charset=utf-8",
    "cache-control": "no-store",
    "vary": "accept",
  });
  if (list.next_cursor) headers.set("x-next-cursor", list.next_cursor);
  return new Response(csv(list.data), { headers });
}

/**
 * Rows under their names; a nested value is JSON. A cell that a spreadsheet would run as a formula gets a quote before it.
 *
 * Not `@std/csv`: it leaves a cell with a lone CR unquoted, which spreadsheets read as the end of a row.
 */
export function csv(rows: readonly object[]): string {
  if (rows.length === 0) return "";
  const names = Object.keys(rows[0]);
  const cell = (value: unknown) => {
    if (value === null || value === undefined) return "";
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const line = (row: object) => names.map((name) => cell((row as Record<string, unknown>)[name])).join(",");
  return [names.join(","), ...rows.map(line)].join("\r\n") + "\r\n";
}
