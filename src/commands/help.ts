/** The text of `sluice help`, and its part about one command. */

export interface CommandHelp {
  /** The words and options of the command. */
  usage: string;
  meaning: string;
}

const COMMANDS: readonly CommandHelp[] = [
  {
    usage: "sluice [serve] [--config FILE] [--port N] [--hostname H] [--workers N] [--demo]",
    meaning:
      "Run the gateway. Without a configuration it listens on loopback and serves the providers whose API keys are in the environment, and the demo model; --demo: only the demo model, without a configuration",
  },
  {
    usage: "sluice init [FILE] [--providers A,B] [--store URL] [--port N] [--force]",
    meaning:
      "Write a commented configuration (default: sluice.jsonc); ask for the values that no option gives; --force: replace an existing file",
  },
  {
    usage: "sluice import litellm FILE",
    meaning:
      "Convert a LiteLLM configuration and print it; list the settings that could not be converted. - is standard input",
  },
  {
    usage: "sluice connect CLIENT [--write] [--model ID] [--key SECRET] [--url URL]",
    meaning:
      "Print the settings of a client with a new key; --write: write them to the client's own configuration (exit status 1: nothing was written). Clients: claude-code, codex, opencode, copilot, cline, continue, crush, goose, zed, vscode, droid, pi, qwen-code, aider, llm, open-webui, librechat and others",
  },
  {
    usage: "sluice try TEXT [--models PATTERN] [--limit N]",
    meaning:
      "Send TEXT to each model once (at most N models, default: 20) and print the answer, time, tokens, cost and dropped fields. Exit status 1: no model answered",
  },
  {
    usage: "sluice check --config FILE",
    meaning: "Validate the configuration: print a summary (exit status 0) or all mistakes (2)",
  },
  {
    usage: "sluice permissions --config FILE",
    meaning: "Print the minimal Deno permissions for a configuration, one per line",
  },
  {
    usage:
      "sluice keys create NAME [--account A] [--team T] [--access-policy P] [--dlp-policy P] [--expires TIME]",
    meaning: "Create a key. Its secret is shown only once",
  },
  {
    usage: "sluice keys list",
    meaning: "List the keys of the configuration and of the store",
  },
  {
    usage: "sluice keys revoke KEY",
    meaning: "Revoke a key. KEY is an id or a name",
  },
  {
    usage: "sluice keys rotate KEY [--overlap SECONDS]",
    meaning: "Create a new secret; the old one stays valid for SECONDS (default: 0)",
  },
  {
    usage:
      "sluice usage [--by key|model|day|account|team|provider|format|session|tag:NAME] [--from DATE] [--to DATE] [--limit N]",
    meaning:
      "Print sums, by key by default. --from is included, --to is not. Two dimensions are joined by a comma: --by account,model",
  },
  {
    usage: "sluice generations [--key NAME] [--session ID] [--limit N]",
    meaning: "Print the newest records (default: 50)",
  },
  {
    usage: "sluice payload ID",
    meaning: "Print the request and the answer of a generation from the payload log, as JSON",
  },
  {
    usage: "sluice replay ID [--model M] [--url URL] [--key SECRET] [--json]",
    meaning:
      "Send the logged request again and print the differences in text, tool calls, tokens, cost and time. SECRET is an API key (or SLUICE_KEY). Exit status 1: the new call failed",
  },
  {
    usage: "sluice dlp scan FILE... [--policy P] [--json | --sarif]",
    meaning:
      "Scan files and folders with a policy; - is standard input. Exit status 0: nothing found, 1: findings, 2: a file or the policy cannot be read",
  },
  {
    usage: "sluice statement --account A --month YYYY-MM [--by generation|day] [--csv | --json]",
    meaning: "Print the usage of an account in a month (UTC), with sums and prices",
  },
  {
    usage: "sluice backup FILE [--force]",
    meaning:
      "Write keys, records, credits and the pepper to one file, while gateways run; --force: replace an existing file",
  },
  {
    usage: "sluice restore FILE [--force]",
    meaning: "Restore the store from a backup; --force: replace a store that is not empty",
  },
  {
    usage: "sluice store info",
    meaning: "Print schema, size, rows, nodes and files of the store",
  },
  {
    usage: "sluice ledger verify",
    meaning: "Verify that no record was changed, removed or inserted; exit status 0 or 1",
  },
  {
    usage: "sluice models [--diff]",
    meaning: "Print the catalog with its prices; --diff: what would change in the running one",
  },
  {
    usage: "sluice providers",
    meaning: "Print the known providers and the environment variables that are missing",
  },
  {
    usage: "sluice help [COMMAND]",
    meaning: "Print this text, or the part about a command. Also: sluice [COMMAND] --help",
  },
  { usage: "sluice --version", meaning: "Print the version" },
];

const TITLE = "sluice: a gateway to language-model providers, with three request formats";

const OPTIONS = `Options:
  --config FILE   the configuration, JSON with comments (or SLUICE_CONFIG: a path, or the JSON text itself)
  --json          print JSON (keys, usage, generations, statement, replay, backup, restore, store, ledger,
                  dlp scan, models, try, providers)
  DATE, TIME      a date like 2030-01-31 or a time like 2030-01-31T00:00:00Z

Environment: SLUICE_CONFIG, PORT, SLUICE_STORE, SLUICE_ADMIN_KEY; DATABASE_URL, or PGHOST, PGDATABASE and the
  other PG* variables (used if no store is configured)
`;

/** The column at which descriptions begin. */
const COLUMN = 32;
/** The length of the longest line that is not a usage. */
const WIDTH = 112;

/** The help text of all commands. */
export const HELP = `${TITLE}\n\n${textOf(COMMANDS)}`;

/**
 * The help text, or the part of it about one command.
 * @param about its name; with the first of two words, the part about all commands with that word
 */
export function helpText(about?: string): string {
  return about === undefined ? HELP : textOf(commandsOf(about));
}

/** The usage and the meaning of one command. Throws a TypeError if there is no such command. */
export function commandHelp(name: string): CommandHelp {
  const [found] = commandsOf(name);
  if (found === undefined) throw new TypeError(`expected the name of a command, got ${name}`);
  return found;
}

function commandsOf(about: string): CommandHelp[] {
  return COMMANDS.filter(({ usage }) => `${usage.replaceAll(/[[\]]/g, "")} `.startsWith(`sluice ${about} `));
}

function textOf(commands: readonly CommandHelp[]): string {
  return `Usage:\n${commands.map(paragraph).join("")}\n${OPTIONS}`;
}

function paragraph({ usage, meaning }: CommandHelp): string {
  const head = `  ${usage}`;
  const lines = wrapped(meaning, WIDTH - COLUMN).map((line) => " ".repeat(COLUMN) + line);
  if (head.length < COLUMN) lines[0] = head + lines[0].slice(head.length);
  else lines.unshift(head);
  return lines.map((line) => `${line}\n`).join("");
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}
