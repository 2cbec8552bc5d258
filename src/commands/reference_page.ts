/** The reference page of the commands, from the help text and the table of the commands. */
import { code, head, markdownTable } from "../manual/reference/markdown.ts";
import { COMMANDS } from "./command_table.ts";
import { commandHelp } from "./help.ts";

const INTRODUCTION =
  `The program is called \`sluice\` here. From the repository, write \`deno task start\` instead: \`deno task start keys list --config sluice.jsonc\`. \`sluice help COMMAND\` prints the part of this page about a command.

\`--config FILE\` names the configuration for every command; without it, the variable \`SLUICE_CONFIG\` counts. Commands read and change the store that the configuration names, also while gateways run. \`--json\` prints JSON on standard output; warnings and errors are lines on standard error. Dates are written like \`2030-01-31\`, times like \`2030-01-31T00:00:00Z\`.`;

const STATUSES: readonly (readonly [string, string])[] = [
  ["0", "Success."],
  [
    "1",
    "The command has worked, but the result is not good; or an unexpected error occurred. `dlp scan`: there are findings. `ledger verify`: the ledger has faults. `try`: no model has answered. `replay`: the new call failed. `connect --write`: nothing was written.",
  ],
  [
    "2",
    "A mistake that can be corrected: in the arguments or the configuration, a file that cannot be read, or a store that is not available.",
  ],
];

const VARIABLES: readonly (readonly [string, string])[] = [
  ["`SLUICE_CONFIG`", "Path of the configuration, or its text (JSON with comments)."],
  ["`SLUICE_STORE`", "Overrides `store.url`."],
  ["`SLUICE_ADMIN_KEY`", "Overrides `admin_key`."],
  ["`PORT`", "Overrides `server.port`; `--port` overrides both."],
  [
    "`DATABASE_URL`, or `PGHOST`, `PGPORT`, `PGDATABASE`, `PGUSER`, `PGPASSWORD`, `PGSSLMODE`",
    "The PostgreSQL database, if neither `store.url` nor `SLUICE_STORE` is set.",
  ],
  ["`SLUICE_KEY`", "The API key with which `sluice replay ID` sends the request."],
  [
    "`SLUICE_PERMISSIONS`",
    "The Deno permissions of worker processes: see [Permissions](../operation.md#permissions).",
  ],
  ["`OTEL_DENO`, `OTEL_…`", "See [OpenTelemetry](../operation.md#traces-and-metrics-for-opentelemetry)."],
  [
    "`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`",
    "See [Calls to providers](../operation.md#calls-to-providers).",
  ],
  [
    "`OPENAI_API_KEY` and others",
    "Credentials of providers: see [Known providers](../providers.md#known-providers).",
  ],
];

export function commandsPage(): string {
  return [
    head("Commands", "src/commands/help.ts", INTRODUCTION),
    ...Object.keys(COMMANDS).map(section),
    `## Exit status\n\n${markdownTable(["Status", "Meaning"], STATUSES)}`,
    `## Environment variables\n\n${markdownTable(["Variable", "Meaning"], VARIABLES)}\n`,
  ].join("\n\n");
}

function section(name: string): string {
  const { usage, meaning } = commandHelp(name);
  const others = COMMANDS[name].options.filter((option) => !usage.includes(`--${option}`)).map((option) =>
    code(`--${option}`)
  );
  const also = others.length === 0 ? "" : ` Also takes ${others.join(", ")}.`;
  return `## ${code(name)}\n\n\`\`\`text\n${usage}\n\`\`\`\n\n${meaning}.${also}`;
}
