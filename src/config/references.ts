/**
 * Mistakes that concern several fields: references to names that do not exist, duplicate names, fields that
 * require each other.
 *
 * Reads the value as it was written, before the schema is applied, so that a wrong port does not hide a wrong
 * provider name. Values of the wrong type are ignored here; the schema reports them.
 */
import { FEE_KINDS } from "../exchange/fees.ts";
import { isObject, type Loose, object } from "../exchange/json.ts";
import { KEY_PREFIX } from "../exchange/key_prefix.ts";
import { LEFT_OUT } from "../accounts/config.ts";
import { needsOf } from "../websearch/engines/needs.ts";
import { PROVIDER_APIS } from "../providers/apis/mod.ts";
import { PRESETS } from "../providers/presets.ts";
import { checkUnknownName, isUnknownName, warnOfProvider } from "./provider_slips.ts";
import { readMoment } from "../schema/fields.ts";
import { type InputPath, oneOf, pathText, type Report } from "../schema/mistakes.ts";
import { type Item, items, known, named, Names, type Spot, spots, strings, unique } from "./written_items.ts";

/** Shorter secrets, not counting the prefix of a key, can be found by trying. */
const LEAST_SECRET = 16;

function guessable(path: InputPath): string {
  return `${
    pathText(path)
  }: so short that it can be guessed; expected ${LEAST_SECRET} random characters or more`;
}

/** A higher price was probably meant per million tokens. */
const HIGHEST_TOKEN_PRICE = 0.01;

/** The lists of a configuration that the checks read, and names in them. */
interface Written {
  config: Loose;
  providers: Loose;
  models: readonly Item[];
  keys: readonly Item[];
  teams: readonly Item[];
  /** The first team of each name. */
  teamsByName: ReadonlyMap<unknown, Loose>;
  teamNames: Names;
  /** Names of the accounts; `default` if none are configured. */
  accounts: readonly Spot[];
  accountNames: Names;
  /** Ids of the models. */
  ids: readonly Spot[];
  idNames: Names;
  /** Whether there are more models than those, see {@link hasOthers}. */
  discovers: boolean;
}

/** Reports every such mistake; `root` may have any type. */
export function checkReferences(root: unknown, report: Report): void {
  const written = writtenIn(object(root));
  const { config, keys, teams } = written;
  checkNames(config, report);
  checkDuplicates(written, report);
  checkProviders(written, report);
  checkModels(written, report);
  if (object(config.dlp).enabled === false) {
    for (const { path } of [...spots(keys, "dlp_policy"), ...spots(teams, "dlp_policy")]) {
      report.warnings.push(`${pathText(path)}: not applied, as \`dlp.enabled\` is false`);
    }
  }
  warnOfPayloads(config, [
    keys,
    named(config.dlp_policies, "dlp_policies"),
    named(config.access_policies, "access_policies"),
  ], report);
  const { oidc } = config;
  if (Object.keys(object(object(object(oidc).roles).map)).length === 0 && isObject(oidc)) {
    report.warnings.push("oidc.roles.map: empty, so nobody can sign in through the identity provider");
  }
  checkAlerts(config, report);
  checkSecrets(written, report);
  checkKeys(written, report);
  checkAuto(written, report);
  for (const account of spots(teams, "account")) checkAccount(account, written, report);
  checkPolicies(written, report);
  checkSearch(object(config.search), report);
}

function writtenIn(config: Loose): Written {
  const models = items(config.models, ["models"]);
  const teams = items(config.teams, ["teams"]);
  const accounts = config.accounts === undefined
    ? [{ text: "default", path: [] }]
    : spots(items(config.accounts, ["accounts"]), "name");
  const ids = spots(models, "id");
  return {
    config,
    providers: object(config.providers),
    models,
    keys: items(config.keys, ["keys"]),
    teams,
    // Of several pairs of one name the last one stays.
    teamsByName: new Map(teams.map(({ value }): [unknown, Loose] => [value.name, value]).reverse()),
    teamNames: namesOf(spots(teams, "name")),
    accounts,
    accountNames: namesOf(accounts),
    ids,
    idNames: namesOf(ids),
    discovers: hasOthers(config, models),
  };
}

const namesOf = (spots: readonly Spot[]) => new Names(spots.map(({ text }) => text));

/** The administrator's key, if it is set. */
function adminKeyOf({ config: { admin_key } }: Written): Spot[] {
  return typeof admin_key === "string" ? [{ text: admin_key, path: ["admin_key"] }] : [];
}

/** Reports duplicate names, addresses and secrets within each kind. */
function checkDuplicates(written: Written, report: Report): void {
  const { config, models, keys, teams, accounts, ids } = written;
  unique(ids, report);
  unique(accounts, report);
  unique(models.flatMap(({ value, path }) => strings(value.short_names, [...path, "short_names"])), report);
  unique(spots(keys, "name"), report);
  unique(spots(teams, "name"), report);
  unique(spots(items(config.webhooks, ["webhooks"]), "url"), report);
  unique(spots(items(config.alerts, ["alerts"]), "name"), report);
  unique([...adminKeyOf(written), ...spots(keys, "secret")], report);
}

/** Checks that each provider has an address unless its API has a default one, and an API that its cloud offers. */
function checkProviders({ config, providers, models, discovers }: Written, report: Report): void {
  if (models.length === 0 && !discovers && Object.keys(providers).length > 0) {
    const allowed = "a list of at least one model, as no provider is asked for its own";
    report.expect(allowed, config.models, ["models"]);
  }
  if (config.providers !== undefined && Object.keys(providers).length === 0) {
    report.warnings.push("providers: there are none, so no model can be asked");
  }
  for (const [name, provider] of Object.entries(providers)) {
    if (!isObject(provider)) continue;
    const { api, base_url, preset } = provider;
    const own = PROVIDER_APIS.find(({ name }) => name === api);
    const cloud = cloudOf(preset);
    if (own !== undefined && cloud !== undefined) {
      known({ text: own.name, path: ["providers", name, "api"] }, new Names(cloud.apis), "", report);
    }
    const needsAddress = own === undefined || own.needsBaseUrl;
    if (isUnknownName(provider)) {
      checkUnknownName(name, report);
    } else if (needsAddress && (base_url === undefined || base_url === "")) {
      report.expect("an http:// or https:// address", base_url, ["providers", name, "base_url"]);
    }
    warnOfProvider(name, provider, report);
  }
}

/** Checks that each model has a unique id, routes to existing providers, and plausible prices per token. */
function checkModels({ providers, models, ids, discovers }: Written, report: Report): void {
  for (const { text, path } of ids) {
    if (text === "svc/auto") report.expect("another id, this one is the gateway's own", text, path);
  }
  const names = new Names(Object.keys(providers));
  for (const { value, path } of models) {
    if (value.routes === undefined && !discovers) {
      const allowed = "a list of at least one route, as no provider is asked for its models";
      report.expect(allowed, undefined, [...path, "routes"]);
    }
    checkRoutes(items(value.routes, [...path, "routes"]), { providers, names }, report);
    if (value.pricing === undefined) {
      report.warnings.push(
        `${pathText([...path, "pricing"])}: left out, so the model costs nothing unless its price is known`,
      );
    }
    warnOfHighPrices({ value: object(value.pricing), path: [...path, "pricing"] }, report);
    for (const tier of items(value.pricing_tiers, [...path, "pricing_tiers"])) warnOfHighPrices(tier, report);
    for (const change of items(value.price_changes, [...path, "price_changes"])) {
      const { pricing, pricing_tiers: tiers } = change.value;
      warnOfHighPrices({ value: object(pricing), path: [...change.path, "pricing"] }, report);
      for (const tier of items(tiers, [...change.path, "pricing_tiers"])) warnOfHighPrices(tier, report);
    }
  }
}

/** Price fields that are not prices of a token. */
const OF_OTHERS: ReadonlySet<string> = new Set([
  "request",
  "web_search",
  ...FEE_KINDS,
  "above_input_tokens",
  "service_tier",
]);

function warnOfHighPrices({ value, path }: Item, report: Report): void {
  for (const [kind, price] of Object.entries(value)) {
    if (OF_OTHERS.has(kind) || !(Number(price) > HIGHEST_TOKEN_PRICE)) continue;
    const where = pathText([...path, kind]);
    report.warnings.push(`${where}: ${price} for one token; prices are for a token, not for a million`);
  }
}

function checkRoutes(
  routes: readonly Item[],
  { providers, names }: { providers: Loose; names: Names },
  report: Report,
): void {
  for (const route of spots(routes, "provider")) known(route, names, "the providers ", report);
  for (const { value: { api, provider }, path } of routes) {
    if (typeof api !== "string") continue;
    const apis = apisOf(typeof provider === "string" ? object(providers[provider]) : {});
    known({ text: api, path: [...path, "api"] }, new Names(apis), "", report);
  }
}

/** Alerts by mail require `smtp`. A webhook has one secret, with which the deliveries of all rules are signed. */
function checkAlerts(config: Loose, report: Report): void {
  const noMail = config.smtp === undefined || config.smtp === null;
  const secrets = new Map<unknown, { secret: unknown; path: InputPath }>();
  for (const { value, path } of items(config.alerts, ["alerts"])) {
    for (const { value: { email, webhook, secret }, path: at } of items(value.to, [...path, "to"])) {
      if (email !== undefined && noMail) {
        report.expect("no mail address, as there is no `smtp`", email, [...at, "email"]);
      }
      if (typeof webhook !== "string") continue;
      const first = secrets.get(webhook);
      if (first === undefined) secrets.set(webhook, { secret, path: [...at, "secret"] });
      else if (first.secret !== secret) {
        report.expect(`the same value as ${pathText(first.path)}, of the same webhook`, secret, [
          ...at,
          "secret",
        ]);
      }
    }
  }
}

/** Checks that secrets have a valid form and cannot be guessed. */
function checkSecrets(written: Written, report: Report): void {
  for (const { text, path } of adminKeyOf(written)) {
    if (text.length < LEAST_SECRET) report.warnings.push(guessable(path));
  }
  for (const { text, path } of spots(written.keys, "secret")) {
    if (text === LEFT_OUT) {
      report.doubt("a secret: this one is left out, so nobody can use the key", text, path);
    } else if (text.length < KEY_PREFIX.length + LEAST_SECRET) report.warnings.push(guessable(path));
  }
}

/** Checks that keys have not expired and that their team and account exist. */
function checkKeys(written: Written, report: Report): void {
  const { keys, teamsByName } = written;
  for (const { text, path } of spots(keys, "expires_at")) {
    const ends = readMoment(text);
    if (ends === null || ends > Date.now()) continue;
    report.doubt("a time later than now (calls of the key are refused)", text, path);
  }
  for (const { value, path } of keys) {
    checkTeam({ value, path }, written, report);
    const account = value.account ?? teamsByName.get(value.team)?.account ?? "default";
    if (typeof account !== "string") continue;
    checkAccount({ text: account, path: [...path, "account"] }, written, report);
  }
}

function checkAccount(account: Spot, { accountNames }: Written, report: Report): void {
  known(account, accountNames, "the accounts ", report);
}

/** The cloud of a preset; undefined: the preset is not one of a cloud. */
function cloudOf(preset: unknown) {
  return PRESETS.find(({ name }) => name === preset)?.cloud;
}

/** The APIs that routes to a provider may name. A provider without an address has only the API of its own. */
function apisOf(provider: Loose): readonly string[] {
  const cloud = cloudOf(provider.preset);
  if (cloud !== undefined) return cloud.apis;
  const own = PROVIDER_APIS.find(({ name }) => name === provider.api);
  if (own && !own.needsBaseUrl) return [own.name];
  return PROVIDER_APIS.filter(({ needsBaseUrl }) => needsBaseUrl).map(({ name }) => name);
}

/**
 * Whether some provider is asked for its models or has deployments, so that the catalog has more models than
 * `models`.
 */
function hasOthers(config: Loose, models: readonly Item[]): boolean {
  const { discover } = object(config.catalog);
  if (discover === false) return false;
  const routed = new Set(
    models.flatMap(({ value, path }) => spots(items(value.routes, [...path, "routes"]), "provider"))
      .map(({ text }) => text),
  );
  return Object.entries(object(config.providers)).some(([name, provider]) => {
    const { preset, api, deployments } = object(provider);
    const cloud = cloudOf(preset);
    const lists = cloud === undefined
      ? PROVIDER_APIS.some((known) => known.name === api && known.modelsList !== null)
      : cloud.modelsList !== null || Object.keys(object(deployments)).length > 0 ||
        Array.isArray(deployments) && deployments.length > 0;
    return lists && (discover === true || preset !== undefined || !routed.has(name));
  });
}

/** Checks that a key's team exists, and that the key names no other account than its team. */
function checkTeam({ value: key, path }: Item, { teamsByName, teamNames }: Written, report: Report): void {
  if (typeof key.team !== "string") return;
  known({ text: key.team, path: [...path, "team"] }, teamNames, "the teams ", report);
  const account = teamsByName.get(key.team)?.account;
  if (typeof account === "string" && typeof key.account === "string" && key.account !== account) {
    report.expect(`${JSON.stringify(account)}, which is the team's account, or none`, key.account, [
      ...path,
      "account",
    ]);
  }
}

/** Names of JavaScript's own properties are lost when the schema is applied. */
function checkNames(config: Loose, report: Report): void {
  const sections: InputPath[] = [["providers"], ["dlp_policies"], ["access_policies"]];
  const headers = Object.keys(object(config.providers)).map((
    name,
  ): InputPath => ["providers", name, "headers"]);
  for (const path of [...sections, ...headers]) {
    const entries = path.reduce<Loose>((holder, step) => object(holder[step]), config);
    if (Object.hasOwn(entries, "__proto__")) {
      report.expect("another name", "__proto__", [...path, "__proto__"]);
    }
  }
}

function checkAuto({ config, ids, idNames, discovers }: Written, report: Report): void {
  const wanted = strings(object(config.auto).models, ["auto", "models"]);
  unique(wanted, report);
  const strange = wanted.filter(({ text }) => !idNames.has(text));
  // The example in the specification names a model that it does not configure. svc/auto ignores such models,
  // unless none is left.
  const add = strange.length === wanted.length && !discovers ? report.expect : report.doubt;
  // Providers list models whose ids are unknown here.
  if (discovers && ids.length === 0) return;
  const { all } = idNames;
  for (const { text, path } of strange) add(oneOf(all, "the models "), text, path, all);
}

/**
 * Policies can change while the gateway runs. Calls of a key whose policy is missing are refused; the key
 * itself is no mistake here.
 */
function checkPolicies({ config, keys, teams, ids, discovers }: Written, report: Report): void {
  const holders = [...keys, ...teams];
  for (const kind of ["access_policy", "dlp_policy"]) {
    const plural = kind.replace(/y$/, "ies");
    const names = new Names(Object.keys(object(config[plural])));
    const { all } = names;
    for (const { text, path } of spots(holders, kind)) {
      if (names.has(text)) continue;
      const allowed = all.length ? oneOf(all, `the ${plural} `) : `null, as there are no ${plural}`;
      report.doubt(`${allowed} (its calls are refused until then)`, text, path, all);
    }
  }
  const policies = Object.entries(object(config.access_policies)).flatMap(([name, policy]) =>
    ["allow", "deny"].flatMap((list) => strings(object(policy)[list], ["access_policies", name, list]))
  );
  const views = holders.flatMap(({ value, path }) => strings(value.models, [...path, "models"]));
  const catalog = namesOf([...ids, { text: "svc/auto", path: [] }]);
  if (discovers && ids.length === 0) return;
  for (const { text, path } of [...policies, ...views]) {
    if (text.includes("*") || catalog.has(text)) continue;
    report.doubt(`${oneOf(catalog.all, "the models ")} or a pattern`, text, path, catalog.all);
  }
}

function checkSearch(search: Loose, report: Report): void {
  const { engine } = search;
  const needs = needsOf(engine);
  if (needs === undefined) return;
  const lacks = (field: "base_url" | "api_key") =>
    needs.includes(field) && (search[field] === undefined || search[field] === "");
  if (lacks("base_url")) {
    report.expect(`the address of the ${engine} server`, search.base_url, ["search", "base_url"]);
  }
  if (!lacks("api_key")) return;
  // A search server of the operator's own may have the key in its address.
  const add = search.base_url === undefined || search.base_url === "" ? report.expect : report.doubt;
  add(`a key, since ${engine} answers no one without`, search.api_key, ["search", "api_key"]);
}

/** Warns of keys and teams that ask for stored payloads without a section `payloads`. */
function warnOfPayloads(config: Loose, holders: readonly (readonly Item[])[], report: Report): void {
  if (config.payloads !== undefined && config.payloads !== null) return;
  for (const { value, path } of holders.flat()) {
    if (value.payloads !== true) continue;
    report.warnings.push(
      `${
        pathText([...path, "payloads"])
      }: nothing is kept, as the configuration has no \`payloads\` to say where`,
    );
  }
}
