/** The reference page of headers, from the table of their names. */
import { ANSWER_HEADERS, type HeaderRow, REQUEST_HEADERS, WEBHOOK_HEADERS } from "../../exchange/headers.ts";
import { code, head, markdownTable } from "./markdown.ts";

const INTRODUCTION =
  `Headers that have a meaning for callers. Names are case-insensitive. "Generations" are requests to \`/v1/chat/completions\`, \`/v1/messages\` and \`/v1/responses\`.`;

export function headersPage(): string {
  const rows = (headers: readonly HeaderRow[]) => headers.map((h) => [code(h.name), h.where, h.meaning]);
  return [
    head("Headers", "src/exchange/headers.ts", INTRODUCTION),
    `## Request headers\n\n${markdownTable(["Name", "Read by", "Meaning"], rows(REQUEST_HEADERS))}`,
    `## Response headers\n\n${markdownTable(["Name", "On", "Meaning"], rows(ANSWER_HEADERS))}`,
    `## Webhook headers\n\n${markdownTable(["Name", "On", "Meaning"], rows(WEBHOOK_HEADERS))}\n`,
  ].join("\n\n");
}
