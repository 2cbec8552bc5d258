/** Every command: its options besides `--config`, and how its words and options are parsed. */
import { isUsageDimension, USAGE_DIMENSIONS } from "../store/mod.ts";
import type { Command } from "./command.ts";
import {
  address,
  apiKey,
  type Option,
  span,
  time,
  UsageError,
  type Values,
  whole,
  wrong,
} from "./option_values.ts";

/** The parsed words and options of a command line. */
export interface CommandLine {
  /** The name of the command: one word or two. */
  name: string;
  values: Values;
  /** The words after the name; `read` removes those that it uses. */
  words: string[];
  /** Whether `--json` is given. */
  json: boolean;
  config: string | undefined;
}

export interface CommandRow {
  options: readonly Option[];
  /** Throws `UsageError`. */
  read(line: CommandLine): Command;
}

/** By name, in the order in which messages list them. */
export const COMMANDS: Readonly<Record<string, CommandRow>> = {
  serve: {
    options: ["port", "hostname", "workers", "demo"],
    read({ values, config }) {
      if (values.demo && config !== undefined) {
        throw new UsageError("Cannot use --demo with --config: expected one of them");
      }
      return {
        command: "serve",
        config,
        port: whole("port", values.port, 0, 65_535),
        hostname: values.hostname,
        workers: whole("workers", values.workers, 1, 64),
        ...(values.demo && { demo: true }),
      };
    },
  },
  check: { options: [], read: ({ config }) => ({ command: "check", config }) },
  permissions: { options: [], read: ({ config }) => ({ command: "permissions", config }) },
  "keys create": {
    options: ["name", "account", "team", "access-policy", "dlp-policy", "expires", "json"],
    read({ values, words, json, config }) {
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
    },
  },
  "keys list": {
    options: ["json"],
    read: ({ json, config }) => ({ command: "keys", action: "list", config, json }),
  },
  "keys revoke": {
    options: ["json"],
    read: (line) => ({
      command: "keys",
      action: "revoke",
      config: line.config,
      json: line.json,
      key: word(KEY, line),
    }),
  },
  "keys rotate": {
    options: ["overlap", "json"],
    read(line) {
      const { config, json } = line;
      const overlapSeconds = whole("overlap", line.values.overlap, 0, 31_536_000) ?? 0;
      return { command: "keys", action: "rotate", config, json, key: word(KEY, line), overlapSeconds };
    },
  },
  usage: {
    options: ["by", "from", "to", "limit", "json"],
    read: ({ values, json, config }) => ({
      command: "usage",
      config,
      json,
      by: dimensions(values.by ?? "key"),
      ...span(values),
      limit: whole("limit", values.limit, 1, 1000),
    }),
  },
  generations: {
    options: ["key", "session", "limit", "json"],
    read({ values, json, config }) {
      const limit = whole("limit", values.limit, 1, 100_000) ?? 50;
      return { command: "generations", config, json, key: values.key, session: values.session, limit };
    },
  },
  "dlp scan": {
    options: ["policy", "json", "sarif"],
    read({ values, words, json, config }) {
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
    },
  },
  backup: {
    options: ["force", "json"],
    read: (line) => ({ command: "backup", ...backupFile(line) }),
  },
  restore: {
    options: ["force", "json"],
    read: (line) => ({ command: "restore", ...backupFile(line) }),
  },
  "store info": {
    options: ["json"],
    read: ({ json, config }) => ({ command: "store", action: "info", config, json }),
  },
  "ledger verify": {
    options: ["json"],
    read: ({ json, config }) => ({ command: "ledger", action: "verify", config, json }),
  },
  statement: {
    options: ["account", "month", "by", "csv", "json"],
    read({ values, json, config }) {
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
    },
  },
  models: {
    options: ["json", "diff"],
    read: ({ values, json, config }) => ({ command: "models", config, json, diff: values.diff ?? false }),
  },
  providers: {
    options: ["json"],
    read: ({ json, config }) => ({ command: "providers", config, json }),
  },
  init: {
    options: ["providers", "store", "port", "force"],
    read: ({ values, words }) => ({
      command: "init",
      file: words.shift() ?? "sluice.jsonc",
      force: values.force ?? false,
      providers: values.providers?.split(",").map((name) => name.trim()).filter((name) => name !== ""),
      store: values.store,
      port: whole("port", values.port, 1, 65_535),
    }),
  },
  "import litellm": {
    options: [],
    read: (line) => ({ command: "import", from: "litellm", file: word("the path of a configuration", line) }),
  },
  connect: {
    options: ["write", "model", "key", "url"],
    read: (line) => ({
      command: "connect",
      config: line.config,
      client: word("a client", line),
      write: line.values.write ?? false,
      secret: apiKey(line.values.key),
      url: address(line.values.url),
      model: line.values.model,
    }),
  },
  try: {
    options: ["models", "limit", "json"],
    read(line) {
      const { values, json, config } = line;
      const limit = whole("limit", values.limit, 1, 1000) ?? 20;
      return { command: "try", config, json, text: word("a text", line), models: values.models, limit };
    },
  },
  payload: {
    options: [],
    read: (line) => ({ command: "payload", config: line.config, id: word(GENERATION, line) }),
  },
  replay: {
    options: ["model", "url", "key", "json"],
    read: (line) => ({
      command: "replay",
      config: line.config,
      json: line.json,
      id: word(GENERATION, line),
      model: line.values.model,
      url: address(line.values.url),
      secret: apiKey(line.values.key),
    }),
  },
};

const KEY = "the id or name of a key";
const GENERATION = "the id of a generation";

/** Removes the next word and returns it. Throws `UsageError` if there is none. */
function word(what: string, { name, words }: CommandLine): string {
  const found = words.shift();
  if (!found) throw new UsageError(`Cannot read ${name}: expected ${what}, got nothing`);
  return found;
}

/** The arguments of `backup` and `restore`. */
function backupFile(line: CommandLine) {
  const { values, json, config } = line;
  return { config, json, file: word("a file", line), force: values.force ?? false };
}

/** One dimension to sum by, or two separated by a comma, as they were written. */
function dimensions(by: string): string {
  const names = by.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !isUsageDimension(name));
  if (unknown !== undefined) throw wrong("--by", USAGE_DIMENSIONS, unknown);
  if (names.length > 2 || new Set(names).size < names.length) {
    const allowed = "one dimension, or two different ones joined by a comma";
    throw new UsageError(`Cannot read --by: expected ${allowed}, got ${JSON.stringify(by)}`);
  }
  return by;
}
