/**
 * Loads JSONC text to a frozen, validated {@link Config}, or to a {@link ConfigError} that lists every
 * mistake.
 *
 * Pure except for {@link readSource}: the environment is passed as a function. Overrides from the environment
 * and the command line are applied before the validation, so that a wrong PORT is reported like a wrong
 * `server.port`.
 */
import { isObject } from "../exchange/json.ts";
import { MOST_WORKERS } from "../http/config.ts";
import { openReport, pathText, read, type Report } from "../schema/mistakes.ts";
import { pause } from "../timing/waits.ts";
import { within } from "../timing/within.ts";
import { linkedDatabase } from "./linked_database.ts";
import { ConfigError } from "./config_error.ts";
import { type Env, type Parsed, parseJsonc } from "./jsonc.ts";
import { doubtfulProxies } from "../outgoing/proxies.ts";
import { applyPresets } from "./presets.ts";
import { checkReferences } from "./references.ts";
import { CONFIG, type Config } from "./schema.ts";
import { rememberWritten } from "./shown.ts";

export interface Loaded {
  config: Config;
  /** For the operator: unusual values with which the gateway still runs. */
  warnings: string[];
}

/** Values of the command line. They override the file and the environment. */
export interface Flags {
  port?: number;
  hostname?: string;
  workers?: number;
  /** True: demo mode, even if the environment has credentials of providers. */
  demo?: boolean;
}

export interface LoadOptions {
  env: Env;
  flags?: Flags;
  /** Names the configuration in messages, for example `configuration sluice.jsonc`. */
  source?: string;
}

/** A configuration that was read, and its mistakes so far. */
export interface Examination {
  /** Undefined: it does not match its schema. */
  config: Config | undefined;
  /** As it was written, with the overrides of the environment and the flags. */
  value: unknown;
  /** Further mistakes may be added before {@link conclude} is called. */
  report: Report;
  /** Throws {@link ConfigError} with every mistake. */
  conclude(): Loaded;
}

/** Loads the text of a configuration. */
export function loadConfig(text: string, options: LoadOptions): Loaded {
  return examineText(text, options).conclude();
}

/** Loads a configuration that is already parsed. */
export function loadValue(value: unknown, options: LoadOptions): Loaded {
  return examineValue(value, options).conclude();
}

/** Reads JSONC. Never throws because of its content: mistakes are part of the examination. */
export function examineText(text: string, options: LoadOptions): Examination {
  return examine(parseJsonc(text, options.env, options.source ?? "configuration"), options);
}

/** Like {@link examineText}, in several steps, between which calls are served. */
export async function examineTextInSteps(text: string, options: LoadOptions): Promise<Examination> {
  const parsed = parseJsonc(text, options.env, options.source ?? "configuration");
  const examining = examined(parsed, options);
  for (;;) {
    await pause(0);
    const { done, value } = examining.next();
    if (done) return value;
  }
}

/** Like {@link examineText}, for a value that is already parsed and is not changed. */
export function examineValue(value: unknown, options: LoadOptions): Examination {
  return examine({ value: structuredClone(value), mistakes: [], warnings: [], written: new Map() }, options);
}

/**
 * The text of a configuration: `source` itself if it contains a `{`, else the file of that name.
 *
 * @param pipeMs how long the writer of a pipe is waited for; absent: without end
 */
export async function readSource(source: string, pipeMs?: number): Promise<{ name: string; text: string }> {
  if (source.includes("{")) return { name: "configuration", text: source };
  const name = `configuration ${source}`;
  const refusal = (why: string) => new ConfigError(name, [{ path: "", message: why }]);
  let bytes: Uint8Array;
  try {
    // A read in another thread would delay the start. Only a pipe may have to be waited for.
    bytes = Deno.statSync(source).isFile ? Deno.readFileSync(source) : await readPipe(source, pipeMs);
  } catch (error) {
    throw refusal(fileTrouble(error));
  }
  try {
    return { name, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    throw refusal("not UTF-8 text");
  }
}

async function readPipe(path: string, pipeMs: number | undefined): Promise<Uint8Array> {
  const reading = Deno.readFile(path);
  if (pipeMs === undefined) return await reading;
  return await within(
    pipeMs,
    reading,
    () => new Error("it is a pipe, and nothing was written to it in time"),
  );
}

function fileTrouble(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "no such file";
  if (error instanceof Deno.errors.IsADirectory) return "expected a file, got a directory";
  if (error instanceof Deno.errors.PermissionDenied) return "no permission to read the file";
  return `the file cannot be read: ${error instanceof Error ? error.message : "no reason is known"}`;
}

function examine(parsed: Parsed, options: LoadOptions): Examination {
  const examining = examined(parsed, options);
  for (;;) {
    const { done, value } = examining.next();
    if (done) return value;
  }
}

function* examined(parsed: Parsed, options: LoadOptions): Generator<void, Examination> {
  const names = overlay(parsed, options);
  applyPresets(parsed, options.env);
  const found = openReport(parsed.written);
  const config = read(CONFIG, parsed.value, found);
  yield;
  checkReferences(parsed.value, found);
  yield;
  return {
    config,
    value: parsed.value,
    report: found,
    conclude() {
      // A string whose variable is missing is already reported, so other mistakes at its path are left out.
      const first = new Set(parsed.mistakes.map(({ path }) => path));
      const mistakes = [...parsed.mistakes, ...found.mistakes.filter(({ path }) => !first.has(path))]
        .map(({ path, message }) => ({ path: names.get(path) ?? path, message }));
      if (mistakes.length > 0 || config === undefined) {
        throw new ConfigError(options.source ?? "configuration", mistakes);
      }
      // Models that do not exist have already caused a warning. They are removed here, so that the router
      // need not check again.
      const ids = new Set(config.models.map(({ id }) => id));
      const models = config.auto.models.filter((id) => ids.has(id));
      const auto = { ...config.auto, models };
      const frozen = freeze({ ...config, auto });
      rememberWritten(frozen, { value: parsed.value, texts: parsed.written });
      return { config: frozen, warnings: [...parsed.warnings, ...found.warnings] };
    },
  };
}

const MEMORY_STORE = "sqlite::memory:";

/**
 * Applies the overrides of environment and flags. Returns the name of the variable or flag for each path that
 * it set.
 */
function overlay(parsed: Parsed, { env, flags = {} }: LoadOptions): Map<string, string> {
  const names = new Map<string, string>();
  const root = parsed.value;
  if (!isObject(root)) return names;
  function set(section: string | null, field: string, value: unknown, name: string): void {
    if (value === undefined || value === "") return;
    const holder = section === null ? root : (root as Record<string, unknown>)[section] ??= {};
    if (!isObject(holder)) return;
    holder[field] = value;
    const path = pathText(section === null ? [field] : [section, field]);
    names.set(path, name);
    parsed.written.delete(path);
    parsed.mistakes = parsed.mistakes.filter((mistake) => mistake.path !== path);
  }
  /** A number that is a mistake stays one. */
  function haveOneWorker(reason: string, name: string): void {
    const workers = isObject(root) && isObject(root.server) ? root.server.workers : 1;
    if (typeof workers !== "number" || !Number.isInteger(workers)) return;
    if (workers <= 1 || workers > MOST_WORKERS) return;
    parsed.warnings.push(`server.workers: ${reason}; there is one`);
    set("server", "workers", 1, name);
  }
  for (const name of doubtfulProxies(env)) {
    parsed.warnings.push(
      `${name}: expected an address like http://proxy:3128 or socks5://proxy:1080, in whose password ^ is written as %5E and ` +
        "other signs likewise; its value (not shown) is not understood, and providers may be called without a proxy",
    );
  }
  const port = env("PORT");
  set("server", "port", port && /^\d+$/.test(port) ? Number(port) : port, "PORT");
  set("store", "url", env("SLUICE_STORE"), "SLUICE_STORE");
  if (!isObject(root.store) || root.store.url === undefined) {
    const linked = linkedDatabase(env);
    if (linked !== null) set("store", "url", linked.url, linked.name);
  }
  if (env("DENO_DEPLOY")) {
    // The disk is deleted with the instance, so a journal would not make records durable.
    if (!isObject(root.store) || root.store.journal === undefined) {
      set("store", "journal", null, "DENO_DEPLOY");
    }
    if (isObject(root.payloads) && String(root.payloads.to).startsWith("file:")) {
      parsed.warnings.push(
        "payloads.to: the files of an instance of Deno Deploy end with it; expected s3://…",
      );
    }
    haveOneWorker("Deno Deploy starts no processes for the gateway", "DENO_DEPLOY");
  }
  set(null, "admin_key", env("SLUICE_ADMIN_KEY"), "SLUICE_ADMIN_KEY");
  set("server", "port", flags.port, "--port");
  set("server", "hostname", flags.hostname, "--hostname");
  set("server", "workers", flags.workers, "--workers");
  if (isObject(root.store) && root.store.url === MEMORY_STORE) {
    haveOneWorker("processes cannot share a store in memory", "store.url");
  }
  return names;
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}
