/**
 * Requests a provider's list of models. The response is not trusted: pages, bytes, entries and time are
 * limited, and ids that cannot be used in a route are dropped.
 */
import { object } from "../exchange/json.ts";
import { ask } from "../outgoing/ask.ts";
import { jsonIn } from "../outgoing/json_body.ts";
import type { ListedModel } from "./apis/mod.ts";
import { WITHHELD, Withheld } from "../outgoing/withheld.ts";
import { type Provider, type Upstream, upstreamOf } from "./provider.ts";

const MOST_PAGES = 50;
const MOST_MODELS = 20_000;
const MOST_BYTES = 32 << 20;
/**
 * Maximum number of models of a local server that are queried individually, and the number of concurrent
 * queries.
 */
const MOST_SHOWN = 200;
const SHOWN_AT_ONCE = 4;
/** The longest time for all of these queries: the list is of more use than the sizes. */
const SHOW_MS = 10_000;
const LARGEST_CONTEXT = 2 ** 31;

/** Ids allowed in routes, without `*`, which has a meaning in patterns. */
const ID = /^[!-)+-~]{1,200}$/;

/** An id that repeats the credential would be shown to every caller. */
const isId = (id: string) => ID.test(id) && !id.includes(WITHHELD);

export interface ListingOptions {
  /** The provider's preset. */
  preset: string | null;
  /** Aborts everything. */
  signal: AbortSignal;
  /** Milliseconds for the queries of individual models. Absent: {@link SHOW_MS}. */
  showMs?: number;
  /** Called for a list that was refused, if another one was returned. */
  refused?(what: string): void;
}

/** Null: the API has no list of models. Throws if the provider does not return one. */
export async function listModels(
  provider: Provider,
  { preset, signal, showMs = SHOW_MS, refused }: ListingOptions,
): Promise<ListedModel[] | null> {
  const { modelsList } = provider.api;
  const upstream = upstreamOf(provider, provider.api);
  if (modelsList === null) return null;
  const models = new Map<string, ListedModel>();
  const pages = new Set<string>();
  const { baseUrl, credential } = provider;
  const origin = credential.listsOf?.(baseUrl) ?? modelsList.origin?.(baseUrl) ?? baseUrl;
  const refusals: string[] = [];
  let lists = 0;
  for (let page: string | null = null;;) {
    const path = modelsList.path(page);
    try {
      const body = await asked(upstream, { method: "GET", url: origin + path }, signal);
      const read = modelsList.read(body, page);
      if (read === null) throw new Error("the answer is no list of models");
      for (const model of read.models) {
        if (isId(model.id) && models.size < MOST_MODELS) models.set(model.id, bounded(model));
      }
      lists++;
      page = read.next;
    } catch (error) {
      const next: string | null | undefined = modelsList.afterRefusal?.(page);
      // Continues only after a missing permission: after any other failure the previous list is better than
      // an incomplete one.
      if (!(error instanceof Unsuccessful) || error.status !== 403 || next === undefined) throw error;
      refusals.push(`${path.replace(/\?.*/, "")}: ${error.message}`);
      if (next === null && lists === 0) throw error;
      page = next;
    }
    // A repeated page would cause an endless loop.
    if (page === null || pages.has(page) || pages.size >= MOST_PAGES || models.size >= MOST_MODELS) break;
    pages.add(page);
  }
  for (const refusal of refusals) refused?.(refusal);
  const list = [...models.values()];
  return preset === "ollama" ? await shown(upstream, list, { signal, showMs }) : list;
}

function bounded({ id, contextLength, maxCompletion, pricing }: ListedModel): ListedModel {
  const tokens = (n: number | undefined) =>
    n !== undefined && Number.isSafeInteger(n) && n > 0 && n <= LARGEST_CONTEXT ? n : undefined;
  const context = tokens(contextLength);
  const output = tokens(maxCompletion);
  return {
    id,
    ...(context !== undefined && { contextLength: context }),
    ...(output !== undefined && { maxCompletion: output }),
    ...(pricing !== undefined && { pricing }),
  };
}

/** Ollama's native API beside `/v1` returns the context length of each model, and whether it is a chat model. */
async function shown(
  upstream: Upstream,
  list: ListedModel[],
  { signal, showMs }: { signal: AbortSignal; showMs: number },
): Promise<ListedModel[]> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(showMs)]);
  const url = `${upstream.provider.baseUrl.replace(/\/v1$/, "")}/api/show`;
  const waiting = list.slice(0, MOST_SHOWN).entries();
  const described: (ListedModel | null)[] = [...list];
  await Promise.all(Array.from({ length: SHOWN_AT_ONCE }, async () => {
    for (const [i, model] of waiting) {
      try {
        const body = JSON.stringify({ model: model.id });
        const { model_info, capabilities } = object(
          await asked(upstream, { method: "POST", url, body }, limit),
        );
        const length = Object.entries(object(model_info)).find(([name]) => name.endsWith(".context_length"));
        if (Array.isArray(capabilities) && !capabilities.includes("completion")) described[i] = null;
        else if (length) described[i] = bounded({ ...model, contextLength: Number(length[1]) });
      } catch (error) {
        // A model that cannot be queried is still listed.
        if (signal.aborted) throw error;
      }
    }
  }));
  return described.filter((model) => model !== null);
}

interface Question {
  method: "GET" | "POST";
  url: string;
  body?: string;
}

/** If the credential is refused, it is renewed and sent once more, as in calls. */
async function asked(
  upstream: Upstream,
  question: Question,
  signal: AbortSignal,
  again = false,
): Promise<unknown> {
  const { provider: { credential, tls }, headers } = upstream;
  const { method, url, body = "" } = question;
  const signed = await credential.sign?.({ method, url, headers, body });
  const answer = await ask(url, {
    method,
    headers: { ...headers, accept: "application/json", ...signed },
    body,
    most: MOST_BYTES,
    signal,
    tls,
  });
  if (answer.ok) {
    const withheld = signed === undefined ? upstream.withheld : new Withheld({ ...headers, ...signed });
    return await jsonIn(withheld.answer(answer.text()));
  }
  const { status, header } = answer;
  const refused = signed !== undefined && !again &&
    credential.refused?.({ status, header, text: answer.text() }, signed);
  if (refused) return await asked(upstream, question, signal, true);
  throw new Unsuccessful(status);
}

class Unsuccessful extends Error {
  constructor(readonly status: number) {
    super(`status ${status}`);
  }
}
