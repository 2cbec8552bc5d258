/**
 * What a process reports about its own operation: the configuration, the result of the last reload, and
 * changes of the catalog.
 */
import type { AccountsService } from "../accounts/mod.ts";
import { ConfigError } from "../config/config_error.ts";
import type { Config } from "../config/schema.ts";
import type { CatalogChange, NodeStatus, Operation, Reload } from "../http/endpoint.ts";
import { changes, type ModelChange } from "../models/changes.ts";
import type { Model } from "../models/catalog.ts";
import { type ModelSummary, summaryOf } from "../models/summary.ts";
import { Slices } from "../timing/slices.ts";

export interface OperationOptions {
  now(): number;
  /** Number among the processes that share a port; null: there is only one process. */
  worker: number | null;
  warnings: readonly string[];
  running(): Config;
  catalog(): readonly Model[];
  /** The catalog, with the models that the providers currently list. */
  asked(): Promise<readonly Model[]>;
  accounts(): Pick<AccountsService, "announce" | "audit" | "nodes">;
  /** Saves changes of the catalog for the next start. */
  keepChanges?(changes: readonly CatalogChange[]): void;
}

const MOST_CHANGES = 500;
const MOST_LINES = 100;

export class RunningOperation implements Operation {
  readonly #options: OperationOptions;
  readonly #started: string;
  #reload: Reload | null = null;
  #warnings: readonly string[];
  #changes: CatalogChange[] = [];

  constructor(options: OperationOptions) {
    this.#options = options;
    this.#started = this.#now();
    this.#warnings = options.warnings.slice(0, MOST_LINES);
  }

  async configuration() {
    const { shownConfig } = await import("../config/shown.ts");
    // With thousands of keys this takes a tenth of a second, in which calls must not wait.
    return await new Slices().run("", shownConfig(this.#options.running()));
  }

  async nodes() {
    const nodes = await this.#options.accounts().nodes();
    return nodes.map(({ about, ...node }) => ({ ...node, about: about as NodeStatus | null }));
  }

  about(): NodeStatus {
    const { worker } = this.#options;
    return { worker, started: this.#started, reload: this.#reload, warnings: this.#warnings };
  }

  catalogChanges(): readonly CatalogChange[] {
    return this.#changes;
  }

  async differences(): Promise<ModelChange[]> {
    const { catalog, asked, now } = this.#options;
    return changes(summaries(catalog(), now()), summaries(await asked(), now()));
  }

  reloaded(warnings: readonly string[]): void {
    this.#warnings = warnings.slice(0, MOST_LINES);
    this.#note({ at: this.#now(), ok: true, mistakes: [] });
  }

  notReloaded(error: unknown): void {
    const mistakes = error instanceof ConfigError
      ? error.mistakes.map(({ path, message }) => path === "" ? message : `${path}: ${message}`)
      : [error instanceof Error ? error.message : "no reason is known"];
    this.#note({ at: this.#now(), ok: false, mistakes: mistakes.slice(0, MOST_LINES) });
    this.#options.accounts().audit({
      kind: "admin",
      key: null,
      data: { by: "process", action: "configuration.reloaded", result: "refused", mistakes: mistakes.length },
    });
  }

  /** Called when another catalog is served. */
  catalogChanged(before: readonly Model[], after: readonly Model[]): void {
    if (before === after) return;
    const { now } = this.#options;
    this.#add(changes(summaries(before, now()), summaries(after, now())));
  }

  /**
   * Called when the first catalog is served and an earlier process had served one: a price may have changed
   * since then, because the file was edited or because a newer release has other prices.
   */
  catalogResumed(
    { changes: earlier, models }: {
      changes: readonly CatalogChange[];
      models: readonly ModelSummary[] | null;
    },
  ): void {
    const { now, catalog } = this.#options;
    this.#changes = [...earlier];
    if (models !== null) this.#add(changes(models, summaries(catalog(), now())));
  }

  #add(found: readonly ModelChange[]): void {
    if (found.length === 0) return;
    const at = this.#now();
    this.#changes = [...found.map((change) => ({ at, ...change })), ...this.#changes].slice(0, MOST_CHANGES);
    this.#options.keepChanges?.(this.#changes);
  }

  #note(reload: Reload): void {
    this.#reload = reload;
    void this.#options.accounts().announce().catch(() => {});
  }

  #now(): string {
    return new Date(this.#options.now()).toISOString();
  }
}

function summaries(models: readonly Model[], now: number) {
  return models.map((model) => summaryOf(model, now));
}
