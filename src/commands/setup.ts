/** The commands for the first steps: `init`, `import`, `connect`, `try`. */
import type { Level } from "../exchange/log_level.ts";
import type { Config } from "../config/schema.ts";
import { AUTO, type Model } from "../models/catalog.ts";
import type { Env } from "../providers/presets.ts";
import type { TryGateway } from "./try.ts";
import type { Command } from "./command.ts";
import type { Connection, ModelFacts } from "./connect.ts";
import { UsageError, wrong } from "./option_values.ts";
import { writePrivateFile } from "./private_file.ts";
import { programCalled } from "./program_called.ts";
import type { Written } from "./settings_file.ts";

export interface Setup {
  env: Env;
  load(named: string | undefined): Promise<Config>;
  log(line: string, level?: Level): void;
  /** Creates a key in the store of a configuration. Resolves with its secret. */
  makeKey(config: Config, name: string): Promise<string>;
  open(config: Config): Promise<TryGateway>;
  /** Writes a line to stdout. */
  print(line: string): void;
  /** Writes a line to stderr. */
  note(line: string): void;
  /** Sets the exit status: the command ran, and had no success. */
  failed(): void;
}

type Own = Extract<Command, { command: "init" | "import" | "connect" | "try" }>;

/** Runs one of the commands and prints its result. Throws `UsageError`. */
export async function setUp(command: Own, around: Setup): Promise<void> {
  switch (command.command) {
    case "init":
      return await init(command, around);
    case "import":
      return await importFile(command, around);
    case "connect":
      return await connect(command, around);
    case "try": {
      const { tryModels } = await import("./try.ts");
      const config = await around.load(command.config);
      const { text, answered } = await tryModels(config, { ...command, open: around.open });
      around.print(text);
      if (answered === 0) around.failed();
      return;
    }
  }
}

async function init(command: Extract<Own, { command: "init" }>, { env, print }: Setup): Promise<void> {
  const { asking, initFile } = await import("./init.ts");
  const { file, force } = command;
  const ask = Deno.stdin.isTerminal() ? asking((line) => prompt(line)) : () => null;
  const secret = `sk_live_${crypto.randomUUID().replaceAll("-", "")}`;
  const { text, notes } = initFile(command, env, ask, secret);
  try {
    await writePrivateFile(file, text, { createNew: !force });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    throw new UsageError(`Cannot write ${file}: it is there already; --force overwrites it`);
  }
  for (const note of notes) print(note);
  print(`Wrote ${file}, with a key in it. Start with it:\n\n  ${programCalled(env)} --config ${file}`);
}

async function importFile(
  { file }: Extract<Own, { command: "import" }>,
  { print, note }: Setup,
): Promise<void> {
  const { importLitellm } = await import("./import_litellm.ts");
  const { config, notes } = importLitellm(
    file === "-" ? await new Response(Deno.stdin.readable).text() : await Deno.readTextFile(file),
  );
  print(JSON.stringify(config, null, 2));
  for (const line of notes) note(`note: ${line}`);
}

async function connect(command: Extract<Own, { command: "connect" }>, around: Setup): Promise<void> {
  const [{ clientNamed }, { homeFolder, writeSettings }] = await Promise.all([
    import("./connect.ts"),
    import("./settings_file.ts"),
  ]);
  const client = clientNamed(command.client);
  // Before a key is created, whose secret nobody would see.
  const home = command.write ? homeFolder(around.env) : null;
  const config = await around.load(command.config);
  const { hostname, port, tls } = config.server;
  const scheme = tls === null ? "http" : "https";
  // A wildcard address to listen on cannot be called.
  const host = hostname === "0.0.0.0" || hostname === "::" ? "127.0.0.1" : hostname;
  const url = (command.url ?? `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`).replace(
    /\/+$/,
    "",
  );
  const { model, passes, facts } = await modelFor(command, config, around);
  const name = `${command.client} ${new Date().toISOString().slice(0, 19)}`;
  const secret = command.secret ?? await around.makeKey(config, name);
  const settings = client({ url, secret, model, passes, facts });
  if (home === null) return around.print(settings.text);
  let written: Written;
  try {
    written = await writeSettings(settings, home);
  } catch (error) {
    // The new key is shown only here.
    around.print(settings.text);
    throw error;
  }
  if (written.wrote) return around.print(written.message);
  around.print(settings.text);
  around.note(written.message);
  around.failed();
}

/**
 * The named model, or the first of the catalog that supports tool calls, which most clients use, and what the
 * catalog says of it. Also the API of its provider if that provider takes the callers' own credentials.
 */
async function modelFor(
  { model: named, url }: Extract<Own, { command: "connect" }>,
  config: Config,
  { env, log }: Setup,
): Promise<Pick<Connection, "model" | "passes" | "facts">> {
  const passing = new Map(
    config.providers.filter(({ passCredentials }) => passCredentials).map((
      { name, api },
    ) => [name, api.name]),
  );
  // The catalog of a gateway at another address is unknown here.
  const settled = named === AUTO || url !== undefined || config.models.some(({ id }) => id === named);
  if (named !== undefined && settled && passing.size === 0) {
    const { effectiveModels } = await import("../discovery/effective_catalog.ts");
    const known = await effectiveModels(config, { discovery: null, asked: [], now: Date.now() });
    return { model: named, facts: factsOf(known.find(({ id }) => id === named)) };
  }
  const { catalogOf } = await import("./catalog_of.ts");
  const models = await catalogOf(config, { env, log });
  const found = named === undefined
    ? models.find(({ features }) => features.has("tools")) ?? models.at(0)
    : models.find(({ id, aliases = [], shortNames }) =>
      id === named || aliases.includes(named) ||
      shortNames.some((short) =>
        short === named || short.endsWith("*") && named.startsWith(short.slice(0, -1))
      )
    );
  if (named === undefined && found === undefined) {
    throw new UsageError("Cannot connect: no model is known; name one with --model ID");
  }
  if (named !== undefined && found === undefined && !settled) {
    throw wrong("--model", models.map(({ id }) => id), named);
  }
  const route = found?.routes.find(({ provider }) => passing.has(provider));
  return {
    model: named ?? found!.id,
    passes: route && (route.api ?? passing.get(route.provider)),
    facts: factsOf(found),
  };
}

function factsOf(model: Model | undefined): ModelFacts | undefined {
  return model && {
    context: model.contextLength,
    output: model.maxCompletion,
    images: model.inputs.includes("image"),
    reasons: model.features.has("reasoning"),
  };
}
