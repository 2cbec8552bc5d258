/**
 * The configuration where there is none: the providers whose variables the environment has, and the demo model beside; demo mode
 * alone where it has none. Nobody else's machine can reach it.
 *
 * It goes through the same validation as a file, with the same overrides from environment and command line, except that the
 * address must be a loopback one: the demo provider answers whoever asks.
 */
import { type Env, PRESETS, presetValues } from "../providers/presets.ts";
import { type Examination, examineValue, type Loaded, type LoadOptions } from "./load.ts";

const DEMO = {
  server: { hostname: "127.0.0.1", port: 8787 },
  // Stated, so that a DATABASE_URL meant for something else is left alone.
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
      // What clients of the messages format ask for unless told otherwise.
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

/** A provider that the environment has a key of. */
export interface FoundProvider {
  name: string;
  /** The variable that the credential comes from. */
  keyFrom: string;
}

/**
 * Presets that can be called with what the environment has. A server of one's own needs no variable, so that nothing says it is
 * there; the models of Azure have to be named.
 */
export function foundProviders(env: Env): FoundProvider[] {
  return PRESETS.flatMap((preset) => {
    const { cloud, keys } = preset;
    if (cloud === undefined ? keys.length === 0 : cloud.modelsList === null) return [];
    const { keyFrom, missing } = presetValues(preset, env);
    return keyFrom !== undefined && missing.length === 0 ? [{ name: preset.name, keyFrom }] : [];
  });
}

/** The configuration of a start without one. Throws `ConfigError`. */
export function demoConfig(options: LoadOptions): Loaded {
  return examineDemo(options).conclude();
}

/** The same, with its mistakes as values. */
export function examineDemo(options: LoadOptions): Examination {
  const found = options.flags?.demo ? [] : foundProviders(options.env);
  const value = found.length === 0 ? DEMO : {
    ...DEMO,
    providers: { ...Object.fromEntries(found.map(({ name }) => [name, {}])), ...DEMO.providers },
    // Clients that ask for a model of Claude mean that, where there is one.
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
