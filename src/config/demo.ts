/**
 * The configuration that is used if none is given: the providers whose credentials are in the environment,
 * and the demo model; without such credentials the demo model alone. It listens on a loopback address, so
 * other machines cannot reach it.
 *
 * It is validated like a file, with the same overrides from the environment and the command line, except that
 * the address must be a loopback address: the demo provider answers every caller.
 */
import { type Env, PRESETS, presetValues } from "../providers/presets.ts";
import { type Examination, examineValue, type Loaded, type LoadOptions } from "./load.ts";

const DEMO = {
  server: { hostname: "127.0.0.1", port: 8787 },
  // Set explicitly, so that a DATABASE_URL of another program is not used.
  store: { url: "sqlite:./data/sluice.db" },
  providers: { demo: { api: "demo" } },
  models: [
    {
      id: "demo/small",
      name: "Demo small",
      routes: [{ provider: "demo", model: "small" }],
      context_length: 32_768,
      max_completion_tokens: 4096,
      pricing: { prompt: "0.0000001", completion: "0.0000004" },
      capabilities: { modality_input: ["text"], features: ["tools", "response_format"] },
    },
    {
      id: "demo/large",
      name: "Demo large",
      routes: [{ provider: "demo", model: "large" }],
      context_length: 200_000,
      max_completion_tokens: 32_000,
      pricing: {
        prompt: "0.000002",
        completion: "0.000008",
        input_cache_read: "0.0000002",
        input_cache_write: "0.0000025",
      },
      capabilities: {
        modality_input: ["text", "image", "file"],
        features: ["tools", "prompt_caching", "structured_outputs", "response_format"],
      },
      // Clients of the messages format ask for such a model by default.
      short_names: ["claude-*"],
    },
    {
      id: "demo/thinker",
      name: "Demo thinker",
      routes: [{ provider: "demo", model: "thinker" }],
      context_length: 200_000,
      max_completion_tokens: 32_000,
      pricing: { prompt: "0.000002", completion: "0.000008", internal_reasoning: "0.000008" },
      capabilities: {
        modality_input: ["text", "image", "file"],
        features: ["tools", "reasoning", "structured_outputs", "response_format"],
      },
      reasoning_efforts: ["none", "low", "medium", "high"],
    },
  ],
  auto: { models: ["demo/small", "demo/large"] },
};

/** A provider whose credential is in the environment. */
export interface FoundProvider {
  name: string;
  /** The variable with the credential. */
  keyFrom: string;
}

/**
 * Presets that can be called with the variables of the environment. Presets of local servers need no
 * variable, so nothing shows that one is running. Presets of Azure are excluded because their models have to
 * be named.
 */
export function foundProviders(env: Env): FoundProvider[] {
  return PRESETS.flatMap((preset) => {
    const { cloud, keys } = preset;
    if (cloud === undefined ? keys.length === 0 : cloud.modelsList === null) return [];
    const { keyFrom, missing } = presetValues(preset, env);
    return keyFrom !== undefined && missing.length === 0 ? [{ name: preset.name, keyFrom }] : [];
  });
}

/** The configuration for a start without one. Throws `ConfigError`. */
export function demoConfig(options: LoadOptions): Loaded {
  return examineDemo(options).conclude();
}

/** Like {@link demoConfig}, with the mistakes as values. */
export function examineDemo(options: LoadOptions): Examination {
  const found = options.flags?.demo ? [] : foundProviders(options.env);
  const value = found.length === 0 ? DEMO : {
    ...DEMO,
    providers: { ...Object.fromEntries(found.map(({ name }) => [name, {}])), ...DEMO.providers },
    // The short names of Claude models belong to that provider, if it is there.
    models: DEMO.models.map((model) => ({ ...model, short_names: [] })),
  };
  const examination = examineValue(value, { ...options, source: "demo mode" });
  const { config, report } = examination;
  if (config !== undefined && !isLoopback(config.server.hostname)) {
    const message =
      `expected a loopback address in demo mode, got ${JSON.stringify(config.server.hostname)}; ` +
      "to serve other machines, give a configuration with --config";
    report.mistakes.push({ path: "server.hostname", steps: ["server", "hostname"], message });
  }
  return examination;
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "::1" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
