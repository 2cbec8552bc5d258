/** What the pipeline is given to work with, and the call that goes through it. */
import type { Accounts, Key, Reservation } from "../accounts/mod.ts";
import type { CallerFormat as CallerFormatName } from "../exchange/generation.ts";
import type { Prompt } from "../exchange/prompt.ts";
import type { CallerFormat } from "../formats/format.ts";
import type { AutoRouter } from "../models/auto.ts";
import type { Catalog, Model } from "../models/catalog.ts";
import type { PromptSize, SizeLimits } from "../models/limits.ts";
import type { Providers } from "../providers/mod.ts";
import type { Ticker } from "../timing/ticker.ts";
import type { WebSearch } from "../websearch/mod.ts";
import type { Dlp } from "./dlp.ts";
import type { Metrics } from "./metrics.ts";
import type { Screened } from "./screen.ts";
import type { Sealer } from "./seal.ts";

export interface Kit {
  accounts: Accounts;
  catalog: Catalog;
  /** Null: no models are configured for autorouting. */
  auto: AutoRouter | null;
  providers: Providers;
  websearch: WebSearch;
  dlp: Dlp;
  sealer: Sealer;
  limits: SizeLimits;
  metrics: Metrics;
  /** For deadlines; its clock never goes back. */
  ticker: Ticker;
  /** Milliseconds since the epoch. */
  now(): number;
  /** One line for the operator. Never a secret, never text of a conversation. */
  log(line: string): void;
}

/** A request as the edge hands it over: who asks is known, what is asked is not yet read. */
export interface Arrival {
  /** `gen_…` */
  id: string;
  format: CallerFormat;
  formatName: CallerFormatName;
  key: Key;
  /** The parsed JSON body. */
  body: unknown;
  /** Its headers whose names begin so; names in lower case. */
  headers(prefix: string): Record<string, string>;
  /** Whether the caller has left meanwhile. */
  gone(): boolean;
}

/** An admitted call on its way. */
export interface Call {
  arrival: Arrival;
  prompt: Prompt;
  model: Model;
  size: PromptSize;
  reservation: Reservation;
  /** Null: nothing was checked. */
  screened: Screened | null;
  /** Milliseconds since the epoch. */
  created: number;
  /** Headers of the answer; stages add to them until the first part is out. */
  headers: Record<string, string>;
  /** The provider that answers, once one does. */
  provider: string | null;
}
