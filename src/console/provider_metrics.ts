/** Provider health as metrics. */
import type { NumberSample, Observed } from "../metrics/registry.ts";
import type { ModelHealth, ProviderHealth } from "../providers/states.ts";

const BREAKER = { closed: 0, "half-open": 1, open: 2 };

/** Values of the metrics that are collected on each scrape, by provider and model. */
export function providerMetrics(providers: readonly ProviderHealth[]): Observed {
  const ofProviders = (value: (p: ProviderHealth) => number): NumberSample[] =>
    providers.map((p) => ({ labels: [p.provider], value: value(p) }));
  const ofModels = (value: (m: ModelHealth) => number): NumberSample[] =>
    providers.flatMap((p) => p.models.map((m) => ({ labels: [p.provider, m.model], value: value(m) })));
  return {
    providerInFlight: ofProviders((p) => p.in_flight),
    providerQueued: ofProviders((p) => p.queued),
    breakerState: ofModels((m) => BREAKER[m.state]),
    providerAttempts: ofModels((m) => m.attempts),
    providerFailedAttempts: ofModels((m) => m.attempts_failed),
    providerRetries: ofModels((m) => m.retries),
  };
}
