/**
 * The components of a gateway that exist as long as its process, independent of the configuration in force:
 * the store, the accounts, counters, and what calls share. They look up the configuration in force when they
 * need it.
 */
import type { Level } from "../exchange/log_level.ts";
import { AllMetrics } from "./all_metrics.ts";
import { accountsOptions, storeOf } from "./gateway_accounts.ts";
import type { GatewayOptions } from "./gateway.ts";
import { KeptCatalog } from "./kept_catalog.ts";
import { RunningOperation } from "./operation.ts";
import { RunningAlerts } from "./running_alerts.ts";
import { type AccountsService, openAccounts } from "../accounts/mod.ts";
import type { Config } from "../config/schema.ts";
import { providerMetrics } from "../console/provider_metrics.ts";
import { snapshotFile } from "../discovery/effective_catalog.ts";
import { type EntityModel, openModel } from "../dlp/model/mod.ts";
import { openRe2 } from "../dlp/re2.ts";
import { openDocuments } from "../documents/mod.ts";
import { hmacSha256 } from "../exchange/hashes.ts";
import { openTokenCounter } from "../formats/tokens/counter.ts";
import type { ServerState } from "../http/endpoint.ts";
import { InFlight } from "../http/in_flight.ts";
import { SocketMemory } from "../http/kept_turns.ts";
import { RequestRates } from "../http/request_rates.ts";
import { Sessions } from "../http/session.ts";
import { SocketsOfKeys } from "../http/sockets_of_keys.ts";
import { WrongKeys } from "../http/wrong_keys.ts";
import type { Model } from "../models/catalog.ts";
import { proxied, readProxies } from "../outgoing/proxies.ts";
import { openSend } from "../outgoing/send.ts";
import { Metrics } from "../pipeline/metrics.ts";
import { type LateSealer, lateSealer, sealer } from "../pipeline/seal.ts";
import { Credentials } from "../providers/credentials/open_credential.ts";
import type { Resumption } from "../resume/mod.ts";
import { type Store, StoreUnavailable } from "../store/mod.ts";
import { telemetryIsOn } from "../telemetry/config.ts";
import { LoadShedder } from "../timing/load_shedder.ts";
import { Slices } from "../timing/slices.ts";
import { Ticker } from "../timing/ticker.ts";
import { pause } from "../timing/waits.ts";

/** The state that a reload or a shutdown changes. */
export interface InForce {
  config: Config;
  /** Undefined: the first configuration is still being loaded. */
  state: ServerState | undefined;
  /** True: new generations are refused. */
  stopped: boolean;
}

export interface PartsOptions extends GatewayOptions {
  /** The catalog of the configuration in force, with the models that the providers currently list. */
  asked(): Promise<readonly Model[]>;
}

export type Parts = Awaited<ReturnType<typeof openParts>>;

/** Rejects if the store cannot be used. Components that were opened before stay open. */
export async function openParts(inForce: InForce, options: PartsOptions) {
  const { log, now } = options;
  const worker = options.worker?.which ?? null;
  const ticker = new Ticker(options.clock, { lingers: true });
  const wrongKeys = new WrongKeys(ticker, ({ address, result, untold }) =>
    accounts.audit({
      kind: "admin",
      key: null,
      data: { by: null, action: "credential.refused", from: address, untold, result },
    }));
  const metrics = new Metrics();
  const store = storeOf(inForce.config, { log, held: (ms) => metrics.held("store", ms) });
  const served = new KeptCatalog(options.discovers === true ? snapshotFile(store) : null, { worker, now });
  const operation: RunningOperation = openOperation(inForce, options, { served, accounts: () => accounts });
  const accounts: AccountsService = await openAccounts({
    ...await accountsOptions(inForce.config, store, {
      ...options,
      spent: (model, dollars) => metrics.spent(model, dollars),
    }),
    warned: (warnings) => warnings.forEach(({ scope, share }) => metrics.budgetWarned(scope, share)),
    deliveryEnded: (outcome) => metrics.webhookEnded(outcome),
    about: () => operation.about(),
    breakersClosed: (closed) =>
      closed.forEach((of) => inForce.state?.kit.providers.states.closeBreakers(of, ticker.now())),
  });
  const allMetrics = new AllMetrics(metrics.registry, worker);
  const sealer = await openSealer(inForce.config, store, log);
  const proxies = options.env && readProxies(options.env);
  const parts = {
    ticker,
    inFlight: new InFlight(),
    shedder: new LoadShedder(),
    wrongKeys,
    socketMemory: new SocketMemory({ most: 0, longestMessage: 0 }),
    socketsOfKeys: new SocketsOfKeys(),
    requestRates: new RequestRates(options.clock ?? performance),
    metrics,
    allMetrics,
    slices: new Slices({ held: (cause, ms) => metrics.held(cause, ms) }),
    store,
    served,
    operation,
    accounts,
    sessions: new Sessions({
      key: (purpose) => accounts.derivedKey(purpose),
      now,
      ended: accounts.endedSessions,
    }),
    sealer,
    re2: openRe2(),
    documents: openDocuments(),
    entityModels: new EntityModels(),
    tokens: openTokenCounter(),
    credentials: new Credentials({
      env: options.env ?? (() => undefined),
      readText: Deno.readTextFile,
      now,
      clock: options.clock,
      sleep: options.sleep ?? pause,
      log,
    }),
    tracing: await openTracing(options, metrics, (url) => proxies !== undefined && proxied(url, proxies)),
    send: openSend({ proxies, caCerts: options.caCerts }),
    resumption: laterResumption(inForce, options, { store, accounts, metrics }),
    alerts: new RunningAlerts({
      ...options,
      accounts,
      store,
      collect: () => metrics.registry.collect(),
      collectMachine: async () => (await allMetrics.all()).map((of) => of.metrics),
      first: (worker ?? 1) === 1,
    }),
  };
  observe(inForce, parts, options.version ?? "");
  return parts;
}

/** Closes them. Resolves with whether the telemetry collector answered until the end; true if none is configured. */
export async function closeParts(parts: Parts): Promise<boolean> {
  await parts.resumption.close();
  const written = parts.served.close();
  parts.ticker.close();
  parts.re2.close();
  parts.documents.close();
  parts.entityModels.close();
  parts.tokens.close();
  parts.sealer.close();
  await parts.accounts.close();
  await written;
  return await parts.tracing?.telemetry.close() ?? true;
}

function openOperation(
  inForce: InForce,
  { now, worker, warnings = [], asked }: PartsOptions,
  { served, accounts }: { served: KeptCatalog; accounts: () => AccountsService },
): RunningOperation {
  return new RunningOperation({
    now,
    worker: worker?.which ?? null,
    warnings,
    running: () => inForce.config,
    catalog: () => inForce.state!.kit.catalog.models,
    asked,
    accounts,
    keepChanges: (changes) => served.saveChanges(changes),
  });
}

/**
 * Encrypts with a secret from the store, which is the same on every node and after a restart. While the store
 * is unavailable, a secret of this process is used.
 */
async function openSealer(
  config: Config,
  store: Store,
  log: (line: string, level: Level) => void,
): Promise<LateSealer> {
  const made = () => crypto.randomUUID() + crypto.randomUUID();
  const keyOf = (secret: string) => hmacSha256(secret, "seal");
  const shared = async () => keyOf(config.store.pepper ?? await store.shared("seal", made));
  try {
    return { ...sealer(await shared()), close() {} };
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    log(
      "the store is unavailable: until it is back, reasoning sealed by other nodes or before cannot be read",
      "warn",
    );
    return lateSealer(keyOf(made()), shared);
  }
}

/**
 * The models for entity recognition, by path. A reload closes none, since running calls use the one of their
 * configuration. An idle model ends its worker.
 */
class EntityModels {
  readonly #models = new Map<string, EntityModel>();

  /** @param path undefined: no model */
  open(path: string | undefined): EntityModel | null {
    if (path === undefined) return null;
    let model = this.#models.get(path);
    if (model === undefined) this.#models.set(path, model = openModel(path));
    return model;
  }

  close(): void {
    for (const model of this.#models.values()) model.close();
  }
}

/** Null: tracing is off. The module is imported only if it is on, since it needs a package. */
async function openTracing(options: GatewayOptions, metrics: Metrics, proxied: (url: string) => boolean) {
  const { env, now, log, version = "" } = options;
  if (env === undefined || !telemetryIsOn(env)) return null;
  const { openTelemetry, withinNoTrace } = await import("../telemetry/mod.ts");
  const telemetry = openTelemetry({
    env,
    version,
    now,
    random: Math.random,
    log,
    lost: (kind, count) => metrics.telemetryLost(kind, count),
    proxied,
  });
  return { telemetry, withinNoTrace };
}

/** Buffered streams that callers can resume; the module is imported with the first call that asks for one. */
function laterResumption(
  inForce: InForce,
  { now, log, storeWaitMs }: GatewayOptions,
  { store, accounts, metrics }: { store: Store; accounts: AccountsService; metrics: Metrics },
) {
  let loading: Promise<Resumption> | undefined;
  let loaded: Resumption | undefined;
  return {
    open: () =>
      loading ??= import("../resume/mod.ts").then(({ Resumption }) =>
        loaded = new Resumption({
          store,
          node: accounts.node,
          secret: () => accounts.keyFor("streams"),
          storeUp: () => accounts.storeUp(),
          stopping: () => inForce.stopped,
          now,
          log,
          lost: () => metrics.keptStream("lost"),
          held: (ms) => metrics.held("resume", ms),
          patienceMs: storeWaitMs,
        })
      ),
    keptChars: () => loaded?.keptChars ?? 0,
    close: async () => await (await loading)?.close(),
  };
}

/** Adds gauges of the components to the metrics. */
function observe(inForce: InForce, parts: Omit<Parts, "sealer">, version: string): void {
  const { metrics, inFlight, shedder, accounts, ticker, resumption, operation } = parts;
  const buildInfo = [{ labels: [version], value: 1 }];
  const startTimeSeconds = Date.parse(operation.about().started) / 1000;
  metrics.registry.observe(() => ({
    buildInfo,
    startTimeSeconds,
    configReloaded: operation.about().reload?.ok === false ? 0 : 1,
    inFlight: inFlight.count,
    waiting: shedder.waiting,
    inFlightBodyBytes: inFlight.bytes,
    storeUp: accounts.storeUp() ? 1 : 0,
    recordsPending: accounts.pendingCount(),
    journalDamagedLines: accounts.damagedLines(),
    residentBytes: Deno.memoryUsage().rss,
    lagSeconds: ticker.lag / 1000,
    deadlines: ticker.watched,
    payloadQueueBytes: inForce.state?.kit.payloads?.log.bytes() ?? 0,
    keptChars: resumption.keptChars(),
    ...providerMetrics(inForce.state?.kit.providers.health() ?? []),
  }));
}
