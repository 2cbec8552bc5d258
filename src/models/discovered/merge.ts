/**
 * The catalog of a configuration: its own entries and the models that providers list, completed from the
 * table of known models.
 *
 * A model that several providers list is one model, with a route for each in the order of the configuration.
 * Precedence per field: the configuration; then the list of the first route; then the table of known models. The context is the largest
 * of all routes: a request that exceeds that of one goes to the next.
 */
import { sha256Hex } from "../../exchange/hashes.ts";
import { type PriceSheet, sheetAt } from "../../exchange/prices.ts";
import type { Model, ModelRoute } from "../catalog.ts";
import { type CatalogSettings, costOfRoute } from "../config.ts";
import type { FactsTable, ModelFacts } from "../facts/facts.ts";
import { answersConversations, idOf, isLocal, undated } from "./names.ts";

/** A model in a provider's list. */
export interface Listed {
  id: string;
  contextLength?: number;
  maxCompletion?: number;
  pricing?: Readonly<Record<string, string>>;
}

/** A configured provider, with its list. */
export interface ListedProvider {
  provider: string;
  /** The provider's preset; null: none. */
  preset: string | null;
  /** Null: not queried, or it has never answered. */
  models: readonly Listed[] | null;
}

export interface Sources {
  providers: readonly ListedProvider[];
  facts: FactsTable;
  now: number;
}

/** The information of one route about its model. */
interface Known {
  route: ModelRoute;
  preset: string | null;
  listed: Listed;
  facts: ModelFacts | undefined;
}

const FREE = { prompt: "0", completion: "0" };
/** Features assumed if unknown: an error from the provider is more informative than omitting parameters. */
const LIKELY = ["tools", "structured_outputs", "response_format"];

/** The catalog: configured models completed from discovered ones, and the other discovered models. */
export function mergeCatalog(
  written: readonly Model[],
  { unpriced }: Pick<CatalogSettings, "unpriced">,
  { providers, facts, now }: Sources,
): Model[] {
  const found = gather(providers, facts);
  const presets = new Map(providers.map(({ provider, preset }) => [provider, preset]));
  const merged: Model[] = [];
  for (const model of written) {
    const same = found.get(model.id.toLowerCase());
    const routes = model.routes.length > 0
      ? model.routes.map((route) => priced(route, factsOfRoute(route, presets, facts)))
      : same?.routes ?? [];
    // A configured model without routes exists while a provider lists it.
    if (routes.length === 0) continue;
    const known = factsOfRoute(routes[0], presets, facts);
    const base = same?.model ?? (known && modelOf(model.id, [{ ...known, route: routes[0] }], "free"));
    if (base === undefined) merged.push({ ...model, routes });
    else {
      const others = routes.filter((route) => !base.routes.some((r) => isSame(r, route)))
        .map((route) => factsOfRoute(route, presets, facts)?.facts);
      const contextLength = largest([base, ...others]);
      merged.push({ ...overlaid(model, { ...base, contextLength }), routes });
    }
    if (same !== undefined) found.delete(model.id.toLowerCase());
  }
  for (const { model } of found.values()) {
    merged.push(
      model.sheets?.length === 0 && unpriced === "free"
        ? { ...model, pricing: FREE, sheets: undefined }
        : model,
    );
  }
  return named(merged.map((model) => ({ ...model, pricing: priceNow(model, now) })));
}

function priceNow({ pricing, sheets }: Model, now: number): Model["pricing"] {
  return sheets === undefined ? pricing : sheetAt(sheets, now)?.prices ?? {};
}

/** Listed models, by id in lower case. */
function gather(
  providers: readonly ListedProvider[],
  facts: FactsTable,
): Map<string, { routes: ModelRoute[]; model: Model }> {
  const groups = new Map<string, { id: string; known: Known[] }>();
  for (const { provider, preset, models } of providers) {
    for (const listed of models ?? []) {
      const known = preset === null ? undefined : facts.find(preset, listed.id);
      if (known === null || (known === undefined && !answersConversations(listed.id))) continue;
      const id = idOf(preset, provider, listed.id);
      if (!VALID.test(id) || id === "svc/auto") continue;
      const route = { provider, model: listed.id, weight: null };
      const group = groups.get(id.toLowerCase());
      const one = { route, preset, listed, facts: known };
      if (group === undefined) groups.set(id.toLowerCase(), { id, known: [one] });
      // If one provider has several names for the same id, the first counts: the others are regions and
      // versions.
      else if (!group.known.some((k) => k.route.provider === provider)) group.known.push(one);
    }
  }
  joinDates(groups);
  return new Map(
    [...groups].map(([key, { id, known }]) => {
      const ordered = providers.flatMap(({ provider }) => known.filter((k) => k.route.provider === provider));
      const routes = ordered.map((k) => priced(k.route, k));
      return [key, { routes, model: { ...modelOf(id, ordered, "refuse"), routes } }];
    }),
  );
}

/** Ids valid in the configuration. */
const VALID = /^(?=.{3,256}$)[!-)+-.0-~]+\/[!-)+-~]+$/;

/**
 * Some providers include the date in a model's name, others do not. If there is only one date, both mean the
 * same model.
 */
function joinDates(groups: Map<string, { id: string; known: Known[] }>): void {
  const dated = new Map<string, string[]>();
  for (const key of groups.keys()) {
    const short = undated(key);
    if (short !== key) dated.set(short, [...dated.get(short) ?? [], key]);
  }
  for (const [short, [only, ...others]] of dated) {
    const plain = groups.get(short);
    const full = groups.get(only)!;
    if (plain === undefined || others.length > 0) continue;
    const providers = new Set(full.known.map((k) => k.route.provider));
    // A provider that lists both has two models, or an alias that changes.
    if (plain.known.some((k) => providers.has(k.route.provider))) continue;
    full.known.push(...plain.known);
    groups.delete(short);
  }
}

function factsOfRoute(
  route: ModelRoute,
  presets: ReadonlyMap<string, string | null>,
  table: FactsTable,
): Omit<Known, "route"> | undefined {
  const preset = presets.get(route.provider) ?? null;
  const facts = preset === null ? undefined : table.find(preset, route.model);
  return facts ? { preset, listed: { id: route.model }, facts } : undefined;
}

/** Adds the price, if it is known and the configuration has none. */
function priced(route: ModelRoute, known: Omit<Known, "route"> | undefined): ModelRoute {
  const sheet = known && sheetsOf({ ...known, route })?.[0];
  return route.cost !== undefined || sheet === undefined
    ? route
    : { ...route, cost: costOfRoute(sheet.prices) };
}

/** For each field but the context, the first route with a value counts. */
function modelOf(id: string, known: readonly Known[], unpriced: CatalogSettings["unpriced"]): Model {
  const first = <T>(of: (k: Known) => T | undefined): T | undefined => {
    for (const k of known) {
      const value = of(k);
      if (value !== undefined) return value;
    }
  };
  const sheets = first(sheetsOf) ?? [];
  const contextLength = largest(known.map(({ listed, facts }) => listed.contextLength ? listed : facts));
  const maxCompletion = first((k) => k.listed.maxCompletion ?? k.facts?.maxCompletion) ?? null;
  const short = id.slice(id.indexOf("/") + 1);
  return {
    id,
    name: first((k) => k.facts?.name) ?? short,
    routes: known.map((k) => k.route),
    contextLength,
    maxCompletion: maxCompletion !== null && contextLength !== null
      ? Math.min(maxCompletion, contextLength)
      : maxCompletion,
    pricing: sheets[0]?.prices ?? (unpriced === "free" ? FREE : {}),
    sheets: sheets.length === 0 && unpriced === "free" ? undefined : sheets,
    inputs: first((k) => k.facts?.inputs) ?? ["text"],
    outputs: first((k) => k.facts?.outputs) ?? ["text"],
    features: new Set(first((k) => k.facts?.features) ?? LIKELY),
    efforts: first((k) => k.facts?.efforts) ?? null,
    parameters: first((k) => k.facts?.parameters) ?? {},
    knowledgeCutoff: null,
    stickyCache: true,
    // Names used by clients of the messages format.
    shortNames: id.startsWith("anthropic/") ? [short] : [],
  };
}

function isSame(a: ModelRoute, b: ModelRoute): boolean {
  return a.provider === b.provider && a.model === b.model;
}

/** The largest context length; null: none is known. */
function largest(known: readonly ({ contextLength?: number | null } | undefined)[]): number | null {
  const lengths = known.map((one) => one?.contextLength).filter((length) => typeof length === "number");
  return lengths.length === 0 ? null : Math.max(...lengths);
}

function sheetsOf({ preset, listed, facts }: Known): readonly PriceSheet[] | undefined {
  if (listed.pricing !== undefined) {
    // The hash distinguishes earlier and later prices of the list.
    const source = `listed ${sha256Hex(JSON.stringify(listed.pricing)).slice(0, 8)}`;
    return [{ source, from: 0, hours: null, prices: listed.pricing, tiers: [] }];
  }
  // A self-hosted server has no price per token.
  if (isLocal(preset)) return [{ source: "own server", from: 0, hours: null, prices: FREE, tiers: [] }];
  return facts?.sheets;
}

/** Configuration fields, and the fields of a model that they set. */
const FIELDS: readonly (readonly [written: string, fields: readonly (keyof Model)[]])[] = [
  ["name", ["name"]],
  ["contextLength", ["contextLength"]],
  ["maxCompletionTokens", ["maxCompletion"]],
  ["defaultCompletionTokens", ["defaultOutput"]],
  ["pricing", ["pricing", "sheets"]],
  ["modalityInput", ["inputs"]],
  ["modalityOutput", ["outputs"]],
  ["features", ["features"]],
  ["reasoningEfforts", ["efforts"]],
  ["knowledgeCutoff", ["knowledgeCutoff"]],
  ["parameters", ["parameters"]],
];

function overlaid(written: Model, base: Model): Model {
  const merged: Model = { ...written };
  const target = merged as unknown as Record<string, unknown>;
  for (const [field, names] of FIELDS) {
    if (written.given?.has(field)) continue;
    for (const name of names) target[name] = base[name];
  }
  // A configured model with routes and without a price is free.
  if (merged.sheets?.length === 0 && written.routes.length > 0) {
    return { ...merged, pricing: written.pricing, sheets: written.sheets };
  }
  const shortNames = [...new Set([...written.shortNames, ...base.shortNames])];
  return { ...merged, shortNames };
}

/** Adds aliases to models, unless they are ambiguous. */
function named(models: readonly Model[]): Model[] {
  const ids = new Set(models.map(({ id }) => id));
  const dated = new Map<string, number>();
  for (const { id } of models) dated.set(undated(id), (dated.get(undated(id)) ?? 0) + 1);
  const shorts = new Set<string>();
  return models.map((model) => {
    const plain = undated(model.id);
    const alone = plain !== model.id && !ids.has(plain) && dated.get(plain) === 1;
    const more = alone && model.id.startsWith("anthropic/") ? [plain.slice(plain.indexOf("/") + 1)] : [];
    // A short name belongs to the first model: configured entries come first.
    const shortNames = [...model.shortNames, ...more].filter((name) => !shorts.has(name) && shorts.add(name));
    return { ...model, shortNames, ...(alone && { aliases: [plain] }) };
  });
}
