/**
 * Stage of a compaction: by the provider if its API supports it, otherwise by a summary of the model, for which the prompt asks.
 *
 * A conversation with masked values, or whose answers are screened, is never compacted by a provider: the encrypted result cannot be
 * screened, and placeholders in it cannot be replaced.
 */
import { Failure } from "../exchange/failure.ts";
import type { Part } from "../exchange/part.ts";
import type { Provider, Upstream } from "../providers/provider.ts";
import type { Call } from "./call.ts";
import type { CallVariant } from "./generation/ask.ts";
import { generate } from "./generation/generate.ts";
import type { Kit } from "./kit.ts";

/** Providers that do not support compactions although their API has them. */
const without = new WeakSet<Provider>();

const MISSING = new Failure("feature_not_supported", "The provider compacts no conversations.");

/**
 * Stage: a compaction of the conversation, by a provider whose API supports it, else as a summary written by the model.
 */
export async function* compact(call: Call, kit: Kit): AsyncGenerator<readonly Part[]> {
  const routes = call.routes.filter((route) =>
    kit.providers.apiOf(route)?.compaction !== undefined && !without.has(kit.providers.get(route.provider)!)
  );
  if (routes.length > 0 && !isMasked(call)) {
    const asked = new Set<Provider>();
    const variant: CallVariant = {
      routes,
      missing: MISSING,
      adaptUpstream: (upstream) => compacting(upstream, asked),
    };
    try {
      yield* generate(call, call.prompt, kit, variant);
      return;
    } catch (thrown) {
      if (thrown !== MISSING) throw thrown;
      for (const provider of asked) without.add(provider);
    }
  }
  yield* generate(call, call.prompt, kit);
}

function isMasked({ screened }: Call): boolean {
  if (screened === null) return false;
  return (screened.mode === "mask" && screened.findings > 0) || screened.answers !== null;
}

function compacting(upstream: Upstream, asked: Set<Provider>): Upstream {
  const { provider, api } = upstream;
  asked.add(provider);
  return {
    ...upstream,
    api: {
      ...api,
      format: api.compaction!,
      address: (...call) => `${api.address(...call)}/compact`,
    },
  };
}
