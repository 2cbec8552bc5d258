/**
 * Guard: reads the request, finds its model, and reserves what it may cost. Everything that can be refused without a
 * provider is refused here, with a status of its own.
 */
import type { Arrival, Call, Screened } from "./call.ts";
import type { Kit } from "./kit.ts";
import { marksCache, type Prompt } from "../exchange/prompt.ts";
import { AUTO, type Model } from "../models/catalog.ts";
import { countIfOver, measure, type PromptSize, refuseOversize, upperTokens } from "../models/limits.ts";
import { searchLimit, wantsSearch } from "./search_loop.ts";

/** Output tokens reserved when neither the caller nor the model caps them. */
const USUAL_OUTPUT = 4096;

export async function admit(arrival: Arrival, screened: Screened | null, kit: Kit): Promise<Call> {
  const { format, key } = arrival;
  const prompt = format.decodeRequest(arrival.body, { unseal: kit.sealer.unseal, headers: arrival.headers });
  const size = measure(prompt, kit.limits);
  const { model, headers } = await choose(prompt, size, arrival, kit);
  refuseOversize(size, model.contextLength);
  if (model.maxCompletion !== null && prompt.maxOutput !== undefined) {
    prompt.maxOutput = Math.min(prompt.maxOutput, model.maxCompletion);
  }
  const created = kit.now();
  const reservation = await kit.accounts.admit({
    id: arrival.id,
    created,
    format: arrival.formatName,
    requestedModel: prompt.model,
    model: model.id,
    stream: prompt.stream,
    key,
    prices: model.pricing,
    estimate: {
      input: upperTokens(size),
      output: (prompt.maxOutput ?? Math.min(model.maxCompletion ?? USUAL_OUTPUT, USUAL_OUTPUT)) *
        (prompt.n ?? 1),
      searches: wantsSearch(prompt) ? searchLimit(prompt.search ?? {}) : 0,
      cacheWrites: marksCache(prompt) || carriesUnread(prompt),
    },
  });
  if (screened) Object.assign(headers, screened.headers);
  return { arrival, prompt, model, size, reservation, screened, created, headers, provider: null };
}

/** Whether it holds what only its own format reads: a cache may be marked in there. */
function carriesUnread(prompt: Prompt): boolean {
  return prompt.tools.some((t) => t.kind === "opaque") ||
    prompt.turns.some((turn) => turn.content.some((c) => c.type === "opaque"));
}

/** The model that is named, or the one that autorouting names. */
async function choose(
  prompt: Prompt,
  size: PromptSize,
  arrival: Arrival,
  kit: Kit,
): Promise<{ model: Model; headers: Record<string, string> }> {
  const { key } = arrival;
  if (prompt.model === AUTO && kit.auto) {
    const contexts = kit.catalog.models.map((m) => m.contextLength).filter((c) => c !== null);
    await countIfOver(prompt, size, contexts);
    const healthy = (m: Model) => kit.providers.healthy(m.routes);
    const { model, route } = kit.auto({ prompt, size, access: key, healthy });
    return { model, headers: { "x-svc-route": route } };
  }
  const short = arrival.formatName === "messages";
  const model = kit.catalog.resolve(prompt.model, key, { short });
  if (model.contextLength !== null) await countIfOver(prompt, size, [model.contextLength]);
  return { model, headers: {} };
}
