/**
 * Mistakes in a provider that would otherwise show only as a failure of its first call: a name similar to a
 * preset's, an empty key, an address without the path of its API or with the path of an endpoint.
 */
import { isObject, type Loose } from "../exchange/json.ts";
import { type Preset, PRESET_NAMES, PRESETS } from "../providers/presets.ts";
import { oneOf, pathText, type Report } from "../schema/mistakes.ts";

/** Paths that the gateway appends to a `base_url`. */
const ENDPOINT = /\/(?:chat\/completions|completions|responses|messages|models)\/*$/;

/** A provider without an API and without a preset: its name may be misspelt. */
export function isUnknownName({ api, base_url, preset }: Loose): boolean {
  return preset === undefined && api === undefined && base_url === undefined;
}

/** Reports a provider whose name is not a preset and that has no other fields which identify it. */
export function checkUnknownName(name: string, report: Report): void {
  const allowed = `the name of a known provider, ${oneOf(PRESET_NAMES)}, or preset, or api and base_url`;
  report.expect(allowed, name, ["providers", name], PRESET_NAMES);
}

/** Warns of an empty key and of an address that looks wrong; both may be intended. */
export function warnOfProvider(name: string, provider: Loose, report: Report): void {
  const preset = PRESETS.find((known) => known.name === provider.preset);
  if (provider.api_key === "" && needsKey(provider, preset)) {
    report.warnings.push(
      `${pathText(["providers", name, "api_key"])}: empty, so ${preset!.name} refuses every call; ` +
        `left out, it is taken from ${oneOf(preset!.keys).replace("one of ", "")}`,
    );
  }
  if (typeof provider.base_url === "string") warnOfAddress(name, provider.base_url, preset, report);
}

function needsKey({ auth, pass_credentials }: Loose, preset: Preset | undefined): boolean {
  const other = isObject(auth) && auth.type !== undefined && auth.type !== "key";
  return preset !== undefined && preset.cloud === undefined && preset.keys.length > 0 && !other &&
    pass_credentials !== true;
}

function warnOfAddress(name: string, text: string, preset: Preset | undefined, report: Report): void {
  const url = URL.parse(text);
  if (url === null) return;
  const path = ["providers", name, "base_url"];
  if (ENDPOINT.test(url.pathname)) {
    const without = text.replace(ENDPOINT, "");
    report.doubt(`the address without the endpoint, like ${without}`, text, path);
    return;
  }
  if (url.pathname !== "/") return;
  // With the port: several presets use loopback addresses.
  const host = url.host.replace(/^localhost(?=:|$)/, "127.0.0.1");
  const known = PRESETS.find(({ baseUrl }) => URL.parse(baseUrl)?.host === host) ??
    (preset?.keys.length === 0 ? preset : undefined);
  const wanted = known && URL.parse(known.baseUrl)?.pathname;
  if (wanted && wanted !== "/") {
    report.doubt(`an address with the path of its API, like ${url.origin}${wanted}`, text, path);
  }
}
