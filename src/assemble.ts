/**
 * The parts that a configuration makes, put together into one gateway: a function from Request to Response, with a way
 * to reload it and a way to end it. Nothing here reads the environment, binds a port or listens to signals.
 */
import { type AccountsService, openAccounts } from "./accounts/service.ts";
import type { Config, ModelConfig } from "./config/schema.ts";
import { type Edge, handler, InFlight } from "./http/handler.ts";
import { type Model, openCatalog } from "./models/catalog.ts";
import type { Kit } from "./pipeline/kit.ts";
import { sealer } from "./pipeline/seal.ts";
import { openProviders } from "./providers/mod.ts";
import type { Provider } from "./providers/provider.ts";
import { Ticker } from "./providers/ticker.ts";
import { NO_SEARCH } from "./websearch/mod.ts";

export interface GatewayOptions {
  now(): number;
  log(line: string): void;
}

export interface Gateway {
  handle(request: Request): Promise<Response>;
  accounts: AccountsService;
  /** Takes another configuration over, without touching what is under way. */
  reload(config: Config): Promise<void>;
  /** From now on `/readyz` says no and new generations are refused. */
  stop(): void;
  /** Resolves when no generation is under way. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export async function assemble(config: Config, options: GatewayOptions): Promise<Gateway> {
  const ticker = new Ticker();
  const inFlight = new InFlight();
  const accounts = await openAccounts({ config, now: options.now, log: options.log });
  const seal = sealer(await accounts.secret("seal"));
  let stopped = false;

  const edgeOf = (config: Config): Edge => {
    const kit: Kit = {
      accounts,
      catalog: openCatalog(config.models.map(model), config.auto.models, Math.floor(options.now() / 1000)),
      providers: openProviders(
        Object.entries(config.providers).map(([name, p]) => provider(name, p)),
        ticker,
      ),
      websearch: NO_SEARCH,
      sealer: seal,
      limits: {
        maxTextChars: config.server.max_text_chars,
        maxFileBytes: config.server.max_file_bytes,
        maxMessages: config.server.max_messages,
      },
      ticker,
      now: options.now,
      log: options.log,
    };
    return {
      kit,
      maxBodyBytes: config.server.max_body_bytes,
      maxInFlight: config.server.max_in_flight,
      keepAliveMs: config.server.keepalive_seconds * 1000,
      corsOrigins: config.server.cors_origins,
      ready: () => !stopped,
      inFlight,
      more: () => null,
    };
  };

  let edge = edgeOf(config);
  return {
    handle: handler(() => edge),
    accounts,
    async reload(next) {
      await accounts.reload(next);
      edge = edgeOf(next);
    },
    stop: () => stopped = true,
    idle: () => inFlight.idle(),
    close: () => accounts.close(),
  };
}

function model(m: ModelConfig): Model {
  return {
    id: m.id,
    name: m.name,
    routes: m.routes,
    contextLength: m.context_length,
    maxCompletion: m.max_completion_tokens,
    pricing: m.pricing,
    inputs: m.capabilities.modality_input,
    outputs: m.capabilities.modality_output,
    features: new Set(m.capabilities.features),
    efforts: m.reasoning_efforts,
    shortNames: m.short_names,
  };
}

function provider(name: string, p: Config["providers"][string]): Provider {
  return {
    name,
    api: p.api,
    baseUrl: p.base_url,
    apiKey: p.api_key,
    headers: p.headers,
    firstByteMs: p.first_byte_seconds * 1000,
    idleMs: p.idle_seconds * 1000,
    retries: p.retries,
  };
}
