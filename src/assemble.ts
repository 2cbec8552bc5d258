/**
 * Builds a gateway from a configuration: a function from Request to Response, with methods to reload and to
 * close it. Nothing here reads the environment, binds a port or listens for signals.
 */
import manifest from "../deno.json" with { type: "json" };
import type { Gateway, GatewayOptions } from "./assembly/gateway.ts";
import { accountsConfig } from "./assembly/gateway_accounts.ts";
import { RunningPayloads } from "./assembly/running_payloads.ts";
import { closeParts, type InForce, openParts, type Parts } from "./assembly/parts.ts";
import type { Config } from "./config/schema.ts";
import { type Asked, Discovery } from "./discovery/discovery.ts";
import { askedOf, effectiveModels, listsFile } from "./discovery/effective_catalog.ts";
import { printable } from "./exchange/printable.ts";
import { API } from "./http/api.ts";
import type { ServerState } from "./http/endpoint.ts";
import { EndpointTable } from "./http/endpoint_table.ts";
import { handler } from "./http/handler.ts";
import { HEALTH } from "./http/health.ts";
import { collectNow, collectWhenIdle } from "./memory.ts";
import type { AutoRouter } from "./models/auto.ts";
import { type Catalog, openCatalog } from "./models/catalog.ts";
import type { PayloadsConfig } from "./payloads/config.ts";
import type { OpenPayloads } from "./payloads/mod.ts";
import { loadScreening } from "./pipeline/guard.ts";
import type { Kit } from "./pipeline/kit.ts";
import { ownSecrets } from "./pipeline/own_secrets.ts";
import type { ProviderCredential } from "./providers/credentials/credential.ts";
import { loadFormats, openProviders, type Providers } from "./providers/mod.ts";
import { Turns } from "./timing/turns.ts";
import { openWebSearch } from "./websearch/mod.ts";

/** All endpoints of the gateway, for routing, metrics and the OpenAPI document. */
export const ENDPOINTS = new EndpointTable([...API, ...HEALTH], async () => {
  const [{ CONSOLE }, { MANUAL }] = await Promise.all([
    import("./console/mod.ts"),
    import("./manual/mod.ts"),
  ]);
  return [...CONSOLE, ...MANUAL];
});

/**
 * Rejects if the store cannot be used or a component cannot be created. Components that were opened before
 * stay open.
 */
export async function assemble(config: Config, given: GatewayOptions): Promise<Gateway> {
  // Any line may contain text from providers and callers.
  const log: GatewayOptions["log"] = (line, level) => given.log(printable(line), level);
  const options = { ...given, log };
  const inForce: InForce = { config, state: undefined, stopped: false };
  const parts = await openParts(inForce, {
    ...options,
    async asked() {
      const { catalogOf } = await import("./commands/catalog_of.ts");
      return await catalogOf(inForce.config, { env: options.env ?? (() => undefined), log: () => {} });
    },
  });
  const gateway = new RunningGateway(inForce, parts, options);
  await gateway.begin();
  return gateway;
}

class RunningGateway implements Gateway {
  readonly handle: Gateway["handle"];
  readonly #inForce: InForce;
  readonly #parts: Parts;
  readonly #options: GatewayOptions;
  /** Null: the catalog has the models of the configuration alone. */
  readonly #discovery: Discovery | null;
  /** Configurations are loaded one after the other, so that the last one remains in force. */
  readonly #turns = new Turns();
  readonly #memory: { close(): void };
  readonly #payloads = new RunningPayloads((section) => this.#openPayloads(section));

  constructor(inForce: InForce, parts: Parts, options: GatewayOptions) {
    this.#inForce = inForce;
    this.#parts = parts;
    this.#options = options;
    this.handle = handler(ENDPOINTS, () => inForce.state!);
    this.#discovery = options.discovers !== true ? null : new Discovery({
      file: listsFile(parts.store),
      follower: options.worker?.which ?? 1,
      now: options.now,
      log: options.log,
      changed: () => void this.#turns.run(() => this.#refresh()),
    });
    const { inFlight } = parts;
    this.#memory = collectWhenIdle({ load: () => ({ entered: inFlight.entered, running: inFlight.count }) });
  }

  get accounts() {
    return this.#parts.accounts;
  }

  get metrics() {
    return this.#parts.allMetrics;
  }

  /** Puts the first configuration into force. */
  async begin(): Promise<void> {
    const { served, operation, alerts } = this.#parts;
    const { config } = this.#inForce;
    await this.#turns.run(async () => {
      await this.#follow(config);
      // Read the saved catalog before this process overwrites it.
      const before = served.before();
      this.#become(await this.#stateOf(config));
      operation.catalogResumed(before);
      await alerts.follow(config);
      // Merging the lists leaves much garbage, and no calls are waiting yet.
      if (this.models() !== config.models) collectNow();
    });
  }

  mayOpen(files: number | null): void {
    this.#parts.inFlight.boundAbandoned(files);
  }

  observe(server: Parameters<Gateway["observe"]>[0]): void {
    this.#parts.inFlight.follow(server);
    this.#parts.metrics.registry.observe(() => ({
      connections: Object.entries(server.connections).map(([state, value]) => ({ labels: [state], value })),
      connectionsRefused: server.refused,
    }));
  }

  models() {
    return this.#inForce.state!.kit.catalog.models;
  }

  notReloaded(error: unknown): void {
    this.#parts.operation.notReloaded(error);
  }

  reload(next: Config, warnings: readonly string[] = []): Promise<void> {
    const { accounts, operation, alerts } = this.#parts;
    const inForce = this.#inForce;
    return this.#turns.run(async () => {
      try {
        await this.#follow(next);
        const made = await this.#stateOf(next);
        // Everything that can fail comes before the first change, so a reload is applied completely or not at
        // all.
        await accounts.reload(accountsConfig(next), () => {
          this.#become(made);
          inForce.config = next;
        });
        operation.reloaded(warnings);
        await alerts.follow(next);
      } catch (error) {
        void this.#follow(inForce.config);
        this.#payloads.discard();
        throw error;
      }
    });
  }

  stop(): void {
    this.#inForce.stopped = true;
  }

  idle(): Promise<void> {
    return this.#parts.inFlight.idle();
  }

  async close() {
    await this.#parts.alerts.stop();
    // Before the store is closed, since the payload log records places of payloads in it.
    await this.#payloads.close();
    this.#discovery?.close();
    this.#memory.close();
    return { collectorAnswers: await closeParts(this.#parts) };
  }

  /** Loads the lists of models from the providers, waiting only for a limited time. */
  async #follow(config: Config): Promise<void> {
    await this.#discovery?.follow(await this.#asked(config), config.catalog.discoverHours * 3_600_000);
  }

  async #asked(config: Config): Promise<Asked[]> {
    return this.#discovery === null ? [] : await askedOf(config, this.#parts.credentials);
  }

  async #refresh(): Promise<void> {
    const { config, state, stopped } = this.#inForce;
    if (stopped || state === undefined) return;
    const before = state.kit.catalog.models.length;
    this.#become(await this.#stateOf(config));
    const { length } = this.models();
    this.#options.log(`the providers' models have changed: ${length} in the catalog, ${before} before`);
  }

  #become(made: ServerState): void {
    const { operation, served, socketMemory } = this.#parts;
    const before = this.#inForce.state?.kit;
    const { catalog, payloads, providers } = made.kit;
    this.#payloads.become(payloads?.log ?? null);
    socketMemory.bound({ most: made.maxInFlightBytes, longestMessage: made.maxBodyBytes });
    if (before !== undefined) operation.catalogChanged(before.catalog.models, catalog.models);
    this.#inForce.state = made;
    providers.states.takeOver();
    served.save(catalog.models);
  }

  /** This process's share of a limit. */
  #share(limit: number): number {
    return Math.max(1, Math.floor(limit / (this.#options.worker?.of ?? 1)));
  }

  async #stateOf(config: Config): Promise<ServerState> {
    const { store, socketMemory, ...parts } = this.#parts;
    const { accounts, inFlight, shedder, sessions, wrongKeys, requestRates, socketsOfKeys } = parts;
    const { server } = config;
    const kit = await this.#kitOf(config);
    return {
      kit,
      administration: accounts,
      ...server,
      maxInFlight: this.#share(server.maxInFlight),
      maxInFlightBytes: this.#share(server.maxInFlightBytes),
      adminKey: config.adminKey,
      oidc: config.oidc,
      program: manifest,
      current: () => this.#inForce.state!,
      endpoints: () => ENDPOINTS.all(),
      allMetrics: () => parts.allMetrics.all(),
      ready: () => !this.#inForce.stopped && accounts.refusal() === null,
      hasStore: () => store.kind !== "sqlite" || accounts.storeUp(),
      inFlight,
      shedder,
      sessions,
      wrongKeys,
      requestRates,
      socketMemory,
      socketsOfKeys,
      maxSocketsPerKey: server.maxSocketsPerKey === null ? null : this.#share(server.maxSocketsPerKey),
      operation: parts.operation,
      accessPolicies: config.accessPolicies,
      resumption: parts.resumption.open,
    };
  }

  async #kitOf(config: Config): Promise<Kit> {
    const { accounts, credentials, tracing, metrics, slices, tokens, ticker, ...parts } = this.#parts;
    const { now, log, env = () => undefined } = this.#options;
    const catalog = openCatalog(
      await effectiveModels(config, {
        discovery: this.#discovery,
        asked: await this.#asked(config),
        now: now(),
      }),
      config.auto.models,
      Math.floor(now() / 1000),
      now,
    );
    const auto = await autoRouter(config, catalog);
    const opened = await credentials.open(config.providers);
    const providers = this.#providersOf(config, catalog, opened);
    await loadFormats(providers, catalog.models.flatMap((m) => m.routes));
    if (Object.keys(config.dlpPolicies).length > 0) await loadScreening();
    const payloads = await this.#payloads.prepare(config.payloads);
    return {
      accounts,
      catalog,
      auto,
      providers,
      websearch: openWebSearch(config.search, {
        ...this.#options,
        ...(tracing && { quietly: tracing.withinNoTrace }),
      }),
      dlp: {
        dlp: config.dlp,
        dlpPolicies: config.dlpPolicies,
        re2: parts.re2,
        documents: parts.documents,
        model: parts.entityModels.open(config.dlp.model),
        secrets: ownSecrets(config, opened, env),
      },
      sealer: parts.sealer,
      payloads: payloads &&
        (await import("./pipeline/payloads.ts")).keepingPayloads(
          payloads,
          this.#payloads,
          config.dlpPolicies,
        ),
      limits: config.server,
      metrics,
      slices,
      tokens,
      telemetry: tracing?.telemetry.following(config.telemetry) ?? null,
      ticker,
      now,
      log,
    };
  }

  #providersOf(config: Config, catalog: Catalog, opened: readonly ProviderCredential[]): Providers {
    const { ticker, inFlight, send } = this.#parts;
    return openProviders(
      config.providers.map(({ auth: _, ...provider }, i) => ({
        ...provider,
        credential: opened[i],
        maxConcurrent: provider.maxConcurrent && this.#share(provider.maxConcurrent),
      })),
      {
        ticker,
        routes: config.models.flatMap((m) => m.routes),
        discovered: catalog.models.flatMap((m) => m.routes),
        previous: this.#inForce.state?.kit.providers,
        makeRoom: (provider) => inFlight.makeRoom(provider),
        log: this.#options.log,
        send,
        sleep: this.#options.sleep,
      },
    );
  }

  async #openPayloads(section: PayloadsConfig): Promise<OpenPayloads> {
    const { store, metrics } = this.#parts;
    const { payloadLog } = await import("./assembly/payload_log.ts");
    return await payloadLog(section, {
      ...this.#options,
      store,
      ended: (outcome) => metrics.payloadEnded(outcome),
      held: (ms) => metrics.held("payload log", ms),
      sweeps: (this.#options.worker?.which ?? 1) === 1,
    });
  }
}

/** Imported only if it is used: reading the predictor's weights takes longer than the rest of the start. */
async function autoRouter(config: Config, catalog: Catalog): Promise<AutoRouter | null> {
  if (config.auto.models.length === 0) return null;
  const { openAuto } = await import("./models/auto.ts");
  return openAuto(config.auto, catalog);
}
