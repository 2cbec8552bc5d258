/**
 * Tests a provider's credential: by requesting its list of models, which is free, or by a minimal call to one model.
 *
 * Some providers return their list without a credential, so the list does not test it. Therefore the list is also requested without the
 * credential; if that succeeds, the call is made.
 */
import { costOf, formatAmount, priceTable } from "../accounts/mod.ts";
import { decodedInSlices } from "../exchange/decode_in_slices.ts";
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
import { readWholeInSlices } from "./generation/answer_reader.ts";
import type { Kit } from "./kit.ts";

export interface Trial {
  ok: boolean;
  /** Which test was made. */
  by: "models" | "call";
  /** Number of listed models; null: the list was not requested, or not returned. */
  models: number | null;
  /** The catalog's id of the model that was called. */
  model: string | null;
  latency_ms: number;
  /** Cost of the call, if known. It is not recorded. */
  cost: string;
  error: string | null;
}

const LIST_MS = 15_000;
/** Maximum output tokens of the call; some providers refuse fewer. */
const OUTPUT = 16;
const MOST_TEXT = 300;

/** @param wanted a provider's name of a model to call; absent: the list of models is used if it requires the credential */
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

/** Null: there is no list, or it does not require a credential. */
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
        // The provider may send anything, and the other calls go on.
        const run = <T>(work: Generator<void, T>) => kit.slices.run("console", work, "convert");
        const text = opened.withheld.answer(await run(decodedInSlices(bytes)));
        const parts = await run(readWholeInSlices(text, opened.format));
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

/** The model of the provider with the lowest output price; if no price is known, any model. */
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

/** An error message without the URL and other data of network errors. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof Failure) return printable(thrown.operator ?? thrown.message).slice(0, MOST_TEXT);
  if (!(thrown instanceof Error)) return "no reason is known";
  if (thrown.name === "TimeoutError") return `no answer within ${LIST_MS / 1000} seconds`;
  return thrown.name === "TypeError"
    ? withReason("no connection", thrown)
    : printable(thrown.message).slice(0, MOST_TEXT);
}
