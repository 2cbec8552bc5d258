/** The dependencies of the pipeline, which are created from a configuration. */
import type { Level } from "../exchange/log_level.ts";
import type { Accounts } from "../accounts/mod.ts";
import type { AutoRouter } from "../models/auto.ts";
import type { Catalog } from "../models/catalog.ts";
import type { TokenCounter } from "../formats/tokens/counter.ts";
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
  /** Null: automatic routing is not configured. */
  auto: AutoRouter | null;
  providers: Providers;
  websearch: WebSearch;
  dlp: Dlp;
  sealer: Sealer;
  /** Null: there is no payload log. */
  payloads: Payloads | null;
  limits: SizeLimits;
  metrics: Metrics;
  /** Runs work of more than a few milliseconds in slices. */
  slices: Slices;
  /** Counts tokens if an estimate by length is not sufficient. */
  tokens: TokenCounter;
  /** Null: it is off. */
  telemetry: Telemetry | null;
  /** For deadlines; a monotonic clock. */
  ticker: Ticker;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Logs a line for operators. Never contains a secret or text of a conversation. */
  log(line: string, level?: Level): void;
}
