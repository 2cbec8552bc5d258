/** The text of `sluice help`, and its part about one command. */
export const HELP = `sluice: a gateway to language-model providers, with three request formats

Usage:
  sluice [serve] [--config FILE] [--port N] [--hostname H] [--workers N] [--demo]
                                Run the gateway. Without a configuration it listens on loopback and serves the
                                providers whose API keys are in the environment, and the demo model;
                                --demo: only the demo model
  sluice init [FILE] [--providers A,B] [--store URL] [--port N] [--force]
                                Write a commented configuration (default: sluice.jsonc); ask for the values
                                that no option gives; --force: replace an existing file
  sluice import litellm FILE    Convert a LiteLLM configuration and print it; list the settings that could
                                not be converted. - is standard input
  sluice connect CLIENT [--write] [--model ID] [--key SECRET] [--url URL]
                                Print the settings of a client with a new key; --write: write them to the
                                client's own configuration. Clients: claude-code, codex, opencode, cline,
                                aider, continue, qwen-code, llm and others
  sluice try TEXT [--models PATTERN] [--limit N]
                                Send TEXT to each model once (at most N models, default: 20) and print the
                                answer, time, tokens, cost and dropped fields. Exit status 1: no model answered
  sluice check --config FILE    Validate the configuration: print a summary (exit status 0) or all mistakes (2)
  sluice permissions --config FILE
                                Print the minimal Deno permissions for a configuration, one per line
  sluice keys create NAME [--account A] [--team T] [--access-policy P] [--dlp-policy P] [--expires TIME]
                                Create a key. Its secret is shown only once
  sluice keys list              List the keys of the configuration and of the store
  sluice keys revoke KEY        Revoke a key. KEY is an id or a name
  sluice keys rotate KEY [--overlap SECONDS]
                                Create a new secret; the old one stays valid for SECONDS (default: 0)
  sluice usage [--by key|model|day|account|team|provider|format|session|tag:NAME] [--from DATE] [--to DATE] [--limit N]
                                Print sums, by key by default. --from is included, --to is not. Two
                                dimensions are joined by a comma: --by account,model
  sluice generations [--key NAME] [--session ID] [--limit N]
                                Print the newest records (default: 50)
  sluice payload ID             Print the request and the answer of a generation from the payload log, as JSON
  sluice replay ID [--model M] [--url URL] [--key SECRET] [--json]
                                Send the logged request again and print the differences in text, tool calls,
                                tokens, cost and time. SECRET is an API key (or SLUICE_KEY). Exit status 1:
                                the new call failed
  sluice dlp scan FILE... [--policy P] [--json | --sarif]
                                Scan files and folders with a policy; - is standard input. Exit status
                                0: nothing found, 1: findings, 2: a file or the policy cannot be read
  sluice statement --account A --month YYYY-MM [--by generation|day] [--csv | --json]
                                Print the usage of an account in a month (UTC), with sums and prices
  sluice backup FILE [--force]  Write keys, records, credits and the pepper to one file, while gateways run;
                                --force: replace an existing file
  sluice restore FILE [--force] Restore the store from a backup; --force: replace a store that is not empty
  sluice store info             Print schema, size, rows, nodes and files of the store
  sluice ledger verify          Verify that no record was changed, removed or inserted; exit status 0 or 1
  sluice models [--diff]        Print the catalog with its prices; --diff: what would change in the running one
  sluice providers              Print the known providers and the environment variables that are missing
  sluice help [COMMAND]         Print this text, or the part about a command. Also: sluice [COMMAND] --help
  sluice --version

Options:
  --config FILE   the configuration, JSON with comments (or SLUICE_CONFIG: a path, or the JSON text itself)
  --json          print JSON (keys, usage, generations, statement, replay, backup, restore, store, ledger,
                  dlp scan, models, try, providers)
  DATE, TIME      a date like 2030-01-31 or a time like 2030-01-31T00:00:00Z

Environment: SLUICE_CONFIG, PORT, SLUICE_STORE, SLUICE_ADMIN_KEY; DATABASE_URL, or PGHOST, PGDATABASE and the
  other PG* variables (used if no store is configured)
`;

/** Where the usage of a command begins. */
const USAGE = "\n  sluice ";

/**
 * The help text, or the part of it about one command.
 * @param about its name; with the first of two words, the part about all commands with that word
 */
export function helpText(about?: string): string {
  if (about === undefined) return HELP;
  const [usage, options] = HELP.slice(HELP.indexOf("Usage:\n") - 1).split("\n\nOptions:");
  const own = usage.split(USAGE).slice(1).filter((text) =>
    `${text.replaceAll(/[[\]]/g, "")} `.startsWith(`${about} `)
  );
  return `Usage:${own.map((text) => USAGE + text).join("")}\n\nOptions:${options}`;
}

/** The column at which descriptions begin. */
const COLUMN = 32;

/** The usage of one command, and its description on one line. */
export function commandHelp(name: string): { usage: string; meaning: string } {
  const [own] = helpText(name).slice("Usage:\n".length).split("\n\nOptions:");
  const [first, ...more] = own.split("\n");
  const begins = first[COLUMN - 1] === " " && /^[A-Z][a-z]/.test(first.slice(COLUMN));
  const lines = (begins ? [first, ...more] : more).map((line) => line.slice(COLUMN));
  return { usage: (begins ? first.slice(0, COLUMN) : first).trim(), meaning: lines.join(" ") };
}
