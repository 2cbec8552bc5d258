/** Health of the providers as metrics. */
import type { Family } from "../pipeline/metrics.ts";
import type { ModelHealth, ProviderHealth } from "../providers/states.ts";

const BREAKER = { closed: 0, "half-open": 1, open: 2 };

export function providerMetrics(providers: readonly ProviderHealth[]): Family[] {
  const ofProvider = (name: string, help: string, value: (p: ProviderHealth) => number): Family => ({
    name,
    type: "gauge",
    help,
    samples: providers.map((p) => ({ labels: { provider: p.provider }, value: value(p) })),
  });
  const ofModel = (
    name: string,
    type: Family["type"],
    help: string,
    value: (m: ModelHealth) => number,
  ): Family => ({
    name,
    type,
    help,
    samples: providers.flatMap((p) =>
      p.models.map((m) => ({ labels: { provider: p.provider, model: m.model }, value: value(m) }))
    ),
  });
  return [
    ofProvider("sluice_provider_in_flight", "Calls under way at a provider.", (p) => p.in_flight),
    ofProvider("sluice_provider_queued", "Calls that wait for a place at a provider.", (p) => p.queued),
    ofModel(
      "sluice_breaker_state",
      "gauge",
      "Circuit breaker of a provider's model: 0 closed, 1 half-open, 2 open.",
      (m) => BREAKER[m.state],
    ),
    ofModel("sluice_provider_attempts_total", "counter", "Tries of a provider's model.", (m) => m.attempts),
    ofModel(
      "sluice_provider_failed_attempts_total",
      "counter",
      "Tries that the provider failed.",
      (m) => m.attempts_failed,
    ),
    ofModel("sluice_provider_retries_total", "counter", "Tries that repeated another.", (m) => m.retries),
  ];
}
