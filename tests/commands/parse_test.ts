import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { commandHelp, HELP, helpText } from "../../src/commands/help.ts";
import { COMMANDS as COMMAND_ROWS } from "../../src/commands/command_table.ts";
import type { Command } from "../../src/commands/command.ts";
import { UsageError } from "../../src/commands/option_values.ts";
import { parseCommand } from "../../src/commands/parse.ts";

const words = (line: string) => line.split(" ").filter(Boolean);

const COMMANDS: [line: string, command: Command][] = [
  ["", { command: "serve", config: undefined, port: undefined, hostname: undefined, workers: undefined }],
  ["--config s.jsonc --port 0", {
    command: "serve",
    config: "s.jsonc",
    port: 0,
    hostname: undefined,
    workers: undefined,
  }],
  ["serve --hostname=::1 --workers 2", {
    command: "serve",
    config: undefined,
    port: undefined,
    hostname: "::1",
    workers: 2,
  }],
  ["check --config s.jsonc", { command: "check", config: "s.jsonc" }],
  ["check --config=s=1.jsonc", { command: "check", config: "s=1.jsonc" }],
  ["-V", { command: "version" }],
  ["-Vh", { command: "help" }],
  ["help keys", { command: "help", about: "keys" }],
  ["help keys create --json", { command: "help", about: "keys create" }],
  ["keys create --help", { command: "help", about: "keys create" }],
  ["usage --limit x --help", { command: "help", about: "usage" }],
  ["--help nothing", { command: "help" }],
  ["import -- litellm --all", { command: "import", from: "litellm", file: "--all" }],
  ["--config s.jsonc check", { command: "check", config: "s.jsonc" }],
  ["keys create dev --account acme --team t --access-policy eu --dlp-policy f --expires 2030-01-31", {
    command: "keys",
    action: "create",
    config: undefined,
    json: false,
    name: "dev",
    account: "acme",
    team: "t",
    accessPolicy: "eu",
    dlpPolicy: "f",
    expiresAt: "2030-01-31",
  }],
  ["backup a.gz --force", { command: "backup", config: undefined, json: false, file: "a.gz", force: true }],
  ["restore a.gz --json", { command: "restore", config: undefined, json: true, file: "a.gz", force: false }],
  ["store info --config s.jsonc", { command: "store", action: "info", config: "s.jsonc", json: false }],
  ["ledger verify --json", { command: "ledger", action: "verify", config: undefined, json: true }],
  ["statement --account acme --month 2026-11 --csv", {
    command: "statement",
    config: undefined,
    account: "acme",
    month: "2026-11",
    by: "generation",
    form: "csv",
  }],
  ["keys list --json", { command: "keys", action: "list", config: undefined, json: true }],
  ["keys revoke dev", { command: "keys", action: "revoke", config: undefined, json: false, key: "dev" }],
  ["keys rotate dev --overlap 60", {
    command: "keys",
    action: "rotate",
    config: undefined,
    json: false,
    key: "dev",
    overlapSeconds: 60,
  }],
  ["usage", {
    command: "usage",
    config: undefined,
    json: false,
    by: "key",
    from: undefined,
    to: undefined,
    limit: undefined,
  }],
  ["usage --by session,tag:env --from 2025-01-01 --to 2025-02-01T00:00:00+01:00 --limit 7 --json", {
    command: "usage",
    config: undefined,
    json: true,
    by: "session,tag:env",
    from: "2025-01-01",
    to: "2025-02-01T00:00:00+01:00",
    limit: 7,
  }],
  ["generations --key dev --session s --limit 5", {
    command: "generations",
    config: undefined,
    json: false,
    key: "dev",
    session: "s",
    limit: 5,
  }],
  ["dlp scan a.txt b --policy p --sarif", {
    command: "dlp",
    action: "scan",
    config: undefined,
    files: ["a.txt", "b"],
    policy: "p",
    form: "sarif",
  }],
  ["dlp scan - --json", {
    command: "dlp",
    action: "scan",
    config: undefined,
    files: ["-"],
    policy: undefined,
    form: "json",
  }],
  ["models", { command: "models", config: undefined, json: false, diff: false }],
  ["models --diff --json", { command: "models", config: undefined, json: true, diff: true }],
  ["init", {
    command: "init",
    file: "sluice.jsonc",
    force: false,
    providers: undefined,
    store: undefined,
    port: undefined,
  }],
  ["init x.jsonc --providers openai,groq --port 90 --force", {
    command: "init",
    file: "x.jsonc",
    force: true,
    providers: ["openai", "groq"],
    store: undefined,
    port: 90,
  }],
  ["import litellm l.yaml", { command: "import", from: "litellm", file: "l.yaml" }],
  ["connect codex --write", {
    command: "connect",
    config: undefined,
    client: "codex",
    write: true,
    secret: undefined,
    url: undefined,
    model: undefined,
  }],
  ["try hello --limit 3", {
    command: "try",
    config: undefined,
    json: false,
    text: "hello",
    models: undefined,
    limit: 3,
  }],
  ["--help", { command: "help" }],
  ["keys create -h", { command: "help", about: "keys create" }],
  ["help", { command: "help" }],
  ["--version", { command: "version" }],
];
for (const [line, command] of COMMANDS) {
  Deno.test(`parseCommand() reads "sluice ${line}"`, () => assertEquals(parseCommand(words(line)), command));
}

const UNKNOWN =
  "Cannot read command: expected one of serve, check, permissions, keys, usage, generations, dlp, backup, restore, store, ledger, statement and 8 more, got";
const MISTAKES: [line: string, message: string][] = [
  ["sevre", `${UNKNOWN} "sevre"; nearest is serve`],
  ["keys", "Cannot read keys: expected one of create, list, revoke, rotate, got nothing"],
  ["keys delete", 'Cannot read keys: expected one of create, list, revoke, rotate, got "delete"'],
  ["dlp", "Cannot read dlp: expected one of scan, got nothing"],
  ["dlp scan", "Cannot read dlp scan: expected files or folders to scan, got nothing"],
  ["serve --demo --config a.jsonc", "Cannot use --demo with --config: expected one of them"],
  ["dlp scan a --json --sarif", "Cannot use --json with --sarif: expected one of them"],
  ["keys create", "Cannot read keys create: expected a name for the key, got nothing"],
  ["keys revoke", "Cannot read keys revoke: expected the id or name of a key, got nothing"],
  ["keys revoke a b", 'Cannot read keys revoke: expected no more words, got "b"'],
  [
    "serve s.jsonc",
    'Cannot read serve: expected no more words, got "s.jsonc"; a configuration is given as --config FILE',
  ],
  ["s.jsonc --port 80", `${UNKNOWN} "s.jsonc"; a configuration is given as --config FILE`],
  ["help kyes", `${UNKNOWN} "kyes"; nearest is keys`],
  ["help nothing", `${UNKNOWN} "nothing"`],
  [
    "keys list --by key --naem x",
    'Cannot read option: expected one of --config, --json, --help, got "--naem"',
  ],
  [
    "--verbose",
    'Cannot read option: expected one of --config, --port, --hostname, --workers, --demo, --help, got "--verbose"',
  ],
  ["--port 65536", 'Cannot read --port: expected a whole number from 0 to 65535, got "65536"'],
  ["--port 80x", 'Cannot read --port: expected a whole number from 0 to 65535, got "80x"'],
  ["--port", "Cannot read --port: expected a value, got nothing"],
  ["--config --port 80", "Cannot read --config: expected a value, got nothing"],
  ["--config=", "Cannot read --config: expected a value, got nothing"],
  ["--port 1 --port 2", "Cannot read --port: expected it once, got it twice"],
  ["models --json=yes", 'Cannot read --json: expected no value, got "yes"'],
  ["check --port 80", "Cannot use --port with check: expected one of --config"],
  ...["connect codex", "replay gen_1"].flatMap((line): [string, string][] =>
    ["nonsense", "ftp://h", "http://h/?a=b", "http://u:p@h"].map((url) => [
      `${line} --url ${url}`,
      `Cannot read --url: expected an http:// or https:// address without user, query and fragment, got "${url}"`,
    ])
  ),
  [
    "usage --key k",
    "Cannot use --key with usage: expected one of --config, --by, --from, --to, --limit, --json",
  ],
  [
    "usage --by keys",
    'Cannot read --by: expected one of key, model, day, account, provider, format, team, session, tag:NAME, got "keys"; nearest is key',
  ],
  [
    "usage --from 2025-02-31",
    'Cannot read --from: expected a date like 2030-01-31 or a time like 2030-01-31T00:00:00Z, got "2025-02-31"',
  ],
  [
    "usage --from yesterday",
    'Cannot read --from: expected a date like 2030-01-31 or a time like 2030-01-31T00:00:00Z, got "yesterday"',
  ],
  ...[["2025-02-01", "2025-01-01"], ["2025-02-01", "2025-02-01T00:00:00Z"]].map((
    [from, to],
  ): [string, string] => [
    `usage --from ${from} --to ${to}`,
    `Cannot read --to: expected a time later than --from (${from}), got "${to}"`,
  ]),
  ...["key,model,day", "key,key"].map((by): [string, string] => [
    `usage --by ${by}`,
    `Cannot read --by: expected one dimension, or two different ones joined by a comma, got "${by}"`,
  ]),
  ...["connect codex", "replay gen_1"].map((command): [string, string] => [
    `${command} --key hidden`,
    "Cannot read --key: expected an API key of Sluice, which begins with sk_live_, got another text (not shown)",
  ]),
  ["statement --month 2026-11", "Cannot read statement: expected --account, got nothing"],
  ["statement --account a --month 2026-13", 'Cannot read --month: expected YYYY-MM, got "2026-13"'],
  ["backup", "Cannot read backup: expected a file, got nothing"],
  ["store inf", 'Cannot read store: expected one of info, got "inf"; nearest is info'],
  ["generations --limit 0", 'Cannot read --limit: expected a whole number from 1 to 100000, got "0"'],
];
for (const [line, message] of MISTAKES) {
  Deno.test(`parseCommand() refuses "sluice ${line}"`, () => {
    assertEquals(assertThrows(() => parseCommand(words(line)), UsageError).message, message);
  });
}

Deno.test("parseCommand() names the nearest of the options for one it does not know", () => {
  const { message } = assertThrows(() => parseCommand(["--prot", "80"]), UsageError);
  assertStringIncludes(message, "Cannot read option: expected one of --config, --port,");
  assertStringIncludes(message, 'got "--prot"; nearest is --port');
  // Where the command is not known, those of all commands are named.
  for (const first of ["sevre", "constructor"]) {
    const { message } = assertThrows(() => parseCommand([first, "--naem", "x"]), UsageError);
    assertStringIncludes(message, 'got "--naem"; nearest is --name');
  }
});

Deno.test("parseCommand() never throws anything but a UsageError", () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom(
      "keys",
      "create",
      "--port",
      "--config",
      "usage",
      "--from",
      "2030-02-30T00:00Z",
      "--__proto__",
      "-",
      "--",
    ),
  );
  fc.assert(fc.property(fc.array(word, { maxLength: 6 }), (args) => {
    try {
      parseCommand(args);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
    }
  }));
});

Deno.test("HELP names every option that a command takes", () => {
  const options = [
    "config",
    "port",
    "hostname",
    "workers",
    "json",
    "by",
    "from",
    "to",
    "key",
    "limit",
    "account",
  ];
  for (const option of [...options, "access-policy", "dlp-policy", "expires", "overlap", "help", "version"]) {
    assertStringIncludes(HELP, `--${option}`);
  }
});

Deno.test("the usage and the description of each command stand in the help as the manual shows them", () => {
  for (const name of Object.keys(COMMAND_ROWS)) {
    const { usage, meaning } = commandHelp(name);
    assertMatch(usage.replaceAll(/[[\]]/g, ""), new RegExp(`^sluice ${name}(?: \\S+)*$`), name);
    assertMatch(meaning, /^[A-Z][^]*[\w)]$/, name);
    assert(!/ {2}/.test(meaning), meaning);
  }
  assertEquals(commandHelp("restore"), {
    usage: "sluice restore FILE [--force]",
    meaning: "Restore the store from a backup; --force: replace a store that is not empty",
  });
});

Deno.test("the help of a command is its part of the whole, and every command has one", () => {
  for (const name of Object.keys(COMMAND_ROWS)) {
    for (const about of new Set([name, name.split(" ")[0]])) {
      const text = helpText(about);
      const usages = text.split("\n").filter((line) => line.startsWith("  sluice "));
      assert(usages.length > 0, about);
      for (const usage of usages) {
        assertStringIncludes(`${usage.replaceAll(/[[\]]/g, "")} `, `  sluice ${about} `);
        assertStringIncludes(HELP, usage);
      }
    }
  }
  assertEquals(helpText("keys").match(/^ {2}sluice keys/gm)?.length, 4);
  assertStringIncludes(helpText("keys revoke"), "KEY is an id or a name\n\nOptions:\n  --config FILE");
  assertEquals(helpText(), HELP);
});
