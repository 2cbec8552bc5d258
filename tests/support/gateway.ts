/** A gateway for a test: in memory, on a loopback port, with one key and one model for each provider given. */
import { assemble } from "../../src/assemble.ts";
import type { Gateway, GatewayOptions } from "../../src/assembly/gateway.ts";
import { loadValue } from "../../src/config/load.ts";
import type { IncomingRequest } from "../../src/http/endpoint.ts";
import { openServer } from "../../src/transport/server.ts";
import { deployStore } from "./deploy_shape.ts";
import { PATIENCE_MS, steadyClock } from "./time.ts";

export const SECRET = "sk_live_testkeytestkeytestkeytestkey01";

export type Api =
  | "openai-chat"
  | "openai-responses"
  | "anthropic-messages"
  | "gemini"
  | "bedrock-converse"
  | "demo";

export interface TestProvider {
  api: Api;
  url: string;
  /** Fields of the provider's configuration beyond those. */
  more?: Record<string, unknown>;
  /** Fields of its model's catalog entry. */
  model?: Record<string, unknown>;
}

export interface TestGateway extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  url: string;
  gateway: Gateway;
  /** Lines that an operator would have seen. */
  logged: string[];
  /** A POST with the test's key; `path` from `/v1` on. */
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

export interface TestOptions extends Partial<GatewayOptions> {
  /** Sees each request before the gateway does. */
  onRequest?(request: IncomingRequest): void;
}

export const FEATURES = ["tools", "reasoning", "prompt_caching", "structured_outputs", "response_format"];

/**
 * The configuration of a gateway for a test.
 * @param providers by name; each gets a model `NAME/model` with every feature
 */
export function testConfig(
  providers: Record<string, TestProvider>,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    store: { url: "sqlite::memory:" },
    providers: Object.fromEntries(
      Object.entries(providers).map(([name, p]) => [name, {
        api: p.api,
        ...(p.api !== "demo" && { base_url: p.url, api_key: "provider-secret" }),
        retries: 0,
        // Tests of one thing must not be shut out by the failures of another.
        breaker: { failures: 1_000_000 },
        ...p.more,
      }]),
    ),
    models: Object.entries(providers).map(([name, p]) => ({
      id: `${name}/model`,
      routes: [{ provider: name, model: "model" }],
      capabilities: {
        modality_input: ["text", "image", "file", "audio", "video"],
        modality_output: ["text", "image", "audio"],
        features: FEATURES,
      },
      ...p.model,
    })),
    keys: [{ name: "test", secret: SECRET }],
    ...more,
  };
}

/** Starts one in this process, with {@link testConfig}. */
export async function testGateway(
  providers: Record<string, TestProvider>,
  config: Record<string, unknown> = {},
  { onRequest, ...options }: TestOptions = {},
): Promise<TestGateway> {
  const store = await deployStore?.(config.store);
  const { config: loaded } = loadValue(
    testConfig(providers, { ...config, ...(store && { store: store.section }) }),
    {
      env: () => undefined,
    },
  );
  const logged: string[] = [];
  const gateway = await assemble(loaded, {
    now: Date.now,
    log: (line) => logged.push(line),
    clock: steadyClock(),
    // A busy machine is no slow store.
    storeWaitMs: PATIENCE_MS,
    ...options,
  });
  const handle = onRequest === undefined ? gateway.handle : (request: IncomingRequest) => {
    onRequest(request);
    return gateway.handle(request);
  };
  const server = await openServer({
    hostname: "127.0.0.1",
    port: 0,
    byHost: deployStore !== null,
    maxConnections: { most: loaded.server.maxConnections ?? 1000 },
    headerMs: loaded.server.headerMs,
    idleMs: loaded.server.idleMs,
    handle,
    log: (line) => logged.push(line),
  });
  gateway.observe(server);
  // Of what the start says there.
  if (deployStore !== null) logged.length = 0;
  const url = `http://127.0.0.1:${server.addr.port}`;
  const running: TestGateway = {
    url,
    gateway,
    logged,
    post: (path, body, init = {}) =>
      fetch(url + path, {
        method: "POST",
        body: typeof body === "string" ? body : JSON.stringify(body),
        ...init,
        headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json", ...init.headers },
      }),
    async close() {
      await server.shutdown();
      await gateway.idle();
      await gateway.close();
      await store?.remove();
    },
    [Symbol.asyncDispose]: () => running.close(),
  };
  return running;
}
