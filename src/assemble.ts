/**
 * The parts that a configuration makes, put together into one gateway: a function from Request to Response, with a way
 * to reload it and a way to end it. Nothing here reads the environment, binds a port or listens to signals.
 */
import manifest from "../deno.json" with { type: "json" };
import { type AccountsService, openAccounts } from "./accounts/mod.ts";
import { AllMetrics } from "./assembly/all_metrics.ts";
import { autoRouter } from "./assembly/auto_router.ts";
import type { Gateway, GatewayOptions } from "./assembly/gateway.ts";
import { accountsConfig, accountsOptions, storeOf } from "./assembly/gateway_accounts.ts";
import { providerMetrics } from "./console/provider_metrics.ts";
import type { Config } from "./config/schema.ts";
import { LoadShedder } from "./timing/load_shedder.ts";
import { API } from "./http/api.ts";
import type { ServerState } from "./http/endpoint.ts";
import { EndpointTable } from "./http/endpoint_table.ts";
import { handler } from "./http/handler.ts";
import { HEALTH } from "./http/health.ts";
import { InFlight } from "./http/in_flight.ts";
import { SocketMemory } from "./http/kept_turns.ts";
import { SocketsOfKeys } from "./http/sockets_of_keys.ts";
import { RequestRates } from "./http/request_rates.ts";
import { Sessions } from "./http/session.ts";
import { WrongKeys } from "./http/wrong_keys.ts";
import { openCatalog } from "./models/catalog.ts";
import { collectNow, collectWhenIdle } from "./memory.ts";
import { openTokenCounter } from "./formats/token_counter.ts";
import { type EntityModel, openModel } from "./dlp/model/mod.ts";
import { openRe2 } from "./dlp/re2.ts";
import { openDocuments } from "./documents/mod.ts";
import { loadScreening } from "./pipeline/guard.ts";
import { ownSecrets } from "./pipeline/own_secrets.ts";
import type { Kit } from "./pipeline/kit.ts";
import { Metrics } from "./pipeline/metrics.ts";
import { openSealer } from "./assembly/open_sealer.ts";
import { Credentials } from "./providers/credentials/open_credential.ts";
import { loadFormats, openProviders, type Providers } from "./providers/mod.ts";
import { KeptCatalog } from "./assembly/kept_catalog.ts";
import { RunningOperation } from "./assembly/operation.ts";
import { RunningAlerts } from "./assembly/running_alerts.ts";
import type { Resumption } from "./resume/mod.ts";
import { proxied, readProxies } from "./outgoing/proxies.ts";
import { openSend } from "./outgoing/send.ts";
import { printable } from "./exchange/printable.ts";
import { Discovery } from "./discovery/discovery.ts";
import { askedOf, effectiveModels, listsFile, snapshotFile } from "./discovery/effective_catalog.ts";
import { telemetryIsOn } from "./telemetry/config.ts";
import type { OpenPayloads } from "./payloads/mod.ts";
import { Slices } from "./timing/slices.ts";
import { Ticker } from "./timing/ticker.ts";
import { Turns } from "./timing/turns.ts";
import { pause } from "./timing/waits.ts";
import { openWebSearch } from "./websearch/mod.ts";

/** Every endpoint of the gateway: the one table for dispatch, metrics and the API's document. */
export const ENDPOINTS = new EndpointTable([...API, ...HEALTH], async () => {
  const [{ CONSOLE }, { MANUAL }] = await Promise.all([
    import("./console/mod.ts"),
    import("./manual/mod.ts"),
  ]);
  return [...CONSOLE, ...MANUAL];
});

export async function assemble(config: Config, given: GatewayOptions): Promise<Gateway> {
  // What providers and callers say may be in any line.
  const options = {
    ...given,
    log: (line: string, level?: "info" | "warn") => given.log(printable(line), level),
  };
  const ticker = new Ticker(options.clock, { lingers: true });
  const inFlight = new InFlight();
  const shedder = new LoadShedder();
  const wrongKeys = new WrongKeys(ticker, ({ address, result, untold }) =>
    accounts.audit({
      kind: "admin",
      key: null,
      data: { by: null, action: "credential.refused", from: address, untold, result },
    }));
  const socketMemory = new SocketMemory({ most: 0, longestMessage: 0 });
  const socketsOfKeys = new SocketsOfKeys();
  const requestRates = new RequestRates(options.clock ?? performance);
  const metrics = new Metrics();
  const slices = new Slices({ held: (cause, ms) => metrics.held(cause, ms) });
  const store = storeOf(config, { log: options.log, held: (ms) => metrics.held("store", ms) });
  const served = new KeptCatalog(options.discovers === true ? snapshotFile(store) : null, {
    worker: options.worker?.which ?? null,
    now: options.now,
  });
  let providers: Providers | undefined;
  let running = config;
  let state: ServerState | undefined;
  const operation: RunningOperation = new RunningOperation({
    now: options.now,
    worker: options.worker?.which ?? null,
    warnings: options.warnings ?? [],
    running: () => running,
    catalog: () => state!.kit.catalog.models,
    async asked() {
      const { catalogOf } = await import("./commands/catalog_of.ts");
      return await catalogOf(running, { env: options.env ?? (() => undefined), log: () => {} });
    },
    accounts: () => accounts,
    keepChanges: (changes) => served.saveChanges(changes),
  });
  const accounts: AccountsService = await openAccounts({
    ...await accountsOptions(config, store, {
      ...options,
      spent: (model, dollars) => metrics.spent(model, dollars),
    }),
    warned: (warnings) => warnings.forEach(({ scope, share }) => metrics.budgetWarned(scope, share)),
    told: (outcome) => metrics.webhookTold(outcome),
    about: () => operation.about(),
    breakersClosed: (closed) => closed.forEach((of) => providers?.states.closeBreakers(of, ticker.now())),
  });
  const sessions = new Sessions({
    key: (purpose) => accounts.derivedKey(purpose),
    now: options.now,
    ended: accounts.endedSessions,
  });
  const seal = await openSealer(config, store, options.log);
  const re2 = openRe2();
  const documents = openDocuments();
  let model: { path: string; opened: EntityModel } | null = null;
  /** The model stays loaded over a reload that leaves it where it is. */
  const modelAt = (path: string | undefined): EntityModel | null => {
    if (model?.path !== path) {
      model?.opened.close();
      model = path === undefined ? null : { path, opened: openModel(path) };
    }
    return model?.opened ?? null;
  };
  const tokens = openTokenCounter();
  const credentials = new Credentials({
    env: options.env ?? (() => undefined),
    readText: Deno.readTextFile,
    now: options.now,
    sleep: options.sleep ?? pause,
    log: options.log,
  });
  const proxies = options.env && readProxies(options.env);
  // Few gateways have it on, and it brings a package along.
  const tracing = options.env && telemetryIsOn(options.env) ? await import("./telemetry/mod.ts") : null;
  const telemetry = tracing?.openTelemetry({
    env: options.env!,
    version: options.version ?? "",
    now: options.now,
    random: Math.random,
    log: options.log,
    lost: (kind, count) => metrics.telemetryLost(kind, count),
    proxied: (url) => proxies !== undefined && proxied(url, proxies),
  });
  const send = openSend({ proxies, caCerts: options.caCerts });
  let stopped = false;

  const { worker } = options;
  const turns = new Turns();
  const share = (limit: number) => Math.max(1, Math.floor(limit / (worker?.of ?? 1)));
  let resumption: Promise<Resumption> | undefined;
  let kept: Resumption | undefined;
  /** Loaded with the first call that asks for it. */
  const openResumption = () =>
    resumption ??= import("./resume/mod.ts").then(({ Resumption }) =>
      kept = new Resumption({
        store,
        node: accounts.node,
        secret: () => accounts.keyFor("streams"),
        storeUp: () => accounts.storeUp(),
        stopping: () => stopped,
        now: options.now,
        log: options.log,
        lost: () => metrics.keptStream("lost"),
        held: (ms) => metrics.held("resume", ms),
      })
    );
  const allMetrics = new AllMetrics(metrics.registry, worker?.which ?? null);
  metrics.registry.observe(() => ({
    inFlight: inFlight.count,
    waiting: shedder.waiting,
    inFlightBodyBytes: inFlight.bytes,
    storeUp: accounts.storeUp() ? 1 : 0,
    recordsPending: accounts.pendingCount(),
    journalDamagedLines: accounts.damagedLines(),
    residentBytes: Deno.memoryUsage().rss,
    lagSeconds: ticker.lag / 1000,
    deadlines: ticker.watched,
    payloadQueueBytes: state?.kit.payloads?.log.bytes() ?? 0,
    keptChars: kept?.keptChars ?? 0,
    ...providerMetrics(providers?.health() ?? []),
  }));
  const discovery = options.discovers === true
    ? new Discovery({
      file: listsFile(store),
      follower: worker?.which ?? 1,
      now: options.now,
      log: options.log,
      changed: () => void turns.run(refresh),
    })
    : null;
  /** What providers list, as far as it is known. */
  const follow = async (config: Config) =>
    await discovery?.follow(await askedOf(config, credentials), config.catalog.discoverHours * 3_600_000);
  const stateOf = async (config: Config): Promise<ServerState> => {
    const asked = discovery === null ? [] : await askedOf(config, credentials);
    const catalog = openCatalog(
      await effectiveModels(config, { discovery, asked, now: options.now() }),
      config.auto.models,
      Math.floor(options.now() / 1000),
      options.now,
    );
    const auto = await autoRouter(config, catalog);
    const opened = await credentials.open(config.providers);
    const current = openProviders(
      config.providers.map(({ auth: _, ...provider }, i) => ({
        ...provider,
        credential: opened[i],
        maxConcurrent: provider.maxConcurrent && share(provider.maxConcurrent),
      })),
      {
        ticker,
        routes: config.models.flatMap((m) => m.routes),
        discovered: catalog.models.flatMap((m) => m.routes),
        previous: providers,
        makeRoom: (provider) => inFlight.makeRoom(provider),
        log: options.log,
        send,
        sleep: options.sleep,
      },
    );
    await loadFormats(current, catalog.models.flatMap((m) => m.routes));
    if (Object.keys(config.dlpPolicies).length > 0) await loadScreening();
    const payloads = await openLog(config);
    const kit: Kit = {
      accounts,
      catalog,
      auto,
      autoModels: config.auto.models,
      providers: current,
      websearch: openWebSearch(config.search, {
        ...options,
        ...(tracing && { quietly: tracing.withinNoTrace }),
      }),
      dlp: {
        dlp: config.dlp,
        dlpPolicies: config.dlpPolicies,
        re2,
        documents,
        model: modelAt(config.dlp.model),
        secrets: ownSecrets(config, opened, options.env ?? (() => undefined)),
      },
      sealer: seal,
      payloads: payloads &&
        (await import("./pipeline/payloads.ts")).keepingPayloads(payloads, config.dlpPolicies),
      limits: config.server,
      metrics,
      slices,
      tokens,
      telemetry: telemetry?.following(config.telemetry) ?? null,
      ticker,
      now: options.now,
      log: options.log,
    };
    socketMemory.bound({
      most: share(config.server.maxInFlightBytes),
      longestMessage: config.server.maxBodyBytes,
    });
    return {
      kit,
      administration: accounts,
      ...config.server,
      maxInFlight: share(config.server.maxInFlight),
      maxInFlightBytes: share(config.server.maxInFlightBytes),
      adminKey: config.adminKey,
      oidc: config.oidc,
      program: manifest,
      current: () => state!,
      endpoints: () => ENDPOINTS.all(),
      allMetrics: () => allMetrics.all(),
      ready: () => !stopped && accounts.refusal() === null,
      hasStore: () => store.kind !== "sqlite" || accounts.storeUp(),
      inFlight,
      shedder,
      sessions,
      wrongKeys,
      requestRates,
      socketMemory,
      socketsOfKeys,
      maxSocketsPerKey: config.server.maxSocketsPerKey === null
        ? null
        : share(config.server.maxSocketsPerKey),
      operation,
      accessPolicies: config.accessPolicies,
      resumption: openResumption,
    };
  };

  /** One log for each way to keep payloads: a reload that changes nothing about it leaves it open. */
  async function openLog({ payloads: section }: Config): Promise<OpenPayloads | null> {
    if (section === null) return null;
    const open = state?.kit.payloads?.log;
    if (open && JSON.stringify(open.config) === JSON.stringify(section)) return open;
    const { payloadLog } = await import("./assembly/payload_log.ts");
    return payloadLog(section, {
      ...options,
      store,
      ended: (outcome) => metrics.payloadEnded(outcome),
      held: (ms) => metrics.held("payload log", ms),
      sweeps: (worker?.which ?? 1) === 1,
    });
  }
  function become(made: ServerState): void {
    const before = state?.kit.payloads?.log;
    if (before && before !== made.kit.payloads?.log) void before.close();
    if (state !== undefined) operation.catalogChanged(state.kit.catalog.models, made.kit.catalog.models);
    state = made;
    providers = made.kit.providers;
    providers.states.takeOver();
    served.save(made.kit.catalog.models);
  }
  async function refresh(): Promise<void> {
    if (stopped || state === undefined) return;
    const before = state.kit.catalog.models.length;
    become(await stateOf(running));
    const { length } = state.kit.catalog.models;
    options.log(`the providers' models have changed: ${length} in the catalog, ${before} before`);
  }
  const alerts = new RunningAlerts({
    ...options,
    accounts,
    store,
    collect: () => metrics.registry.collect(),
    first: (worker?.which ?? 1) === 1,
  });
  // One after the other, so that the last one stays.
  await turns.run(async () => {
    await follow(config);
    // Before the first one is kept in its place.
    const before = await served.before();
    become(await stateOf(config));
    operation.catalogResumed(before);
    await alerts.follow(config);
    // Of merging lists much is left behind, and nobody is waiting yet.
    if (state!.kit.catalog.models !== config.models) collectNow();
  });
  const memory = collectWhenIdle({ load: () => ({ entered: inFlight.entered, running: inFlight.count }) });
  return {
    handle: handler(ENDPOINTS, () => state!),
    accounts,
    metrics: allMetrics,
    mayOpen: (files) => inFlight.boundAbandoned(files),
    observe(server) {
      metrics.registry.observe(() => ({
        connections: Object.entries(server.connections).map(([state, value]) => ({ labels: [state], value })),
        connectionsRefused: server.refused,
      }));
    },
    models: () => state!.kit.catalog.models,
    notReloaded: (error) => operation.notReloaded(error),
    reload: (next, warnings = []) =>
      turns.run(async () => {
        let made: ServerState | undefined;
        try {
          await follow(next);
          made = await stateOf(next);
          // All or nothing: what may fail changes nothing, and then nothing fails any more.
          await accounts.reload(accountsConfig(next));
          become(made);
          running = next;
          operation.reloaded(warnings);
          await alerts.follow(next);
        } catch (error) {
          void follow(running);
          const log = made?.kit.payloads?.log;
          if (log !== state?.kit.payloads?.log) void log?.close();
          throw error;
        }
      }),
    stop: () => stopped = true,
    idle: () => inFlight.idle(),
    async close() {
      await alerts.stop();
      // Before the store: what is kept is noted there.
      await state?.kit.payloads?.log.close();
      await (await resumption)?.close();
      discovery?.close();
      ticker.close();
      memory.close();
      re2.close();
      documents.close();
      modelAt(undefined);
      tokens.close();
      seal.close();
      await accounts.close();
      return { collectorAnswers: await telemetry?.close() ?? true };
    },
  };
}
