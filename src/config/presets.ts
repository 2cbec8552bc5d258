/**
 * Fills in what the configuration leaves out of providers that presets know.
 *
 * A provider follows a preset when it names it, or has its name and leaves out `api` or `base_url`. A provider that says both
 * and names no preset is the file's own, whatever its name: a key of the environment must not go to another address unasked.
 */
import { type Preset, PRESET_NAMES, PRESETS, type PresetValues, presetValues } from "../providers/presets.ts";
import { pathText } from "../schema/mistakes.ts";
import type { Env, Parsed } from "./jsonc.ts";

type Fields = Record<string, unknown>;

/** Changes the value in place. Variables that are wanted and not set become mistakes. */
export function applyPresets(parsed: Parsed, env: Env): void {
  const providers = isObject(parsed.value) ? parsed.value.providers : undefined;
  if (!isObject(providers)) return;
  for (const [name, provider] of Object.entries(providers)) {
    if (!isObject(provider)) continue;
    const preset = presetOf(name, provider);
    if (preset) fillIn(provider, ["providers", name], { preset, values: presetValues(preset, env), parsed });
  }
}

function presetOf(name: string, provider: Fields): Preset | undefined {
  const wanted = provider.preset ?? name;
  if (provider.preset === undefined && provider.api !== undefined && provider.base_url !== undefined) {
    return undefined;
  }
  return typeof wanted === "string" && PRESET_NAMES.includes(wanted)
    ? PRESETS.find((preset) => preset.name === wanted)
    : undefined;
}

interface Filling {
  preset: Preset;
  values: PresetValues;
  parsed: Parsed;
}

function fillIn(provider: Fields, path: readonly string[], { preset, values, parsed }: Filling): void {
  function set(
    field: string,
    value: string | undefined,
    variable: string | undefined,
    missing: string,
  ): void {
    if (provider[field] !== undefined) return;
    const at = pathText([...path, field]);
    if (value === undefined) {
      const message = `expected the environment variable ${missing}, which is not set, or the field itself`;
      parsed.mistakes.push({ path: at, message });
      return;
    }
    provider[field] = value;
    if (variable !== undefined) parsed.written.set(at, `\${${variable}}`);
  }
  provider.api ??= preset.api;
  const ofAddress = [...preset.baseUrl.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name).join(" or ");
  set("base_url", values.baseUrl, values.baseUrlFrom, ofAddress);
  // Another kind of credential needs no key.
  const other = isObject(provider.auth) && provider.auth.type !== undefined && provider.auth.type !== "key";
  if (!other && preset.keys.length > 0) set("api_key", values.key, values.keyFrom, preset.keys.join(" or "));
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
