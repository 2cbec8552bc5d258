/** The metrics of this process and, where it is one of several workers, of the others. */
import type { LabelledMetrics } from "../metrics/prometheus.ts";
import type { MetricData, MetricRegistry } from "../metrics/registry.ts";
import type { WorkerAnswers } from "./siblings.ts";

export class AllMetrics {
  readonly #registry: MetricRegistry;
  readonly #worker: number | null;
  #others: (() => Promise<WorkerAnswers>) | null = null;

  /** @param worker which of several; null: there is one process */
  constructor(registry: MetricRegistry, worker: number | null) {
    this.#registry = registry;
    this.#worker = worker;
  }

  /** The values of this process, in the order of the rows, which is that of all workers. */
  own(): MetricData["samples"][] {
    return this.#registry.collect().map(({ samples }) => samples);
  }

  /** @param others what {@link own} gives in each of the others */
  answerFor(others: () => Promise<WorkerAnswers>): void {
    this.#others = others;
  }

  async all(): Promise<LabelledMetrics[]> {
    const metrics = this.#registry.collect();
    if (this.#worker === null) return [{ metrics, common: {} }];
    const told = await this.#others?.() ?? {};
    const workers: WorkerAnswers = { ...told, [this.#worker]: metrics.map(({ samples }) => samples) };
    return Object.entries(workers).map(([worker, values]) => ({
      metrics: metrics.map((metric, i) => ({ ...metric, samples: (values as never[])[i] })),
      common: { worker },
    }));
  }
}
