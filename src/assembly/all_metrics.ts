/** The metrics of this process and, if it is one of several workers, of the other workers. */
import type { LabelledMetrics } from "../metrics/prometheus.ts";
import type { MetricData, MetricRegistry } from "../metrics/registry.ts";
import type { WorkerAnswers } from "./siblings.ts";

export class AllMetrics {
  readonly #registry: MetricRegistry;
  readonly #worker: number | null;
  #others: (() => Promise<WorkerAnswers>) | null = null;

  /** @param worker number of this worker; null: there is only one process */
  constructor(registry: MetricRegistry, worker: number | null) {
    this.#registry = registry;
    this.#worker = worker;
  }

  /** The samples of this process, in the order of the registry, which is the same in all workers. */
  own(): MetricData["samples"][] {
    return this.#registry.collect().map(({ samples }) => samples);
  }

  /** @param others resolves with the result of {@link own} of every other worker */
  answerFor(others: () => Promise<WorkerAnswers>): void {
    this.#others = others;
  }

  async all(): Promise<LabelledMetrics[]> {
    const metrics = this.#registry.collect();
    if (this.#worker === null) return [{ metrics, common: {} }];
    const answers = await this.#others?.() ?? {};
    const workers: WorkerAnswers = { ...answers, [this.#worker]: metrics.map(({ samples }) => samples) };
    return Object.entries(workers).map(([worker, values]) => ({
      metrics: metrics.map((metric, i) => ({ ...metric, samples: (values as never[])[i] })),
      common: { worker },
    }));
  }
}
