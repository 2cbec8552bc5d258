/** `sluice providers`: the presets, the variables that each one lacks, and which of them are configured. */
import { inColumns } from "./columns.ts";
import { type Env, PRESETS, presetValues } from "../providers/presets.ts";

export interface PresetStatus {
  preset: string;
  api: string;
  /** Host of the address; null while a variable in the address is not set. */
  host: string | null;
  /** Variables that have to be set; empty: the provider can be used. */
  missing: string[];
  /** The variable that the key is read from; null: none is set, or none is needed. */
  key_from: string | null;
}

export interface ConfiguredStatus {
  provider: string;
  api: string;
  host: string | null;
  auth: string;
}

/** @param configured providers of the configuration, if there is one */
export function providersCommand(
  env: Env,
  configured: readonly ConfiguredStatus[],
  { json }: { json: boolean },
): string {
  const presets = PRESETS.map((preset): PresetStatus => {
    const { baseUrl, missing, keyFrom } = presetValues(preset, env);
    return {
      preset: preset.name,
      api: preset.api,
      host: baseUrl !== undefined && URL.canParse(baseUrl) ? new URL(baseUrl).host : null,
      missing,
      key_from: keyFrom ?? null,
    };
  });
  if (json) return JSON.stringify({ configured, presets });
  const rows = presets.map(({ preset, api, host, missing, key_from }) => [
    preset,
    api,
    host ?? "",
    missing.length > 0
      ? `set ${missing.join(" and ")}`
      : key_from === null
      ? isCloud(preset) ? "credential of the machine" : "needs no key"
      : `${isCloud(preset) ? "credential" : "key"} from ${key_from}`,
  ]);
  const lines = inColumns([["PRESET", "API", "HOST", "STATE"], ...rows]);
  if (configured.length === 0) return lines.join("\n");
  const own = configured.map(({ provider, api, host, auth }) => [provider, api, host ?? "", auth]);
  return [...inColumns([["PROVIDER", "API", "HOST", "CREDENTIAL"], ...own]), "", ...lines].join("\n");
}

function isCloud(name: string): boolean {
  return PRESETS.find((preset) => preset.name === name)?.cloud !== undefined;
}
