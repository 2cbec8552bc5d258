/**
 * The catalog: models, their visibility to keys, and resolution of names.
 *
 * There are two separate restrictions: the model list of a key hides models (404, as if they did not exist),
 * an access policy forbids them (listed, but refused with 403). A policy that is referred to but missing
 * forbids everything.
 */
import { Failure } from "../exchange/failure.ts";
import type { Parameters } from "../exchange/parameters.ts";
import type { Effort } from "../exchange/prompt.ts";
import { type Prices, type PriceSheet, sheetAt } from "../exchange/prices.ts";
import { matchesAny } from "./patterns.ts";

/** The id for automatic selection. */
export const AUTO = "svc/auto";

export interface ModelRoute {
  provider: string;
  model: string;
  /** Absent: the provider's default. */
  api?: string;
  weight: number | null;
  /** A single number for comparing the prices of a model's routes. Absent: unknown. */
  cost?: number;
}

export interface Model {
  id: string;
  /** Further ids of the model: the same name with or without its date. */
  aliases?: readonly string[];
  name: string;
  routes: readonly ModelRoute[];
  /** Context length in tokens; null if unknown. */
  contextLength: number | null;
  maxCompletion: number | null;
  /** Output limit for requests without one. */
  defaultOutput?: number | null;
  /** Current prices per token, under the names of the list. */
  pricing: Prices;
  /** Past, current and future prices. Empty: unknown. Absent: `pricing` always applies. */
  sheets?: readonly PriceSheet[];
  inputs: readonly string[];
  outputs: readonly string[];
  features: ReadonlySet<string>;
  efforts: readonly Effort[] | null;
  /** Such as `2025-05`; null or absent: unknown. */
  knowledgeCutoff?: string | null;
  parameters: Parameters;
  /** The order in which routes are tried. Absent: as written. */
  order?: "written" | "price" | "latency";
  /**
   * All turns of a conversation use the same one of the routes that share the load, since it has the prompt
   * in its cache.
   */
  stickyCache: boolean;
  shortNames: readonly string[];
  /** Fields set in the configuration, by internal name; they take precedence over discovered values. */
  given?: ReadonlySet<string>;
}

/** The models that a key may list and use. */
export interface ModelAccess extends ModelRights {
  /** The rights of its team, which apply as well; null: no team. */
  team: ModelRights | null;
}

interface ModelRights {
  models: readonly string[] | null;
  accessPolicy: { allow: readonly string[]; deny: readonly string[] } | "missing" | null;
}

/** A catalog entry in `GET /v1/models`. */
export interface Listing {
  id: string;
  object: "model";
  name: string;
  /** Creation time in seconds since the epoch, and the owner: required by OpenAI's clients. */
  created: number;
  owned_by: string;
  /** The same data in the form required by Anthropic's clients. */
  type: "model";
  display_name: string;
  created_at: string;
  max_input_tokens: number | null;
  max_tokens: number | null;
  lifecycle: "active";
  line: null;
  deprecated_at: null;
  retires_at: null;
  context_length: number | null;
  max_completion_tokens: number | null;
  /** Prices without a service tier; null if unknown. */
  pricing: Record<string, string | null>;
  pricing_tiers?: Record<string, string | number>[];
  reasoning_efforts?: readonly Effort[];
  knowledge_cutoff?: string;
  capabilities: { modality_input: string[]; modality_output: string[]; features: string[] };
}

export interface Catalog {
  readonly models: readonly Model[];
  /** Visible models in catalog order; `svc/auto` first, if it is available. */
  list(access: ModelAccess, options?: Asker): Listing[];
  /** The body of `GET /v1/models`. */
  listText(access: ModelAccess, options?: Asker): string;
  /**
   * The models among which `svc/auto` chooses for the key; null: the catalog has none to choose from. Throws `model_not_found`,
   * `policy_violation`.
   */
  choices(access: ModelAccess, options?: Asker): readonly Model[] | null;
  find(id: string): Model | undefined;
  /**
   * Resolves a model name. Throws `model_not_found`, `policy_violation`. With `short`, short names are tried
   * too: exact matches first, then the longest prefix.
   */
  resolve(name: string, access: ModelAccess, options: { short: boolean } & Asker): Model;
}

export interface Asker {
  /** The key's spending is limited, so models without a price are hidden. */
  limited?: boolean;
}

/** Whether the model's price is known. */
export function isPriced({ sheets }: Model): boolean {
  return sheets === undefined || sheets.length > 0;
}

const implied = new WeakMap<Model, PriceSheet>();

/** The prices at a time in milliseconds since the epoch. */
export function sheetOf(model: Model, time: number): PriceSheet {
  const sheet = model.sheets && sheetAt(model.sheets, time);
  if (sheet !== undefined) return sheet;
  let made = implied.get(model);
  if (made === undefined) {
    const source = isPriced(model) ? "file" : "unknown";
    made = { source, from: 0, hours: null, prices: model.pricing, tiers: [] };
    implied.set(model, made);
  }
  return made;
}

/** The ids that a key's patterns are compared with: all ids of a model, because callers may use each of them. */
type Identified = Pick<Model, "id" | "aliases">;

/** `svc/auto` as patterns see it. */
const ROUTER: Identified = { id: AUTO };

/** Whether a key, and its team, sees a model. */
export function isVisible(access: ModelAccess, model: Identified): boolean {
  return shows(access, model) && (access.team === null || shows(access.team, model));
}

function shows({ models }: ModelRights, model: Identified): boolean {
  return models === null || isMeant(models, model);
}

/** Whether a key, and its team, may call a model. */
export function isPermitted(access: ModelAccess, model: Identified): boolean {
  return permits(access, model) && (access.team === null || permits(access.team, model));
}

function permits({ accessPolicy: policy }: ModelRights, model: Identified): boolean {
  if (policy === null) return true;
  if (policy === "missing") return false;
  return isMeant(policy.allow, model) && !isMeant(policy.deny, model);
}

/** Whether the policy of a key, or of its team, names `svc/auto` as forbidden. */
function isRouterDenied(access: ModelAccess): boolean {
  const denies = ({ accessPolicy: policy }: ModelRights) =>
    policy !== null && policy !== "missing" && isMeant(policy.deny, ROUTER);
  return denies(access) || (access.team !== null && denies(access.team));
}

function isMeant(patterns: readonly string[], { id, aliases }: Identified): boolean {
  return matchesAny(patterns, id) || (aliases?.some((alias) => matchesAny(patterns, alias)) ?? false);
}

/**
 * The models among which `svc/auto` chooses for a key. Throws `model_not_found` if the key sees none of them or its patterns
 * do not match `svc/auto`, and `policy_violation` if its access policy allows none of them or denies `svc/auto` itself.
 */
export function choicesOf(
  models: readonly Model[],
  access: ModelAccess,
  { limited = false }: Asker,
): readonly Model[] {
  const seen = models.filter((model) => isVisible(access, model) && !(limited && !isPriced(model)));
  if (seen.length === 0 || !isVisible(access, ROUTER)) {
    throw new Failure("model_not_found", `Cannot find model ${AUTO}: this key has none to choose from.`, {
      param: "model",
    });
  }
  const permitted = seen.filter((model) => isPermitted(access, model));
  if (permitted.length === 0 || isRouterDenied(access)) throw forbidden(AUTO);
  return permitted;
}

/**
 * @param created time of loading, in seconds since the epoch
 * @param now clock in milliseconds since the epoch; default: prices do not change
 */
export function openCatalog(
  models: readonly Model[],
  auto: readonly string[],
  created: number,
  now: () => number = () => created * 1000,
): Catalog {
  const byId = new Map([
    ...models.flatMap((m) => (m.aliases ?? []).map((alias) => [alias, m] as const)),
    ...models.map((m) => [m.id, m] as const),
  ]);
  const routed = auto.map((id) => byId.get(id)).filter((m) => m !== undefined);
  /** Listings as JSON, created on demand: as objects, thousands of models would take several times the memory. */
  const texts = new Map<Model, { sheet: PriceSheet; text: string }>();

  function textOf(model: Model): string {
    const sheet = sheetOf(model, now());
    let known = texts.get(model);
    if (known?.sheet !== sheet) {
      texts.set(model, known = { sheet, text: JSON.stringify(listing(model, created, now())) });
    }
    return known.text;
  }

  function seen(access: ModelAccess, { limited = false }: Asker): readonly Model[] {
    return models.filter((model) => isVisible(access, model) && !(limited && !isPriced(model)));
  }

  /** Null: there is no choice, or the key's patterns do not name it. */
  function autoEntry(access: ModelAccess, { limited = false }: Asker): Listing | null {
    const choices = routed.filter((m) => isVisible(access, m) && !(limited && !isPriced(m)));
    return choices.length > 0 && isVisible(access, ROUTER) ? autoListing(choices, created) : null;
  }

  function byShortName(name: string): Model | undefined {
    // The text after a prefix is recorded, so its length and characters are restricted.
    if (!/^[!-~]{1,256}$/.test(name)) return undefined;
    let best: Model | undefined;
    let bestLength = -1;
    for (const model of models) {
      for (const short of model.shortNames) {
        if (short === name) return model;
        const prefix = short.endsWith("*") ? short.slice(0, -1) : null;
        if (prefix !== null && name.startsWith(prefix) && prefix.length > bestLength) {
          best = model;
          bestLength = prefix.length;
        }
      }
    }
    return best;
  }

  return {
    models,
    find: (id) => byId.get(id),
    choices: (access, asker = {}) => routed.length === 0 ? null : choicesOf(routed, access, asker),
    list(access, asker = {}) {
      const entry = autoEntry(access, asker);
      const rest = seen(access, asker).map((model) => listing(model, created, now()));
      return entry === null ? rest : [entry, ...rest];
    },
    listText(access, asker = {}) {
      const entry = autoEntry(access, asker);
      const rest = seen(access, asker);
      const data = rest.map(textOf);
      if (entry !== null) data.unshift(JSON.stringify(entry));
      const first = entry?.id ?? rest.at(0)?.id ?? null;
      const last = rest.at(-1)?.id ?? entry?.id ?? null;
      // A single page, with the fields of both families of clients.
      return `{"object":"list","data":[${data.join()}],"has_more":false,"first_id":${
        JSON.stringify(first)
      },"last_id":${JSON.stringify(last)}}`;
    },
    resolve(name, access, { short, limited = false }) {
      const model = byId.get(name) ?? (short ? byShortName(name) : undefined);
      if (!model || !isVisible(access, model)) {
        throw new Failure(
          "model_not_found",
          `Cannot find model ${
            JSON.stringify(name.slice(0, 200))
          }: it is not in this key's catalog; GET /v1/models lists what is.`,
          { param: "model" },
        );
      }
      if (limited && !isPriced(model)) throw unpriced(model);
      if (!isPermitted(access, model)) throw forbidden(model.id);
      return model;
    },
  };
}

/** The access policy of a key does not allow a model. */
function forbidden(id: string): Failure {
  return new Failure("policy_violation", `The access policy of this key does not allow model ${id}.`, {
    param: "model",
  });
}

function unpriced({ id }: Model): Failure {
  return new Failure(
    "model_not_found",
    `Cannot use model ${id} with this key: its price is not known, and the key's spending has a limit.`,
    {
      param: "model",
      operator: `${id} has no price: give it one in models[].pricing, or say catalog.unpriced: "free"`,
    },
  );
}

function listing(model: Model, created: number, now: number): Listing {
  const { prices, tiers } = sheetOf(model, now);
  const known = (prices: Prices) =>
    Object.fromEntries(Object.entries(prices).filter(([, price]) => price !== undefined)) as Record<
      string,
      string
    >;
  return {
    id: model.id,
    object: "model",
    owned_by: model.id.slice(0, model.id.indexOf("/")),
    ...described({ name: model.name, created, context: model.contextLength, output: model.maxCompletion }),
    pricing: isPriced(model) ? known(prices) : { prompt: null, completion: null },
    ...(tiers.length > 0 && {
      pricing_tiers: tiers.map(({ above, service, prices }) => ({
        ...(above > 0 && { above_input_tokens: above }),
        ...(service !== null && { service_tier: service }),
        ...known(prices),
      })),
    }),
    ...(model.efforts !== null && { reasoning_efforts: model.efforts }),
    ...(model.knowledgeCutoff && { knowledge_cutoff: model.knowledgeCutoff }),
    capabilities: {
      modality_input: [...model.inputs],
      modality_output: [...model.outputs],
      features: [...model.features],
    },
  };
}

interface Described {
  name: string;
  created: number;
  context: number | null;
  output: number | null;
}

/** Fields of both families of clients, under their respective names. */
function described({ name, created, context, output }: Described) {
  return {
    name,
    created,
    context_length: context,
    max_completion_tokens: output,
    type: "model",
    display_name: name,
    created_at: new Date(created * 1000).toISOString(),
    max_input_tokens: context,
    max_tokens: output,
    lifecycle: "active",
    line: null,
    deprecated_at: null,
    retires_at: null,
  } as const;
}

/** The union of the choices' features, at the highest of their prices: an answer costs what its model costs. */
function autoListing(choices: readonly Model[], created: number): Listing {
  const most = (values: (number | null)[]) =>
    values.some((v) => v === null) ? null : Math.max(...values as number[]);
  const union = (lists: Iterable<string>[]) => [...new Set(lists.flatMap((l) => [...l]))];
  const highestPrice = (kind: string) =>
    choices.map((m) => m.pricing[kind] ?? "0").reduce((a, b) => Number(b) > Number(a) ? b : a);
  return {
    id: AUTO,
    object: "model",
    owned_by: "svc",
    ...described({
      name: "Auto: the gateway chooses",
      created,
      context: most(choices.map((m) => m.contextLength)),
      output: most(choices.map((m) => m.maxCompletion)),
    }),
    pricing: { prompt: highestPrice("prompt"), completion: highestPrice("completion") },
    capabilities: {
      modality_input: union(choices.map((m) => m.inputs)),
      modality_output: union(choices.map((m) => m.outputs)),
      features: union(choices.map((m) => m.features)),
    },
  };
}
