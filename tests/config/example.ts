/** The contract's example configuration, and what the tests of this folder do with it. */
import { ConfigError } from "../../src/config/config_error.ts";
import { loadConfig, type Loaded } from "../../src/config/load.ts";

export const EXAMPLE = `{
  "server": {
    "hostname": "127.0.0.1", "port": 8787,
    "max_body_bytes": 33554432,        // over: 413 payload_too_large
    "max_file_bytes": 20971520,
    "max_text_chars": 4000000,
    "max_messages": 2000,
    "max_in_flight": 4096,
    "keepalive_seconds": 15,
    "shutdown_grace_seconds": 60
  },
  "store": { "url": "sqlite:./data/sluice.db" },   // or "sqlite::memory:", or "postgres://…" for many nodes
  "admin_key": "\${SLUICE_ADMIN_KEY}",
  "providers": {
    "openai": {
      "api": "openai-responses",
      "base_url": "https://api.openai.com/v1",
      "api_key": "\${OPENAI_API_KEY}",
      "headers": {},
      "first_byte_seconds": 120,
      "idle_seconds": 120,
      "retries": 2,
      "breaker": { "failures": 5, "window_seconds": 30, "open_seconds": 15 },
      "pass_credentials": false,
      "max_concurrent": null
    }
  },
  "models": [
    {
      "id": "openai/gpt-5", "name": "GPT-5",
      "routes": [ { "provider": "openai", "model": "gpt-5" } ],
      "context_length": 400000, "max_completion_tokens": 128000,    // or null
      "pricing": { "prompt": "0.00000125", "completion": "0.00001", "input_cache_read": "0.000000125" },
      "capabilities": { "modality_input": ["text", "image"], "modality_output": ["text"],
                        "features": ["tools", "reasoning", "structured_outputs", "response_format"] },
      "reasoning_efforts": ["none", "low", "medium", "high", "xhigh"],
      "short_names": []
    }
  ],
  "auto": { "models": ["openai/gpt-5-mini", "openai/gpt-5"], "quality": 0.5 },
  "search": { "engine": "searxng",
              "base_url": "http://127.0.0.1:8888", "api_key": "", "results": 5, "timeout_seconds": 10, "price": "0.005" },
  "dlp": { "enabled": true },
  "dlp_policies": { "finance": { "mode": "block", "entity_types": ["CREDIT_CARD", "IBAN_CODE"], "stop_words": [],
                                 "allowlist": [], "regexes": [] } },
  "access_policies": { "eu": { "allow": ["mistral/*"], "deny": [] } },
  "accounts": [ { "name": "default", "credits": "100.00" } ],
  "keys": [
    { "name": "dev", "secret": "sk_live_…", "account": "default", "access_policy": null, "dlp_policy": null,
      "models": null,
      "spend_limit": { "amount": "25.00", "period": "month" },
      "rate_limit": { "requests_per_minute": 600, "tokens_per_minute": 2000000 }, "expires_at": null }
  ]
}`;

/** The least that loads. Each test gets its own, to spoil. */
export function least() {
  return {
    providers: { up: { api: "openai-chat", base_url: "http://127.0.0.1:1/v1" } },
    models: [{
      id: "up/a",
      routes: [{ provider: "up", model: "a" }],
      pricing: { prompt: "0", completion: "0" },
    }],
  };
}

export function environment(variables: Record<string, string>): (name: string) => string | undefined {
  return (name) => Object.hasOwn(variables, name) ? variables[name] : undefined;
}

export const NO_ENV = environment({});
export const EXAMPLE_ENV = environment({
  OPENAI_API_KEY: "sk-upstream",
  SLUICE_ADMIN_KEY: "admin-secret-of-some-length",
});

/** Loads a value as the text that it makes. */
export function load(value: unknown, env = NO_ENV): Loaded {
  return loadConfig(JSON.stringify(value), { env });
}

/** Mistakes as `path: message`, empty when it loads. Anything else thrown is the test's failure. */
export function mistakesOf(run: () => unknown): string[] {
  try {
    run();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.mistakes.map(({ path, message }) => `${path}: ${message}`);
  }
}
