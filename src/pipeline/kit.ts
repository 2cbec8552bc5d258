/** What the pipeline is given to work with: the parts that a configuration makes. */
import type { Accounts } from "../accounts/mod.ts";
import type { AutoRouter } from "../models/auto.ts";
import type { Catalog } from "../models/catalog.ts";
import type { TokenCounter } from "../formats/token_counter.ts";
import type { SizeLimits } from "../models/limits.ts";
import type { Providers } from "../providers/mod.ts";
import type { Slices } from "../timing/slices.ts";
import type { Ticker } from "../timing/ticker.ts";
import type { WebSearch } from "../websearch/mod.ts";
import type { Dlp } from "./dlp.ts";
import type { Metrics } from "./metrics.ts";
import type { Payloads } from "./payloads.ts";
import type { Sealer } from "./seal.ts";
import type { Telemetry } from "./telemetry.ts";

export interface Kit {
  accounts: Accounts;
  catalog: Catalog;
  /** Null: no models are configured for autorouting. */
  auto: AutoRouter | null;
  /** Ids of the models that autorouting chooses among. */
  autoModels: readonly string[];
  providers: Providers;
  websearch: WebSearch;
  dlp: Dlp;
  sealer: Sealer;
  /** Null: what is asked and answered is not kept. */
  payloads: Payloads | null;
  limits: SizeLimits;
  metrics: Metrics;
  /** For work that takes longer than a few milliseconds. */
  slices: Slices;
  /** Counts the tokens of texts, where their length does not tell enough. */
  tokens: TokenCounter;
  /** Null: it is off. */
  telemetry: Telemetry | null;
  /** For deadlines; its clock never goes back. */
  ticker: Ticker;
  /** Milliseconds since the epoch. */
  now(): number;
  /** One line for the operator. Never a secret, never text of a conversation. */
  log(line: string): void;
}
