/**
 * The program: parses its arguments, reads the environment, builds the gateway and serves. The only file that
 * reads the environment, prints, or listens for signals.
 */
import "./start_modules.ts";
import { assemble } from "./assemble.ts";
import type { Gateway } from "./assembly/gateway.ts";
import { parseCommand } from "./commands/parse.ts";
import { checked } from "./config/check.ts";
import { examineDemo, foundProviders } from "./config/demo.ts";
import { examineText, examineTextInSteps, type Flags, type Loaded, readSource } from "./config/load.ts";
import { MISTAKE, runCommand } from "./run_command.ts";
import { Failure } from "./exchange/failure.ts";
import { loadNodeCrypto } from "./exchange/hashes.ts";
import { printable } from "./exchange/printable.ts";
import { connectionBound } from "./transport/connection_bound.ts";
import { openServer, type Server, serveTls, type TlsServer } from "./transport/server.ts";
import { askThrough } from "./outgoing/ask.ts";
import { readProxies } from "./outgoing/proxies.ts";
import { readCertificate } from "./config/certificate.ts";
import { type Level, Log, writeTo } from "./log.ts";
import { HUB, parentEnded, SAME_SIGNAL_MS, supervise, WORKER, workerOf } from "./supervise.ts";
import { telemetryIsOn } from "./telemetry/config.ts";
import { failStreams } from "./http/answer_stream.ts";
import { oneByOne } from "./timing/turns.ts";
import { pause } from "./timing/waits.ts";
import manifest from "../deno.json" with { type: "json" };

/** Reads an environment variable. One that the process is not permitted to read counts as not set. */
function env(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}

/** The log of a serving process. Commands write their lines with `console.error`. */
let running: Log | null = null;
/** With telemetry, and on Deno Deploy, text lines are taken from `console.error`. The least level of such lines. */
let exported: Level | null = null;
function log(line: string, level: Level = "info"): void {
  if (running !== null && exported === null) return running.event(line, level);
  if (exported === "warn" && level === "info") return;
  try {
    console.error(`${new Date().toISOString()} ${printable(line)}`);
  } catch {
    // The reader of the log has closed it; the gateway continues.
  }
}

export async function main(): Promise<void> {
  askThrough({ proxies: readProxies(env) });
  try {
    await runCommand(parseCommand(Deno.args), {
      env,
      log,
      load,
      serve: telemetryIsOn(env) ? serveQuietly : serve,
    });
  } catch (error) {
    await running?.flush();
    const { isOperatorError, readableMessage } = await import("./commands/system_error.ts");
    if (!isOperatorError(error)) throw error;
    console.error(readableMessage(error));
    await exit(MISTAKE);
  }
  if (telemetryIsOn(env)) await exit(Deno.exitCode);
}

/**
 * Ends the process, within some seconds also if a telemetry collector does not answer.
 * @param collectorAnswers false: it is known not to
 */
async function exit(status: number, collectorAnswers = true): Promise<void> {
  if (telemetryIsOn(env)) (await import("./telemetry/exit.ts")).boundExit(collectorAnswers);
  Deno.exit(status);
}

/** The configuration that the argument or the environment names; null: that of demo mode. */
function sourceOf(named: string | undefined, flags: Flags): string | null {
  return named ?? ((!flags.demo && env("SLUICE_CONFIG")) || null);
}

/** Loads the configuration that the argument or the environment names, else that of demo mode. */
async function load(
  named: string | undefined,
  flags: Flags,
  { listens = true, env: lookUp = env, pipeMs }: { listens?: boolean; env?: typeof env; pipeMs?: number } =
    {},
): Promise<Loaded> {
  const source = sourceOf(named, flags);
  if (source === null) return await checked(examineDemo({ env: lookUp, flags }), { listens });
  const { name, text } = await readSource(source, pipeMs);
  const options = { env: lookUp, flags, source: name };
  // While the gateway serves, calls must not wait for the whole file.
  const examination = pipeMs === undefined
    ? examineText(text, options)
    : await examineTextInSteps(text, options);
  return await checked(examination, { listens });
}

/** Whether the host passes requests to `Deno.serve` at an address that it chooses. */
const isHosted = () => Boolean(env("DENO_DEPLOY") || env("DENO_SERVE_ADDRESS"));

/** Deno Deploy kills a process five seconds after the signal. The rest is for ending streams and returning leases. */
const DEPLOY_GRACE_MS = 3500;

/** Delay of loading modules for later calls, in milliseconds: the first calls after the start have priority. */
const FIRST_CALLS_MS = 250;

/** Time in milliseconds for sending the final error events of interrupted streams. */
const FINAL_EVENTS_MS = 500;
const STOPPED = "Server error, premature end: the service was stopped before the answer was complete";

/** Serves without Deno's own tracing, which would include the URLs of other requests; some contain secrets. */
async function serveQuietly(source: string | undefined, flags: Flags): Promise<void> {
  const { withinNoTrace } = await import("./telemetry/mod.ts");
  await withinNoTrace(() => serve(source, flags));
}

async function serve(source: string | undefined, flags: Flags): Promise<void> {
  const demo = sourceOf(source, flags) === null;
  // Without a listener the signal would end the process.
  let reloads: (() => void) | null = null;
  let reloadAsked = false;
  Deno.addSignalListener("SIGHUP", () => reloads === null ? reloadAsked = true : reloads());
  const { config, warnings } = await load(source, flags);
  const worker = workerOf(env(WORKER));
  const logs = openLogs(config, worker);
  if (worker === null && config.server.workers > 1) return await serveByWorkers(source, flags, config);
  // The configuration is the same for all workers: one of them logs its warnings.
  const speaks = worker === null || worker.which === 1;
  const warn = (found: readonly string[]) => {
    if (speaks) { for (const warning of found) log(`warning: ${warning}`, "warn"); }
  };
  warn(warnings);
  const gateway = await assemble(config, {
    now: Date.now,
    log,
    ...(logs && { recorded: (record, trace) => logs.generation(record, trace) }),
    env,
    version: manifest.version,
    worker: worker ?? undefined,
    discovers: true,
    warnings,
  });
  await joinSiblings(gateway, worker);
  const { server, secure, base } = await listen(gateway, config, worker);
  Deno.unrefTimer(setTimeout(loadNodeCrypto, FIRST_CALLS_MS));
  // After listening has succeeded: if the port is in use, a new key would never be shown.
  if (demo && speaks) await welcome(gateway, { base, flags, administered: config.adminKey !== null });
  reloads = oneByOne(() => reload(source, flags, { gateway, secure, started: config, warn }));
  if (reloadAsked) reloads();
  await endRequested(worker);
  await drain(gateway, server, config.server.shutdownGraceMs);
  const { collectorAnswers } = await gateway.close();
  await running?.flush();
  await exit(0, collectorAnswers);
}

type Config = Loaded["config"];
type Worker = ReturnType<typeof workerOf>;

/**
 * Configures the logs. Returns the log for generations; null: generations are not logged.
 *
 * Lines are written by a {@link Log}: `console.error` would stop the process while nobody reads its output.
 */
function openLogs(config: Config, worker: Worker): Log | null {
  const { logs: form, logLevel: level } = config;
  if (form === "text" && (telemetryIsOn(env) || isHosted())) exported = level;
  const write = writeTo(form === "json" ? Deno.stdout : Deno.stderr);
  running = new Log({ form, level, now: Date.now, worker: worker?.which, write });
  return config.logGenerations ?? form === "json" ? running : null;
}

/** Programs that print the credentials of this configuration. */
async function namedPrograms(config: Config): Promise<string[]> {
  const { providers, payloads } = config;
  const mayNameOne = ({ auth }: Config["providers"][number]) => auth.type === "aws" || auth.type === "google";
  if (payloads?.to.kind !== "s3" && !providers.some(mayNameOne)) return [];
  return (await import("./providers/credentials/named_in_files.ts")).namedFor(config, env).programs;
}

/** Starts worker processes that share the port, until a signal ends them and this process. */
async function serveByWorkers(source: string | undefined, flags: Flags, config: Config): Promise<void> {
  const { hostname, port, workers, shutdownGraceMs } = config.server;
  // Workers share their port with each other, and would also share it with workers of another program.
  await listening({ hostname, port }, () => Deno.listen({ hostname, port }).close());
  const resource = telemetryIsOn(env) ? env("OTEL_RESOURCE_ATTRIBUTES") ?? "" : null;
  const text = { form: "text", level: config.logLevel, now: Date.now, write: writeTo(Deno.stderr) } as const;
  const errors = config.logs === "text" ? running! : new Log(text);
  const { status, killed } = await supervise({
    source,
    flags,
    count: workers,
    graceMs: shutdownGraceMs,
    permissions: env("SLUICE_PERMISSIONS"),
    programs: await namedPrograms(config),
    resource,
    main: import.meta.url,
    log,
    // Without waiting for the reader: this process has to replace workers and to follow signals.
    print: (line) => config.logs === "json" ? running!.formed(line) : console.log(line),
    printError: (line) => errors.formed(line),
  });
  await Promise.all([running?.flush(), errors.flush()]);
  // A worker whose telemetry collector does not answer has killed itself.
  await exit(status, !killed);
}

/** Connects this worker to the others, to return the metrics of all and to report changes to all. */
async function joinSiblings(gateway: Gateway, worker: Worker): Promise<void> {
  const hub = worker && env(HUB);
  if (!hub) return;
  const { joinHub } = await import("./assembly/siblings.ts");
  const { accounts, metrics } = gateway;
  const siblings = await joinHub(
    hub,
    worker.which,
    (about) => about === "metrics" ? metrics.own() : accounts.takeChanges().then(() => true),
  );
  metrics.answerFor(() => siblings.ask("metrics"));
  accounts.onOwnChange(() => siblings.ask("changes"));
}

/** Listens for connections, and prints the address. */
async function listen(gateway: Gateway, config: Config, worker: Worker) {
  const { hostname, tls, headerMs, idleMs, maxInFlight } = config.server;
  const bound = connectionBound(config.server.maxConnections, worker?.of ?? 1, log);
  const served = {
    hostname,
    port: worker?.port ?? config.server.port,
    reusePort: worker !== null,
    byHost: isHosted(),
    maxConnections: bound,
    headerMs,
    idleMs,
    handle: gateway.handle,
    log,
  };
  const certificate = tls && await readCertificate(tls);
  const secure = certificate && await listening(served, () => serveTls(served, certificate));
  const server = secure?.server ?? await listening(served, () => openServer(served));
  gateway.observe(server);
  const host = server.addr.hostname.includes(":") ? `[${server.addr.hostname}]` : server.addr.hostname;
  const base = `${secure ? "https" : "http"}://${host}:${server.addr.port}`;
  console.log(`sluice listening on ${base}`);
  const opened = () => Object.values(server.connections).reduce((sum, count) => sum + count, 0);
  // At once: until the limit is known, a crowd of connections could use up all files.
  void bound.find(opened).then(async () => {
    gateway.mayOpen(bound.files);
    if (bound.files !== null && !bound.leavesFiles(maxInFlight)) await loadLazyModules(bound.files);
    // It was used to read the limit of open files. Only a supervisor, and programs that print credentials, need it.
    if ((await namedPrograms(config)).length === 0) void Deno.permissions.revoke({ name: "run" });
  });
  return { server, secure, base };
}

/** Prints how to call a gateway in demo mode, with a key that is created at the first start. */
async function welcome(
  gateway: Gateway,
  { base, flags, administered }: { base: string; flags: Flags; administered: boolean },
): Promise<void> {
  const [{ welcomeText }, { programCalled }] = await Promise.all([
    import("./commands/welcome.ts"),
    import("./commands/program_called.ts"),
  ]);
  console.log(welcomeText({
    base,
    secret: await firstKey(gateway),
    found: flags.demo ? [] : foundProviders(env),
    models: gateway.models(),
    administered,
    program: programCalled(env),
  }));
}

/** Resolves when a signal ends the process, or when its parent process has ended. */
async function endRequested(worker: Worker): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) Deno.addSignalListener(signal, () => resolve());
    if (worker !== null) void parentEnded().then(resolve);
  });
}

/**
 * Refuses new calls and waits for those in progress, until the grace period ends or a second signal arrives.
 * Remaining streams end with the format's error event. While calls are in progress, `/readyz` and new calls
 * are answered with 503.
 */
async function drain(gateway: Gateway, server: Server, shutdownGraceMs: number): Promise<void> {
  gateway.stop();
  server.drain();
  log("stopping: running generations may finish first");
  const graceMs = env("DENO_DEPLOY") ? Math.min(shutdownGraceMs, DEPLOY_GRACE_MS) : shutdownGraceMs;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const grace = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, graceMs);
  });
  const finished = gateway.idle().then(() => server.shutdown()).then(() => true);
  const all = await Promise.race([finished, grace, askedAgain()]);
  clearTimeout(timer);
  if (all) return;
  failStreams(new Failure("service_unavailable", STOPPED));
  // Time for sending the error events. Calls without a stream get none.
  await Promise.race([server.shutdown(), pause(FINAL_EVENTS_MS)]);
}

/** Adds the address and the reason to an error of listening. */
async function listening<T>(
  { hostname, port }: { hostname: string; port: number },
  listen: () => T | Promise<T>,
): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    const { AddrInUse, PermissionDenied } = Deno.errors;
    const inUse = error instanceof AddrInUse;
    if (!inUse && !(error instanceof PermissionDenied)) throw error;
    const host = hostname.includes(":") ? `[${hostname}]` : hostname;
    const why = inUse ? "is in use" : "may not be taken by this user, as ports below 1024 are mostly root's";
    throw new (inUse ? AddrInUse : PermissionDenied)(
      `Cannot listen: ${host}:${port} ${why}; --port N, PORT or server.port takes another port`,
    );
  }
}

/** Resolves at a second signal. */
function askedAgain(): Promise<void> {
  const began = performance.now();
  return new Promise((resolve) => {
    Deno.addSignalListener("SIGINT", () => {
      if (performance.now() - began < SAME_SIGNAL_MS) return;
      log("stopping now: running generations are recorded as interrupted");
      resolve();
    });
  });
}

async function reload(
  source: string | undefined,
  flags: Flags,
  { gateway, secure, started, warn }: {
    gateway: Gateway;
    secure: TlsServer | null;
    started: Config;
    warn(warnings: readonly string[]): void;
  },
): Promise<void> {
  try {
    const { config, warnings: found } = await load(source, flags, { pipeMs: 10_000 });
    const { unappliedChanges } = await import("./config/at_start.ts");
    const warnings = [...found, ...unappliedChanges(started, config)];
    warn(warnings);
    const { tls } = config.server;
    const certificate = secure && tls && await readCertificate(tls);
    await gateway.reload(config, warnings);
    log("configuration reloaded");
    try {
      if (certificate) secure.renew(certificate);
    } catch {
      // The files were valid when the configuration was checked, and have been replaced since.
      log(
        "server.tls: the certificate and the key do not match; the previous certificate stays in use",
        "warn",
      );
    }
  } catch (error) {
    gateway.notReloaded(error);
    const why = error instanceof Error ? error.message.replace(/\n\s*/g, "; ") : error;
    log(`configuration not reloaded, the running configuration stays in use: ${why}`, "warn");
  }
}

async function loadLazyModules(files: number): Promise<void> {
  try {
    const { importLazyModules } = await import("./lazy_modules.ts");
    await importLazyModules();
    log(`the process may open only ${files} files: all modules are loaded now instead of on first use`);
  } catch (error) {
    log(
      `warning: cannot load all modules: ${error instanceof Error ? error.message : error}`,
      "warn",
    );
  }
}

/** The secret of a key that is created for demo mode; null: a key exists. */
async function firstKey(gateway: Gateway): Promise<string | null> {
  if ((await gateway.accounts.listKeys({ limit: 1 })).data.length > 0) return null;
  const { secret } = await gateway.accounts.createKey({ name: "demo" });
  return secret;
}

if (import.meta.main) await main();
