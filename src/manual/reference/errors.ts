/** The reference page of error codes, from the table of failures. */
import { type FailureRow, FAILURES } from "../../exchange/failure.ts";
import { code, head, markdownTable } from "./markdown.ts";

const INTRODUCTION =
  `Every error has an HTTP status and a code, which is the same in all three formats. The message says what was expected and what was found.

| Surface | Body |
| --- | --- |
| chat-completions, \`/v1/models\`, \`/admin\` | \`{"error": {"code", "message", "extra"}}\` |
| messages | \`{"type": "error", "error": {"type", "code", "message", "details"}}\` |
| responses | \`{"error": {"type", "code", "message", "param", "details"}}\` |

\`extra\` and \`details\` contain further data:

| Field | With the code | Meaning |
| --- | --- | --- |
| \`errors\` | \`validation_error\` | All mistakes, each with \`type\`, \`loc\` and \`msg\`. |
| \`reset_at\` | \`api_key_limit_exceeded\` | End of the period. Null: the limit is never reset. |
| \`limit_of\` | \`api_key_limit_exceeded\` | Whose limit is reached: \`team\`, \`session\` or \`tag\`. Absent: that of the key. |
| \`session\` | \`provider_rate_limited\` | \`true\`: the session has reached its request rate. |
| \`reserved\` | \`provider_rate_limited\` | \`true\`: the missing budget is only reserved by calls in progress. |
| \`requests\`, \`tokens\` | \`provider_rate_limited\` | The key's limits per minute: \`limit\`, \`remaining\`, and \`reset\` in seconds. |
| \`dlp\` | \`dlp_violation\` | The findings in the messages of \`report_scope\`. |
| \`findings_count\` | \`dlp_violation\` | The number of all findings. |
| \`block_scope\` | \`dlp_violation\` | \`outside_report_scope\`: the findings that led to the refusal are in none of the reported messages. Else \`in_report_scope\`. |
| \`unscanned\` | \`dlp_violation\` | Parts that could not be scanned. |
| \`allow\` | \`method_not_allowed\` | Methods that the route supports. |

A 401 on chat-completions and messages has the short body \`{"error": "unauthorized"}\`. An error after the first byte of a stream is sent as the error event of the format; the status is then 200.

The column "Retry" shows whether the same request may succeed later. If it is "no", the answer has \`x-should-retry: false\`, except for 401, 404 and 405.`;

export function errorsPage(): string {
  const rows = Object.entries<FailureRow>(FAILURES).map(([name, row]) => [
    String(row.status),
    code(name),
    code(row.kind),
    row.retryable ? "yes" : "no",
    retryAfter(row),
    row.when,
  ]);
  const titles = ["Status", "Code", "Type", "Retry", "`Retry-After`", "When"];
  return `${head("Error codes", "src/exchange/failure.ts", INTRODUCTION)}\n\n## Codes\n\n${
    markdownTable(titles, rows)
  }\n`;
}

function retryAfter({ retryAfter, retryable }: FailureRow): string {
  if (retryAfter === "never") return "never";
  if (retryAfter !== undefined) return `${retryAfter} s or more`;
  return retryable ? "if known" : "";
}
