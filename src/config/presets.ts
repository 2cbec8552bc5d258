/**
 * Completes the configuration of providers from presets.
 *
 * A provider uses a preset if it names it, or if it has the preset's name and leaves out `api` or `base_url`.
 * A provider that has both and names no preset is independent of presets, whatever its name: a key of the
 * environment must not be sent to another address. The address of a cloud has no path. With a path it is the
 * address of one API, and the provider is independent too.
 */
import { isObject } from "../exchange/json.ts";
import { BEDROCK_MANTLE } from "../providers/clouds/bedrock.ts";
import type { CloudKind } from "../providers/clouds/cloud.ts";
import {
  type Preset,
  PRESET_NAMES,
  PRESETS,
  type PresetValues,
  presetValues,
  withoutApiPath,
} from "../providers/presets.ts";
import { pathText } from "../schema/mistakes.ts";
import type { Env, Parsed } from "./jsonc.ts";

type Fields = Record<string, unknown>;

/** Changes the value in place. Required variables that are not set become mistakes. */
export function applyPresets(parsed: Parsed, env: Env): void {
  const providers = isObject(parsed.value) ? parsed.value.providers : undefined;
  if (!isObject(providers)) return;
  for (const [name, provider] of Object.entries(providers)) {
    if (!isObject(provider)) continue;
    const preset = presetOf(name, provider);
    if (preset) {
      fillIn(provider, ["providers", name], { preset, values: presetValues(preset, env, provider), parsed });
    }
  }
}

function presetOf(name: string, provider: Fields): Preset | undefined {
  const byName = isBedrock(provider) && !PRESET_NAMES.includes(name) ? "bedrock" : name;
  const wanted = provider.preset === undefined ? byName : provider.preset;
  const found = PRESETS.find((preset) => preset.name === wanted);
  if (found?.cloud !== undefined && isMantle(provider)) {
    return PRESETS.find((preset) => preset.cloud === BEDROCK_MANTLE);
  }
  const whole = provider.preset === undefined && provider.api !== undefined &&
    provider.base_url !== undefined;
  return whole && (found?.cloud === undefined || hasPath(provider.base_url)) ? undefined : found;
}

/** Only Bedrock has this API. With an address and without a region it is another server with the same API. */
function isBedrock({ api, base_url, region }: Fields): boolean {
  return api === "bedrock-converse" &&
    (base_url === undefined || (region !== undefined && !hasPath(base_url)));
}

/** Bedrock's newer endpoint has another service name and other hosts. */
function isMantle({ auth, base_url }: Fields): boolean {
  return (isObject(auth) && auth.service === "bedrock-mantle") ||
    (typeof base_url === "string" && base_url.startsWith("https://bedrock-mantle."));
}

function hasPath(url: unknown): boolean {
  return typeof url === "string" && URL.canParse(url) && new URL(url).pathname !== "/";
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
  provider.preset = preset.name;
  if (preset.cloud !== undefined) return fillInCloud(provider, preset, preset.cloud, values, set);
  if (provider.api === undefined) provider.api = preset.api;
  const ofAddress = [...preset.baseUrl.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name).join(" or ");
  set("base_url", values.baseUrl, values.baseUrlFrom, ofAddress);
  // Other kinds of credentials need no key, and neither does a provider that uses its callers' credentials.
  const other =
    (isObject(provider.auth) && provider.auth.type !== undefined && provider.auth.type !== "key") ||
    (provider.pass_credentials === true && values.key === undefined);
  if (!other && preset.keys.length > 0) set("api_key", values.key, values.keyFrom, preset.keys.join(" or "));
}

type Set = (
  field: string,
  value: string | undefined,
  variable: string | undefined,
  missing: string,
) => void;

/** If a route names no API, the cloud chooses it. */
function fillInCloud(
  provider: Fields,
  preset: Preset,
  cloud: CloudKind,
  { baseUrl, addressed, place, key, keyFrom }: PresetValues,
  set: Set,
): void {
  for (const { name, variables, addressOnly } of cloud.fields) {
    const found = place?.[name];
    if (found !== undefined || !(addressOnly && addressed)) {
      set(name, found?.value, found?.from, variables.join(" or "));
    }
  }
  // Without a region or resource there is no address; the missing field is reported as the mistake.
  if (provider.base_url === undefined) provider.base_url = baseUrl ?? UNKNOWN_ADDRESS;
  const address = typeof provider.base_url === "string" ? withoutApiPath(provider.base_url) : "";
  if (address !== "") provider.base_url = address;
  // A value that is not an object is reported by the schema.
  if (provider.auth !== undefined && !isObject(provider.auth)) return;
  const own = provider.auth ?? {};
  if (own.type === "key") {
    if (preset.keys.length > 0) set("api_key", key, keyFrom, preset.keys.join(" or "));
  } else if (own.type === undefined && provider.api_key === undefined && key !== undefined) {
    set("api_key", key, keyFrom, "");
    return;
  }
  const usual = cloud.auth(place?.region?.value, address);
  if (own.type === undefined ? !provider.api_key : own.type === usual.type) {
    provider.auth = { ...usual, ...own };
  }
}

/** Address of a cloud whose region or resource is missing or wrong. */
const UNKNOWN_ADDRESS = "https://unknown.invalid";
