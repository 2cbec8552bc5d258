/**
 * The catalog of a configuration: its own entries, the models that its providers list, and the table of known
 * models.
 */
import type { Config } from "../config/schema.ts";
import type { Asked, Discovery } from "./discovery.ts";
import type { Model } from "../models/catalog.ts";
import type { ListedProvider } from "../models/discovered/merge.ts";
import type { ConfiguredProvider } from "../providers/config.ts";
import type { Credentials } from "../providers/credentials/open_credential.ts";
import { PRESETS } from "../providers/presets.ts";
import type { Store } from "../store/mod.ts";

/** The provider uses its callers' credentials, so the gateway cannot ask it for its models. */
function hasNoCredential({ passCredentials, auth }: ConfiguredProvider): boolean {
  return passCredentials === true && auth.type === "key" && auth.key === "";
}

/** The provider cannot be asked, so the models known for its preset are used. */
function isSilent(settings: ConfiguredProvider): boolean {
  return hasNoCredential(settings) ||
    PRESETS.some(({ name, list }) => name === presetOf(settings) && list === null);
}

/** The preset of a provider: the configured one, or the one with the same base URL. */
function presetOf({ preset, baseUrl }: ConfiguredProvider): string | null {
  return preset ?? PRESETS.find((known) => known.baseUrl === baseUrl)?.name ?? null;
}

/**
 * The providers that are asked for their models. Without an explicit setting, a provider that the
 * configuration describes completely, including its models, is not asked.
 */
export async function askedOf(config: Config, credentials: Credentials): Promise<Asked[]> {
  const { discover } = config.catalog;
  if (discover === false) return [];
  const routed = new Set(config.models.flatMap(({ routes }) => routes.map(({ provider }) => provider)));
  const opened = await credentials.open(config.providers);
  return config.providers.flatMap((settings, i): Asked[] => {
    if (settings.api.modelsList === null || isSilent(settings)) return [];
    const preset = presetOf(settings);
    if (discover !== true && preset === null && routed.has(settings.name)) return [];
    const { auth: _, ...provider } = settings;
    return [{
      provider: { ...provider, credential: opened[i] },
      settings: { name: settings.name, preset },
    }];
  });
}

/** @param asked providers whose lists are known, as returned by {@link askedOf} */
export async function effectiveModels(
  config: Config,
  { discovery, asked, now }: { discovery: Discovery | null; asked: readonly Asked[]; now: number },
): Promise<readonly Model[]> {
  if (config.catalog.discover === false) return config.models;
  const lists = new Map(asked.map((one) => [one.settings.name, discovery?.list(one) ?? null]));
  const providers = config.providers.map((provider): ListedProvider => ({
    provider: provider.name,
    preset: presetOf(provider),
    models: lists.get(provider.name) ?? deployed(provider, config.models),
  }));
  const known = new Set(config.providers.filter(isSilent).map(({ name }) => name));
  if (providers.every(({ preset, models }) => preset === null && models === null)) return config.models;
  const [{ mergeCatalog }, { openFacts }] = await Promise.all([
    import("../models/discovered/merge.ts"),
    import("../models/facts/facts.ts"),
  ]);
  const facts = await openFacts();
  const filled = providers.map((one): ListedProvider => ({
    ...one,
    models: one.models ??
      (known.has(one.provider) && one.preset !== null ? facts.names(one.preset).map((id) => ({ id })) : null),
  }));
  return mergeCatalog(config.models, config.catalog, { providers: filled, facts, now });
}

/**
 * The deployments that the file lists for a cloud, without those that its own entries use, which may have
 * other ids.
 */
function deployed({ name, cloud }: ConfiguredProvider, written: readonly Model[]): ListedProvider["models"] {
  if (cloud?.models === undefined) return null;
  const routed = new Set(
    written.flatMap(({ routes }) => routes.filter(({ provider }) => provider === name)).map(({ model }) =>
      model
    ),
  );
  return cloud.models.filter((model) => !routed.has(model)).map((id) => ({ id }));
}

/** The file in which the served catalog is saved for commands; null: the store has no folder. */
export function snapshotFile({ filePrefix }: Pick<Store, "filePrefix">): string | null {
  return filePrefix === null ? null : `${filePrefix}.catalog.json`;
}

/** The file in which a machine saves the lists of its providers; null: the store has no folder. */
export function listsFile({ filePrefix }: Pick<Store, "filePrefix">): string | null {
  return filePrefix === null ? null : `${filePrefix}.models.json`;
}
