/**
 * The command line to one command, or to a sentence about what is wrong with it.
 *
 * Pure: nothing is read and nothing printed. Options may be written `--name VALUE` or `--name=VALUE`, before or after the
 * words of the command.
 */
import { parseArgs } from "node:util";
import { KEY_PREFIX } from "../exchange/key_prefix.ts";
import { MOMENT_WORDS, readMoment } from "../schema/fields.ts";
import type { Command } from "./command.ts";
import { nearest, oneOf } from "../schema/mistakes.ts";
import { isUsageDimension, USAGE_DIMENSIONS } from "../store/mod.ts";

export type { Command, ConnectCommand, InitAnswers, NewKey, ReplayCommand } from "./command.ts";

/** A command line that cannot be followed. The message is for the user's eyes. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const OPTIONS = {
  config: { type: "string" },
  port: { type: "string" },
  hostname: { type: "string" },
  workers: { type: "string" },
  json: { type: "boolean" },
  by: { type: "string" },
  from: { type: "string" },
  to: { type: "string" },
  key: { type: "string" },
  session: { type: "string" },
  limit: { type: "string" },
  account: { type: "string" },
  team: { type: "string" },
  "access-policy": { type: "string" },
  "dlp-policy": { type: "string" },
  expires: { type: "string" },
  overlap: { type: "string" },
  policy: { type: "string" },
  sarif: { type: "boolean" },
  name: { type: "string" },
  force: { type: "boolean" },
  month: { type: "string" },
  csv: { type: "boolean" },
  demo: { type: "boolean" },
  diff: { type: "boolean" },
  write: { type: "boolean" },
  providers: { type: "string" },
  store: { type: "string" },
  url: { type: "string" },
  model: { type: "string" },
  models: { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "V" },
} as const;

type Option = keyof typeof OPTIONS;
type Values = { [O in Option]?: typeof OPTIONS[O]["type"] extends "boolean" ? boolean : string };

/** The options of each command beside `--config`. */
const TAKES: Record<string, readonly Option[]> = {
  serve: ["port", "hostname", "workers", "demo"],
  init: ["providers", "store", "port", "force"],
  "import litellm": [],
  connect: ["write", "model", "key", "url"],
  try: ["models", "limit", "json"],
  check: [],
  permissions: [],
  "keys create": ["name", "account", "team", "access-policy", "dlp-policy", "expires", "json"],
  "keys list": ["json"],
  "keys revoke": ["json"],
  "keys rotate": ["overlap", "json"],
  usage: ["by", "from", "to", "limit", "json"],
  generations: ["key", "session", "limit", "json"],
  "dlp scan": ["policy", "json", "sarif"],
  backup: ["force", "json"],
  restore: ["force", "json"],
  payload: [],
  replay: ["model", "url", "key", "json"],
  "store info": ["json"],
  "ledger verify": ["json"],
  statement: ["account", "month", "by", "csv", "json"],
  models: ["json", "diff"],
  providers: ["json"],
};
const COMMANDS = [
  "serve",
  "check",
  "permissions",
  "keys",
  "usage",
  "generations",
  "dlp",
  "backup",
  "restore",
  "store",
  "ledger",
  "statement",
  "models",
  "providers",
  "init",
  "import",
  "connect",
  "try",
  "payload",
  "replay",
];
/** Commands of two words. */
const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  keys: ["create", "list", "revoke", "rotate"],
  dlp: ["scan"],
  store: ["info"],
  ledger: ["verify"],
  import: ["litellm"],
};

export function parseCommand(args: readonly string[]): Command {
  const { values, words } = split(args);
  if (values.help || words[0] === "help") return { command: "help" };
  if (values.version) return { command: "version" };

  const first = words.shift() ?? "serve";
  if (!COMMANDS.includes(first)) throw wrong("command", COMMANDS, first);
  const actions = ACTIONS[first];
  const action = actions && words.shift();
  if (actions && (action === undefined || !actions.includes(action))) throw wrong(first, actions, action);
  const full = action === undefined ? first : `${first} ${action}`;
  for (const option of Object.keys(values) as Option[]) {
    if (option !== "config" && !TAKES[full].includes(option)) {
      const takes = (["config", ...TAKES[full]] as const).map((name) => `--${name}`);
      throw new UsageError(`Cannot use --${option} with ${full}: expected ${oneOf(takes)}`);
    }
  }
  const command = build(full, values, words);
  if (words.length > 0) {
    throw new UsageError(`Cannot read ${full}: expected no more words, got ${JSON.stringify(words[0])}`);
  }
  return command;
}

function build(full: string, values: Values, words: string[]): Command {
  const { config } = values;
  const json = values.json ?? false;
  switch (full) {
    case "check":
    case "permissions":
      return { command: full, config };
    case "keys create": {
      const name = values.name ?? words.shift();
      if (!name) throw new UsageError("Cannot read keys create: expected a name for the key, got nothing");
      return {
        command: "keys",
        action: "create",
        config,
        json,
        name,
        account: values.account,
        team: values.team,
        accessPolicy: values["access-policy"],
        dlpPolicy: values["dlp-policy"],
        expiresAt: time("expires", values.expires),
      };
    }
    case "keys list":
      return { command: "keys", action: "list", config, json };
    case "keys revoke":
      return { command: "keys", action: "revoke", config, json, key: keyOf(full, words) };
    case "keys rotate": {
      const overlapSeconds = whole("overlap", values.overlap, 0, 31_536_000) ?? 0;
      return { command: "keys", action: "rotate", config, json, key: keyOf(full, words), overlapSeconds };
    }
    case "usage": {
      const by = values.by ?? "key";
      const names = by.split(",").map((name) => name.trim());
      const unknown = names.find((name) => !isUsageDimension(name));
      if (unknown !== undefined) throw wrong("--by", USAGE_DIMENSIONS, unknown);
      if (names.length > 2 || new Set(names).size < names.length) {
        const allowed = "one dimension, or two different ones joined by a comma";
        throw new UsageError(`Cannot read --by: expected ${allowed}, got ${JSON.stringify(by)}`);
      }
      return {
        command: "usage",
        config,
        json,
        by,
        ...span(values),
        limit: whole("limit", values.limit, 1, 1000),
      };
    }
    case "generations": {
      const limit = whole("limit", values.limit, 1, 100_000) ?? 50;
      return { command: "generations", config, json, key: values.key, session: values.session, limit };
    }
    case "dlp scan": {
      if (words.length === 0) {
        throw new UsageError("Cannot read dlp scan: expected files or folders to scan, got nothing");
      }
      if (json && values.sarif) throw new UsageError("Cannot use --json with --sarif: expected one of them");
      return {
        command: "dlp",
        action: "scan",
        config,
        files: words.splice(0),
        policy: values.policy,
        form: values.sarif ? "sarif" : json ? "json" : "text",
      };
    }
    case "backup":
    case "restore": {
      const file = words.shift();
      if (!file) throw new UsageError(`Cannot read ${full}: expected a file, got nothing`);
      return { command: full, config, json, file, force: values.force ?? false };
    }
    case "payload":
      return { command: "payload", config, id: word(full, "the id of a generation", words) };
    case "replay": {
      const id = word(full, "the id of a generation", words);
      return {
        command: "replay",
        config,
        json,
        id,
        model: values.model,
        url: address(values.url),
        secret: apiKey(values.key),
      };
    }
    case "store info":
      return { command: "store", action: "info", config, json };
    case "statement": {
      const { account, month, by = "generation" } = values;
      if (!account) throw new UsageError("Cannot read statement: expected --account, got nothing");
      if (!month || !/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) {
        throw new UsageError(
          `Cannot read --month: expected YYYY-MM, got ${month ? JSON.stringify(month) : "nothing"}`,
        );
      }
      if (by !== "generation" && by !== "day") throw wrong("--by", ["generation", "day"], by);
      if (json && values.csv) throw new UsageError("Cannot use --json with --csv: expected one of them");
      return {
        command: "statement",
        config,
        account,
        month,
        by,
        form: values.csv ? "csv" : json ? "json" : "text",
      };
    }
    case "ledger verify":
      return { command: "ledger", action: "verify", config, json };
    case "models":
      return { command: "models", config, json, diff: values.diff ?? false };
    case "init":
      return {
        command: "init",
        file: words.shift() ?? "sluice.jsonc",
        force: values.force ?? false,
        providers: values.providers?.split(",").map((name) => name.trim()).filter((name) => name !== ""),
        store: values.store,
        port: whole("port", values.port, 1, 65_535),
      };
    case "import litellm":
      return { command: "import", from: "litellm", file: word(full, "the path of a configuration", words) };
    case "connect":
      return {
        command: "connect",
        config,
        client: word(full, "a client", words),
        write: values.write ?? false,
        secret: apiKey(values.key),
        url: address(values.url),
        model: values.model,
      };
    case "try": {
      const limit = whole("limit", values.limit, 1, 1000) ?? 20;
      return {
        command: "try",
        config,
        json,
        text: word(full, "a text", words),
        models: values.models,
        limit,
      };
    }
    case "providers":
      return { command: "providers", config, json };
    default:
      return {
        command: "serve",
        config,
        port: whole("port", values.port, 0, 65_535),
        hostname: values.hostname,
        workers: whole("workers", values.workers, 1, 64),
        ...(values.demo && { demo: true }),
      };
  }
}

function word(full: string, what: string, words: string[]): string {
  const found = words.shift();
  if (!found) throw new UsageError(`Cannot read ${full}: expected ${what}, got nothing`);
  return found;
}

function split(args: readonly string[]): { values: Values; words: string[] } {
  // Not strict: the parser's own refusals do not say what is allowed.
  const { tokens } = parseArgs({ args: [...args], options: OPTIONS, strict: false, tokens: true });
  const values: Record<string, string | boolean> = {};
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const known = Object.keys(OPTIONS).map((name) => `--${name}`);
    if (!Object.hasOwn(OPTIONS, token.name)) throw wrong("option", known, token.rawName);
    const option = token.name as Option;
    if (Object.hasOwn(values, option)) {
      throw new UsageError(`Cannot read --${option}: expected it once, got it twice`);
    }
    if (OPTIONS[option].type === "boolean") {
      if (token.value !== undefined) {
        throw new UsageError(
          `Cannot read --${option}: expected no value, got ${JSON.stringify(token.value)}`,
        );
      }
      values[option] = true;
    } else {
      // `--config --port 80` swallows the next option: a forgotten value, since no value here begins with two dashes.
      if (!token.value || (!token.inlineValue && token.value.startsWith("--"))) {
        throw new UsageError(`Cannot read --${option}: expected a value, got nothing`);
      }
      values[option] = token.value;
    }
  }
  return { values, words };
}

function keyOf(full: string, words: string[]): string {
  const key = words.shift();
  if (!key) throw new UsageError(`Cannot read ${full}: expected the id or name of a key, got nothing`);
  return key;
}

function whole(option: Option, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(
    `Cannot read --${option}: expected a whole number from ${least} to ${most}, got ${JSON.stringify(text)}`,
  );
}

/** The address of a gateway, to which paths are added. */
function address(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (
    url !== null && /^https?:$/.test(url.protocol) &&
    url.username + url.password + url.search + url.hash === ""
  ) {
    return text;
  }
  const allowed = "an http:// or https:// address without user, query and fragment";
  throw new UsageError(`Cannot read --url: expected ${allowed}, got ${JSON.stringify(text)}`);
}

/** An API key of the gateway. Its value is not told: another secret may stand in its place. */
function apiKey(text: string | undefined): string | undefined {
  if (text === undefined || text.startsWith(KEY_PREFIX)) return text;
  const allowed = `an API key of Sluice, which begins with ${KEY_PREFIX}`;
  throw new UsageError(`Cannot read --key: expected ${allowed}, got another text (not shown)`);
}

/** From when on, and until before when. */
function span({ from, to }: Values): { from: string | undefined; to: string | undefined } {
  const [starts, ends] = [time("from", from), time("to", to)];
  if (starts !== undefined && ends !== undefined && readMoment(starts)! >= readMoment(ends)!) {
    const allowed = `a time later than --from (${starts})`;
    throw new UsageError(`Cannot read --to: expected ${allowed}, got ${JSON.stringify(ends)}`);
  }
  return { from: starts, to: ends };
}

/** A day or a moment, as it was written. */
function time(option: Option, text: string | undefined): string | undefined {
  if (text === undefined || readMoment(text) !== null) return text;
  throw new UsageError(`Cannot read --${option}: expected ${MOMENT_WORDS}, got ${JSON.stringify(text)}`);
}

/** What is said of a word that is none of those that are allowed, with the nearest of them. */
export function wrong(what: string, allowed: readonly string[], got: string | undefined): UsageError {
  const hint = got === undefined ? undefined : nearest(got, allowed);
  const found = got === undefined ? "nothing" : JSON.stringify(got);
  return new UsageError(
    `Cannot read ${what}: expected ${oneOf(allowed)}, got ${found}${hint ? `; nearest is ${hint}` : ""}`,
  );
}
