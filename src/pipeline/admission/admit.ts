/**
 * Guard: decodes the request, chooses its model, and reserves its highest possible cost. Everything that can be refused without calling a
 * provider is refused here, with its own HTTP status.
 */
import type { Arrival, Call, Screened } from "../call.ts";
import type { Key } from "../../accounts/mod.ts";
import type { Kit } from "../kit.ts";
import { Failure } from "../../exchange/failure.ts";
import type { Labels } from "../../exchange/labels.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import { type BodyLeaves, readLeaves } from "../../formats/leaves/mod.ts";
import type { AutoRouter } from "../../models/auto.ts";
import { AUTO, type Catalog, type Model, sheetOf } from "../../models/catalog.ts";
import { countIfOver, leastTokens, measure, type PromptSize, refuseOversize } from "../../models/limits.ts";
import { isShortName } from "../answer_name.ts";
import { distinguishMasked, labelsOf } from "./labels.ts";
import { type NamedModel, namedModels } from "./named_models.ts";
import { ownRoutes } from "./caller_credential.ts";
import { admissionOf, planOf } from "./plan.ts";
import { type Identities, setPseudonyms } from "./pseudonyms.ts";
import { wantsSearch } from "../shape.ts";
import { grantedCap } from "./upper_bound.ts";

/** Result of screening a request. */
interface Screening {
  /** Null: nothing was checked. */
  screened: Screened | null;
  /** What the request says of its caller, before anything was masked; null: nothing was checked. */
  sent: { labels: Labels | null; identities: Identities | null } | null;
}

/**
 * Decodes the request, chooses the model, checks sizes and permissions, and reserves the highest possible cost. Throws the `Failure` for
 * the caller; nothing is reserved then.
 */
export async function admit(
  arrival: Arrival,
  { screened, sent }: Screening,
  kit: Kit,
): Promise<Call> {
  const { format, key, large } = arrival;
  const { unseal, fingerprint } = kit.sealer.of(key.account);
  const labels = distinguishMasked(labelsOf(arrival.header, arrival.body), sent?.labels ?? null, fingerprint);
  if (sent?.identities) setPseudonyms(arrival.body, sent.identities, fingerprint);
  const decode = () => format.decodeRequest(arrival.body, { unseal, headers: arrival.headers });
  const look = (prompt: Prompt) => {
    const reading = readLeaves(arrival.body, arrival.format.leaves);
    const size = measure(prompt, reading, kit.limits);
    return { reading, size, named: namedModels(prompt, arrival.body) };
  };
  let prompt: Prompt;
  let read: Read;
  if (large) ({ prompt, read } = await kit.slices.run(key.id, inSteps(decode, look), "convert"));
  else {
    prompt = kit.metrics.holding("convert", decode);
    read = look(prompt);
  }
  const { size, named } = read;
  const choosing = choose(prompt, read, arrival, kit);
  const { model, headers } = choosing instanceof Promise ? await choosing : choosing;
  refuseOversize(size, model.contextLength);
  const auto = prompt.model === AUTO && kit.auto !== null
    ? { maxOutput: prompt.maxOutput, tried: new Set<Model>() }
    : null;
  // A reload while the call waits does not change its prices.
  const plan = planOf({ arrival, prompt, model, size, named }, kit);
  const { routes, callerCredential, shape, others, estimate, searchPrice } = plan;
  const created = kit.now();
  const began = kit.ticker.now();
  const sheet = sheetOf(model, created);
  const reservation = await kit.accounts.admit(
    admissionOf({ arrival, prompt, model, plan, created, labels }, kit),
  );
  arrival.steps.waited("budget", kit.ticker.now() - began);
  if (reservation.output < estimate.output && prompt.maxOutput === undefined) {
    prompt.maxOutput = grantedCap(prompt, model, reservation.output);
  }
  if (screened) Object.assign(headers, screened.headers);
  return {
    arrival,
    prompt,
    model,
    routes,
    callerCredential,
    shape,
    others,
    size,
    reservation,
    labels,
    sheet,
    searchPrice,
    asked: 0,
    together: null,
    uses: [],
    lost: [],
    screened,
    created,
    began,
    headers,
    auto,
    large: false,
    memory: null,
    repaired: 0,
    provider: null,
    answers: new Set(),
    deltaSink: null,
    cut: false,
  };
}

function* inSteps(
  decode: () => Prompt,
  look: (prompt: Prompt) => Read,
): Generator<void, { prompt: Prompt; read: Read }> {
  const prompt = decode();
  yield;
  return { prompt, read: look(prompt) };
}

export interface Chosen {
  model: Model;
  headers: Record<string, string>;
}

/** Data of a request that is known before its model is chosen. */
export interface Read {
  reading: BodyLeaves;
  size: PromptSize;
  named: readonly NamedModel[] | null;
}

/** The requested model, or the one that automatic routing chooses. A promise only if tokens have to be counted. */
export function choose(prompt: Prompt, read: Read, arrival: Arrival, kit: Kit): Chosen | Promise<Chosen> {
  if (prompt.model === AUTO && kit.auto) return autorouteCounted(kit.auto, prompt, read, { arrival, kit });
  const { key } = arrival;
  const limited = kit.accounts.isLimited(key);
  const short = arrival.formatName === "messages";
  const model = resolve(prompt.model, { key, short, limited }, kit);
  const chosen: Chosen = {
    model,
    headers: isShortName(arrival, prompt.model) ? { "x-svc-model": model.id } : {},
  };
  const counting = model.contextLength === null
    ? null
    : countIfOver(read.reading, read.size, [model.contextLength], { tokens: kit.tokens, key: key.id });
  return counting === null ? chosen : counting.then(() => chosen);
}

async function autorouteCounted(
  auto: AutoRouter,
  prompt: Prompt,
  { reading, size }: Read,
  { arrival, kit }: { arrival: Arrival; kit: Kit },
): Promise<Chosen> {
  const contexts = kit.catalog.models.map((m) => m.contextLength).filter((c) => c !== null);
  await countIfOver(reading, size, contexts, { tokens: kit.tokens, key: arrival.key.id });
  return autoroute(auto, prompt, { arrival, size, auto: null }, kit);
}

/** The model that automatic routing chooses; none that the call has tried. Throws the refusal if there is none. */
export function autoroute(
  router: AutoRouter,
  prompt: Prompt,
  { arrival: { key, steps }, size, auto }: Pick<Call, "arrival" | "size" | "auto">,
  { accounts, providers }: Kit,
): Chosen {
  const limited = accounts.isLimited(key);
  let resting = false;
  const choose = (all: boolean) =>
    router({
      prompt,
      size,
      access: key,
      searches: wantsSearch(prompt),
      limited,
      healthy(m) {
        // A caller's own credential goes to no model that autorouting names.
        const routes = ownRoutes(m.routes, providers);
        if (auto?.tried.has(m) === true || !providers.healthy(routes)) return false;
        const rests = !all && providers.rest(routes, leastTokens(size));
        resting ||= rests;
        return !rests;
      },
    });
  let chosen: ReturnType<AutoRouter>;
  try {
    chosen = choose(false);
  } catch (refused) {
    if (!resting) throw refused;
    chosen = choose(true);
  }
  const { model, route: reason } = chosen;
  const route = reason + [...auto?.tried ?? []].map(({ id }) => `,after:${id}`).join("");
  steps.add("admission", "route", 0, "ok", { route });
  return { model, headers: { "x-svc-route": route } };
}

/** Throws what a generation would be refused with because of its model, for requests that ask no provider. */
export function refuseModel(name: string, key: Key, { kit, short }: { kit: Kit; short: boolean }): void {
  const limited = kit.accounts.isLimited(key);
  if (name === AUTO && kit.catalog.choices(key, { limited }) !== null) return;
  resolve(name, { key, short, limited }, kit);
}

interface Asking {
  key: Key;
  short: boolean;
  limited: boolean;
}

/** Messages that were logged already for a catalog, so that repeated requests do not repeat them. */
const loggedMessages = new WeakMap<Catalog, Set<string>>();

function resolve(name: string, { key, ...asker }: Asking, { catalog, log }: Kit): Model {
  try {
    return catalog.resolve(name, key, asker);
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.operator !== undefined) {
      const before = loggedMessages.get(catalog) ?? new Set();
      loggedMessages.set(catalog, before);
      if (!before.has(thrown.operator)) log(thrown.operator);
      before.add(thrown.operator);
    }
    throw thrown;
  }
}
