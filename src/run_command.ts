/** Runs the commands. Modules that a start does not need are imported when a command needs them. */
import { assemble } from "./assemble.ts";
import { assembleAccounts } from "./assembly/gateway_accounts.ts";
import type { AccountsCommand } from "./commands/accounts.ts";
import type { Command } from "./commands/command.ts";
import type { Flags, Loaded } from "./config/load.ts";
import type { Config } from "./config/schema.ts";
import { Failure } from "./exchange/failure.ts";
import { printableLines } from "./exchange/printable.ts";
import type { Level } from "./log.ts";
import manifest from "../deno.json" with { type: "json" };

/** The environment in which commands run. */
export interface Machine {
  env(name: string): string | undefined;
  log(line: string, level?: Level): void;
  /** Loads the configuration with this name, or the one that the environment names, or that of demo mode. */
  load(
    named: string | undefined,
    flags: Flags,
    options?: { listens?: boolean; env?(name: string): string | undefined },
  ): Promise<Loaded>;
  serve(source: string | undefined, flags: Flags): Promise<void>;
}

/** Exit status for mistakes that the operator can fix. */
export const MISTAKE = 2;

/** Prints what a command found. Names and texts of callers and providers may contain escape codes of terminals. */
function show(text: string): void {
  console.log(printableLines(text));
}

/** Runs a command. */
export async function runCommand(command: Command, machine: Machine): Promise<void> {
  const { env, load } = machine;
  switch (command.command) {
    case "help":
      return show((await import("./commands/help.ts")).helpText(command.about).trimEnd());
    case "version":
      return show(`sluice ${manifest.version}`);
    case "check": {
      const { config, warnings } = await load(command.config, {});
      const { describe } = await import("./config/describe.ts");
      const { telemetryIsOn } = await import("./telemetry/config.ts");
      const telemetry = telemetryIsOn(env)
        ? (await import("./commands/telemetry_summary.ts")).telemetrySummary(env)
        : null;
      for (const warning of [...warnings, ...telemetry?.warnings ?? []]) console.error(`warning: ${warning}`);
      return show([describe(config), ...(telemetry === null ? [] : [telemetry.line])].join("\n"));
    }
    case "permissions":
      return show((await permissions(command.config, machine)).join("\n"));
    case "serve":
      return await machine.serve(command.config, {
        port: command.port,
        hostname: command.hostname,
        workers: command.workers,
        demo: command.demo,
      });
    case "models":
      return await showModels(command, machine);
    case "init":
    case "import":
    case "connect":
    case "try":
      return await setUp(command, machine);
    case "providers": {
      const named = command.config ?? env("SLUICE_CONFIG");
      const configured = named ? (await load(named, {}, { listens: false })).config.providers : [];
      const own = configured.map(({ name, api, baseUrl, auth }) => ({
        provider: name,
        api: api.name,
        host: baseUrl === "" ? null : new URL(baseUrl).host,
        auth: auth.type === "key" && auth.key === "" ? "none" : auth.type,
      }));
      const { providersCommand } = await import("./commands/providers.ts");
      return show(providersCommand(env, own, command));
    }
    case "dlp":
      return await screenFiles(command, machine);
    case "backup":
    case "restore":
    case "store": {
      const { config } = await load(command.config, {}, { listens: false });
      // Imported on demand, so that other commands do not wait for it.
      const { storeCommand } = await import("./commands/store_care.ts");
      if (command.command === "backup") await (await import("./commands/lower_priority.ts")).lowerPriority();
      return show(await storeCommand(command, config.store));
    }
    case "payload":
    case "replay":
      return await withPayloads(command, machine);
    case "ledger": {
      const { config } = await load(command.config, {}, { listens: false });
      const { ledgerCommand } = await import("./commands/ledger.ts");
      await (await import("./commands/lower_priority.ts")).lowerPriority();
      const { text, intact } = await ledgerCommand(command, config.store, (line) => console.error(line));
      show(text);
      if (!intact) Deno.exitCode = 1;
      return;
    }
    case "statement":
      return await withStatement(command, machine);
    default:
      return await withAccounts(command, machine);
  }
}

async function showModels(
  { config: named, json, diff }: Extract<Command, { command: "models" }>,
  { env, load, log }: Machine,
): Promise<void> {
  const { config } = await load(named, {}, { listens: false });
  const [{ catalogOf, runningCatalog }, { changesText, modelsText }, { changes }, { summaryOf }] =
    await Promise
      .all([
        import("./commands/catalog_of.ts"),
        import("./commands/models.ts"),
        import("./models/changes.ts"),
        import("./models/summary.ts"),
      ]);
  const now = (await catalogOf(config, { env, log })).map((model) => summaryOf(model, Date.now()));
  if (!diff) return show(json ? JSON.stringify(now) : modelsText(now));
  const running = runningCatalog(config);
  if (running === null) {
    console.error("No gateway has served with this store, so that there is nothing to compare with.");
    Deno.exitCode = MISTAKE;
    return;
  }
  const found = changes(running, now);
  show(json ? JSON.stringify(found) : changesText(found));
}

/** Commands for first steps, imported on demand. */
async function setUp(
  command: Extract<Command, { command: "init" | "import" | "connect" | "try" }>,
  { env, load, log }: Machine,
): Promise<void> {
  const commands = await import("./commands/setup.ts");
  const makeKey = async (config: Config, name: string) => {
    const accounts = await assembleAccounts(config, { now: Date.now, log });
    try {
      return (await accounts.createKey({ name })).secret;
    } finally {
      await accounts.close();
    }
  };
  const loaded = async (named: string | undefined) => (await load(named, {}, { listens: false })).config;
  await commands.setUp(command, {
    env,
    load: loaded,
    log,
    makeKey,
    open: (config) => assemble(config, { now: Date.now, log, env, discovers: true }),
    print: (line) => show(line),
    note: (line) => console.error(printableLines(line)),
    failed() {
      Deno.exitCode = 1;
    },
  });
}

async function screenFiles(command: Extract<Command, { command: "dlp" }>, { load }: Machine): Promise<void> {
  const { config } = await load(command.config, {}, { listens: false });
  const { scanFiles } = await import("./commands/scan_files.ts");
  try {
    const { text, notes, status } = await scanFiles(command, config, manifest.version);
    if (text !== "") show(text);
    for (const note of notes) console.error(printableLines(note));
    Deno.exitCode = status;
  } catch (error) {
    await refused(error, command);
  }
}

/** The minimal permissions for a configuration. */
async function permissions(named: string | undefined, { env, load }: Machine): Promise<string[]> {
  const { permissionFlags } = await import("./commands/permissions.ts");
  const asked = new Set<string>();
  const { config } = await load(named, {}, {
    listens: false,
    env: (name) => {
      asked.add(name);
      return env(name);
    },
  });
  const source = named ?? env("SLUICE_CONFIG") ?? "";
  return permissionFlags(config, asked, env, {
    source: source === "" || source.includes("{") ? null : source,
    program: Deno.build.standalone ? [] : [import.meta.dirname!, await packagesFolder()],
    deno: Deno.execPath(),
  });
}

/** Deno's folder of packages, some of which read files of their own. */
async function packagesFolder(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).npmCache;
}

/** Prints a failure and sets the exit status; throws any other error. */
async function refused(error: unknown, command: Command): Promise<void> {
  if (!(error instanceof Failure)) throw error;
  console.error((await import("./commands/refusal.ts")).inOptions(error, command));
  Deno.exitCode = MISTAKE;
}

/** Opens the accounts of the configured store for one command. */
async function withAccounts(command: AccountsCommand, { load, log }: Machine): Promise<void> {
  const { config } = await load(command.config, {}, { listens: false });
  const { runCommand } = await import("./commands/accounts.ts");
  const accounts = await assembleAccounts(config, { now: Date.now, log });
  try {
    show(await runCommand(command, accounts));
    const { warningsOf } = await import("./commands/refusal.ts");
    for (const warning of warningsOf(command, config, Date.now())) console.error(warning);
  } catch (error) {
    await refused(error, command);
  } finally {
    await accounts.close();
  }
}

/** Prints a payload, or the differences after sending its request again. */
async function withPayloads(
  command: Extract<Command, { command: "payload" | "replay" }>,
  { env, load, log }: Machine,
): Promise<void> {
  const { config } = await load(command.config, {}, { listens: false });
  const { payloadCommand } = await import("./commands/payload.ts");
  const accounts = await assembleAccounts(config, { now: Date.now, log });
  try {
    const open = async (section: NonNullable<Config["payloads"]>) => {
      const { payloadLog } = await import("./assembly/payload_log.ts");
      return await payloadLog(section, { env, now: Date.now, log, store: null, sweeps: false });
    };
    const { text, failed } = await payloadCommand(command, config, { accounts, env, open });
    show(text);
    if (failed) Deno.exitCode = 1;
  } catch (error) {
    await refused(error, command);
  } finally {
    await accounts.close();
  }
}

/** Prints a statement in pieces: it may not fit into memory. */
async function withStatement(
  command: Extract<Command, { command: "statement" }>,
  { load, log }: Machine,
): Promise<void> {
  const { config } = await load(command.config, {}, { listens: false });
  const { statementChunks } = await import("./commands/statement.ts");
  const accounts = await assembleAccounts(config, { now: Date.now, log });
  try {
    const encoder = new TextEncoder();
    const writer = Deno.stdout.writable.getWriter();
    for await (const chunk of statementChunks(command, accounts)) await writer.write(encoder.encode(chunk));
    writer.releaseLock();
  } catch (error) {
    // The reader of the output has closed it.
    if (error instanceof Deno.errors.BrokenPipe) return;
    await refused(error, command);
  } finally {
    await accounts.close();
  }
}
