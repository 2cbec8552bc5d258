/** Administration endpoints of providers: health, circuit breakers, credentials. */
import { Failure } from "../exchange/failure.ts";
import type { AdministrationContext, Endpoint, Parameter } from "../http/endpoint.ts";
import { refusedField } from "./administration_input.ts";
import { PROVIDER_COLUMNS } from "./columns.ts";
import { body, endpoint, list, PAGE } from "./operations.ts";
import { pageOf } from "./pages.ts";

const PROVIDER: Parameter = { name: "provider", in: "path", description: "The provider's name." };

interface ProviderModel {
  model?: unknown;
}

export const PROVIDERS: readonly Endpoint[] = [
  list(
    "/admin/providers",
    "Lists the providers with health, circuit breakers, times to the first output and last errors, as seen by this process.",
    "ProviderList",
    ({ state }, page) => Promise.resolve(pageOf(state.kit.providers.health(), page)),
    PAGE,
    "read",
    PROVIDER_COLUMNS,
  ),
  endpoint(
    "POST",
    "/admin/providers/{provider}/close",
    "Closes the circuit breakers of a provider, or of one of its models, on every node.",
    "ClosedBreakers",
    async ({ request, administration, state, parameters }) => {
      const { model } = await body<ProviderModel>(request, { optional: true, fields: ["model"] });
      return await close({ provider: parameters.provider, model: textOrNone(model) }, {
        administration,
        state,
      });
    },
    { access: "change", parameters: [PROVIDER], request: "ProviderModel" },
  ),
  endpoint(
    "POST",
    "/admin/providers/{provider}/try",
    "Tests a provider's credential by requesting its list of models, or by a call of at most 16 tokens, which has a small cost.",
    "ProviderTrial",
    async ({ request, state: { kit }, trail, parameters }) => {
      const { model } = await body<ProviderModel>(request, { optional: true, fields: ["model"] });
      const provider = kit.providers.get(parameters.provider);
      if (provider === undefined) throw notThere("There is no such provider.", "provider");
      const { tryProvider } = await import("../pipeline/try_provider.ts");
      const trial = await tryProvider(provider, textOrNone(model), kit);
      const { by, ok, cost } = trial;
      await trail.note({ action: "provider.tried", target: provider.name, fields: { by, ok, cost } });
      return trial;
    },
    { access: "change", parameters: [PROVIDER], request: "ProviderModel" },
  ),
];

/** Effective here at once; other nodes learn of it through the store, if that is available. */
async function close(
  { provider, model }: { provider: string; model?: string },
  { administration, state: { kit } }: Pick<AdministrationContext, "administration" | "state">,
) {
  const found = kit.providers.health().find((one) => one.provider === provider);
  if (found === undefined) throw notThere("There is no such provider.", "provider");
  const routes = found.models.filter((one) => model === undefined || one.model === model)
    .map((one) => ({ provider, model: one.model }));
  if (model !== undefined && routes.length === 0) throw notThere("The provider has no such model.", "model");
  const closed = kit.providers.states.closeBreakers({ provider, model }, kit.ticker.now());
  try {
    await administration.closeBreakers(routes);
    return { closed, everywhere: true };
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    return { closed, everywhere: false };
  }
}

function notThere(message: string, param: string): Failure {
  return new Failure("not_found", message, { param });
}

function textOrNone(model: unknown): string | undefined {
  if (model === undefined || model === null) return undefined;
  if (typeof model === "string") return model;
  throw refusedField("model", "a provider's name of a model", model, "string_type");
}
