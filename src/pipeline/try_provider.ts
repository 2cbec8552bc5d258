/**
 * Tries a provider's credential: by its list of models, which costs nothing, or by the shortest call of one model.
 *
 * Some providers give their list to everybody, so that it proves nothing of the credential: such a list is asked for
 * without it as well, and then the call decides.
 */
import { costOf, formatAmount, priceTable } from "../accounts/mod.ts";
import { Failure } from "../exchange/failure.ts";
import { printable } from "../exchange/printable.ts";
import { flattenTools } from "../exchange/tools.ts";
import { NO_USAGE, type Usage } from "../exchange/usage.ts";
import { CALLER_FORMATS } from "../formats/caller_formats.ts";
import type { Model, ModelRoute } from "../models/catalog.ts";
import { sheetOf } from "../models/catalog.ts";
import { withReason } from "../outgoing/ask.ts";
import { listModels } from "../providers/list_models.ts";
import { type Provider, versionInForce } from "../providers/provider.ts";
import { readBody } from "../providers/reply_body.ts";
import { readWhole } from "./answer_reader.ts";
import type { Kit } from "./kit.ts";

export interface Trial {
  ok: boolean;
  /** What was asked for. */
  by: "models" | "call";
  /** How many the provider lists; null: its list was not asked for, or not given. */
  models: number | null;
  /** The catalog's id of the model that was called. */
  model: string | null;
  latency_ms: number;
  /** What the call cost, as far as that is known. It is in no record. */
  cost: string;
  error: string | null;
}

const LIST_MS = 15_000;
/** Fewer are refused by some. */
const OUTPUT = 16;
const MOST_TEXT = 300;

/** @param wanted a provider's name of a model, which is called then; absent: the list of models, if it proves something */
export async function tryProvider(
  provider: Provider,
  wanted: string | undefined,
  kit: Kit,
): Promise<Trial> {
  const began = performance.now();
  const trial: Trial = {
    ok: false,
    by: "models",
    models: null,
    model: null,
    latency_ms: 0,
    cost: "0.00",
    error: null,
  };
  try {
    if (wanted === undefined) trial.models = await listed(provider);
    if (trial.models !== null) trial.ok = true;
    else await call(provider, wanted, kit, trial);
  } catch (thrown) {
    trial.error = reasonOf(thrown);
  }
  trial.latency_ms = Math.round(performance.now() - began);
  return trial;
}

/** Null: there is no list, or one that everybody gets. */
async function listed(provider: Provider): Promise<number | null> {
  const list = (of: Provider) => listModels(of, { preset: null, signal: AbortSignal.timeout(LIST_MS) });
  const models = await list(provider);
  const { key, sign, headers } = provider.credential;
  const sent = key !== undefined || sign !== undefined ||
    Object.keys({ ...headers, ...provider.headers }).length > 0;
  if (models === null || !sent) return models?.length ?? null;
  const nobody = { ...provider, headers: {}, credential: { identity: "", headers: {} } };
  const open = await list(nobody).catch(() => null);
  return open === null ? models.length : null;
}

async function call(provider: Provider, wanted: string | undefined, kit: Kit, trial: Trial): Promise<void> {
  trial.by = "call";
  const found = cheapest(provider, wanted, kit);
  if (found === null) {
    throw new Failure(
      "model_not_found",
      "No model of the catalog has a route to this provider that could be called.",
    );
  }
  const { model, route } = found;
  trial.model = model.id;
  const prompt = CALLER_FORMATS.chat_completions.decodeRequest({
    model: model.id,
    max_tokens: OUTPUT,
    messages: [{ role: "user", content: "Answer with OK." }],
  }, { unseal: () => null, headers: () => ({}) });
  const { begun: usage } = await kit.providers.open([route], {
    prepare(upstream, format, name) {
      const { prompt: flat } = flattenTools(prompt, upstream.api.toolForms(prompt.format));
      const encoded = format.encodeRequest(flat, {
        model: name,
        stream: false,
        maxOutput: model.maxCompletion,
        features: model.features,
        efforts: model.efforts,
        parameters: model.parameters,
        apiVersion: versionInForce(upstream, prompt.headers),
      });
      const request = upstream.api.finish ? upstream.api.finish(encoded, name, flat) : encoded;
      return { body: JSON.stringify(request.body), headers: request.headers };
    },
    async begin(opened): Promise<Usage> {
      try {
        const bytes = await readBody(opened.reply, opened.first, () => Promise.resolve());
        const parts = readWhole(opened.withheld.answer(new TextDecoder().decode(bytes)), opened.format);
        return parts.findLast((part) => part.type === "usage")?.usage ?? NO_USAGE;
      } finally {
        opened.close();
      }
    },
    stream: false,
    key: "console",
    model: model.id,
    conversation: null,
  });
  trial.ok = true;
  trial.cost = formatAmount(costOf(usage, 0, priceTable(sheetOf(model, kit.now()).prices)));
}

/** The model of the provider whose output costs least; of those whose price is not known any. */
function cheapest(
  { name }: Provider,
  wanted: string | undefined,
  { catalog, now }: Kit,
): { model: Model; route: ModelRoute } | null {
  let best: { model: Model; route: ModelRoute; price: number } | null = null;
  for (const model of catalog.models) {
    const route = model.routes.find((route) =>
      route.provider === name && (wanted === undefined || route.model === wanted)
    );
    if (route === undefined || (wanted === undefined && !model.outputs.includes("text"))) continue;
    const price = Number(sheetOf(model, now()).prices.completion ?? Infinity);
    if (best === null || price < best.price) best = { model, route, price };
  }
  return best;
}

/** Without the address and whatever else an error of the network may tell. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof Failure) return printable(thrown.operator ?? thrown.message).slice(0, MOST_TEXT);
  if (!(thrown instanceof Error)) return "no reason is known";
  if (thrown.name === "TimeoutError") return `no answer within ${LIST_MS / 1000} seconds`;
  return thrown.name === "TypeError"
    ? withReason("no connection", thrown)
    : printable(thrown.message).slice(0, MOST_TEXT);
}
