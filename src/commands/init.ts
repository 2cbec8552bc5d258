/** `sluice init`: creates a commented configuration from three answers. */
import { type Env, PRESET_NAMES, PRESETS, presetValues } from "../providers/presets.ts";
import { addressTrouble } from "../store/config.ts";
import { foundProviders } from "../config/demo.ts";
import type { InitAnswers } from "./command.ts";
import { UsageError, wrong } from "./option_values.ts";
import { programCalled } from "./program_called.ts";

/** Asks on the terminal; null: there is no terminal, or the answer is empty. */
export type Ask = (question: string, usual: string) => string | null;

export interface InitFile {
  text: string;
  /** Messages for the user. */
  notes: string[];
}

const STORE = "sqlite:./data/sluice.db";
const PORT = 8787;
/** Its models are deployments, whose names nobody else knows: without them the configuration would be refused. */
const AZURE = "azure";

/** Deno's prompt puts a default into the edited line: typing "mistral" would give "openaimistral". */
export function asking(prompt: (line: string) => string | null): Ask {
  return (question, usual) => prompt(`${question} [${usual}]`)?.trim() || null;
}

/** @param secret of the key in the file */
export function initFile(given: InitAnswers, env: Env, ask: Ask, secret: string): InitFile {
  const found = foundProviders(env).map(({ name }) => name);
  const usual = found.length > 0 ? found : ["openai"];
  const providers = given.providers === undefined
    ? names(ask(`Which providers? (${PRESET_NAMES.join(", ")})`, usual.join(",")) ?? usual.join(","))
    : [...new Set(given.providers)];
  for (const name of providers) {
    if (!PRESET_NAMES.includes(name)) {
      throw wrong("the name of a provider", PRESET_NAMES, name);
    }
  }
  if (providers.length === 0) {
    throw new UsageError("Cannot write a configuration: expected a provider, got none");
  }
  const store = given.store ?? ask("Where are keys and records kept? (sqlite:PATH or postgres://…)", STORE) ??
    STORE;
  const trouble = addressTrouble(store);
  if (trouble !== null) {
    throw new UsageError(
      `Cannot write a configuration: expected as the store ${trouble}, got ${JSON.stringify(store)}`,
    );
  }
  const port = given.port ?? portOf(ask("On which port?", String(PORT)) ?? String(PORT));
  const notes = providers.flatMap((name) => {
    const needs = presetValues(PRESETS.find((preset) => preset.name === name)!, env).missing;
    return [
      ...(needs.length === 0 ? [] : [`${name} still needs ${needs.join(" and ")} to be set.`]),
      ...(name === AZURE ? [`${name}: write the names of your deployments into the file.`] : []),
    ];
  });
  return { text: fileText({ providers, store, port, secret, env }), notes };
}

function names(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((name) => name !== ""))];
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new UsageError(
    `Cannot write a configuration: expected a port from 1 to 65535, got ${JSON.stringify(text)}`,
  );
}

interface Answers {
  providers: readonly string[];
  store: string;
  port: number;
  secret: string;
  env: Env;
}

function fileText({ providers, store, port, secret, env }: Answers): string {
  const lines = providers.map((name) => {
    const preset = PRESETS.find((one) => one.name === name)!;
    const { keyFrom } = presetValues(preset, env);
    const from = preset.keys.length === 0
      ? preset.cloud ? "the machine's own credential" : "a server of your own, without a key"
      : `key from ${keyFrom ?? preset.keys.join(" or ")}`;
    const fields = name === AZURE ? '{ "deployments": ["gpt-5"] }' : "{}";
    return { entry: `    ${JSON.stringify(name)}: ${fields}`, from };
  });
  // The comma goes before the comment.
  const listed = lines.map(({ entry, from }, i) => `${entry}${i < lines.length - 1 ? "," : ""} // ${from}`);
  const program = programCalled(env);
  return `// Configuration of Sluice. \`${program} check --config FILE\` validates it. Every field is described in the manual,
// which the gateway serves at /docs, and in the JSON Schema for editors below.
{
  "$schema": "http://127.0.0.1:${port}/config.schema.json",
  "server": { "hostname": "127.0.0.1", "port": ${port} }, // "0.0.0.0" to serve other machines
  "store": { "url": ${JSON.stringify(store)} },

  // The admin key turns on the administration API and the console at /console.
  // "admin_key": "\${SLUICE_ADMIN_KEY}",

  // Each name is a known provider; \`${program} providers\` lists them, with the environment variables that they need.
  "providers": {
${listed.join("\n")}
  },

  // The catalog contains the models that these providers list, with known prices. An entry here overrides single fields:
  // "models": [{ "id": "openai/gpt-5", "name": "Ours", "pricing": { "prompt": "0.00000125", "completion": "0.00001" } }],
  "catalog": {
    "discover_hours": 1,
    "unpriced": "refuse" // only keys without any spending limit can use a model with an unknown price
  },

  // The amount that all keys of an account may spend together; null: unlimited.
  "accounts": [{ "name": "default", "credits": null }],
  "keys": [
    {
      "name": "first",
      "secret": ${JSON.stringify(secret)},
      // "models": ["openai/*"],
      "spend_limit": { "amount": "25.00", "period": "month" }
    }
  ]
}
`;
}
