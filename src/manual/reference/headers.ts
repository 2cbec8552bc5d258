/** The page of headers, from the table of their names. */
import { ANSWER_HEADERS, type HeaderRow, REQUEST_HEADERS, WEBHOOK_HEADERS } from "../../exchange/headers.ts";
import { code, head, markdownTable } from "./markdown.ts";

const INTRODUCTION = `Headers with a meaning for callers. Names are the same in any letter case.`;

export function headersPage(): string {
  const rows = (headers: readonly HeaderRow[]) => headers.map((h) => [code(h.name), h.where, h.meaning]);
  return [
    head("Headers", "src/exchange/headers.ts", INTRODUCTION),
    `## Of requests\n\n${markdownTable(["Name", "Read by", "Meaning"], rows(REQUEST_HEADERS))}`,
    `## Of answers\n\n${markdownTable(["Name", "On", "Meaning"], rows(ANSWER_HEADERS))}`,
    `## Of webhooks\n\n${markdownTable(["Name", "On", "Meaning"], rows(WEBHOOK_HEADERS))}\n`,
  ].join("\n\n");
}
