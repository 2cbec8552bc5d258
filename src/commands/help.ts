/** What `sluice help` prints. */
export const HELP = `sluice: one gateway to language-model providers, in three request formats

Usage:
  sluice [serve] [--config FILE] [--port N] [--hostname H] [--workers N] [--demo]
                                Serve. Without a configuration: on loopback, the providers whose variables
                                are set, and the demo model; --demo: that alone
  sluice init [FILE] [--providers A,B] [--store URL] [--port N] [--force]
                                Write a commented configuration (sluice.jsonc); asks what is left out
  sluice import litellm FILE    Print a LiteLLM configuration as one of Sluice, and say what could not be
  sluice connect CLIENT [--write] [--model ID] [--key SECRET] [--url URL]
                                Print a client's settings with a key, or write them where it looks:
                                claude-code, codex, opencode, cline, aider, continue, qwen-code, llm, …
  sluice try TEXT [--models PATTERN] [--limit N]
                                Ask each model once: answer, time, tokens, price, what was dropped
  sluice check --config FILE    Say what would run, or every mistake; exit 0 or 2
  sluice permissions --config FILE
                                The least permissions that Deno has to give, one a line
  sluice keys create NAME [--account A] [--team T] [--access-policy P] [--dlp-policy P] [--expires TIME]
                                Make a key; its secret is shown this once
  sluice keys list              Keys of the configuration and of the store
  sluice keys revoke KEY        KEY is an id or a name
  sluice keys rotate KEY [--overlap SECONDS]
                                A new secret; the old one stays valid for SECONDS (0)
  sluice usage [--by key|model|day|account|team|provider|format|session|tag:NAME] [--from DATE] [--to DATE] [--limit N]
                                Two joined by a comma sum by both: --by account,model
  sluice generations [--key NAME] [--session ID] [--limit N]
  sluice payload ID             What a generation was asked and answered, as JSON, from the payload log
  sluice replay ID [--model M] [--url URL] [--key SECRET] [--json]
                                Ask it once more, and show what differs: text, tool calls, tokens, price, time.
                                SECRET is an API key (or SLUICE_KEY)
  sluice dlp scan FILE... [--policy P] [--json | --sarif]
                                Screen files and folders as a policy would, - being standard input;
                                exit 0: nothing found, 1: something, 2: a file or P cannot be read
  sluice statement --account A --month YYYY-MM [--by generation|day] [--csv | --json]
                                What an account used in a month (UTC), with sums and prices
  sluice backup FILE [--force]  Keys, records, credits and the pepper into one file, while gateways run
  sluice restore FILE [--force] Make the store from it; --force replaces a store that is not empty
  sluice store info             Schema, size, rows, nodes and files of the store
  sluice ledger verify          Prove that no record was changed, removed or put in; exit 0 or 1
  sluice models [--diff]        The catalog with its prices; what would change of the running one, prices first
  sluice providers              Known providers, and the variables that they still need
  sluice --help | --version

Options:
  --config FILE   the configuration, JSON with comments (or SLUICE_CONFIG: a path or the text itself)
  --json          print JSON (keys, usage, generations, replay, backup, restore, store, ledger, dlp scan, models, try, providers)

Environment: SLUICE_CONFIG, PORT, SLUICE_STORE, SLUICE_ADMIN_KEY, DATABASE_URL or
  PGHOST, PGDATABASE and the other PG* (used when no store is configured)
`;
