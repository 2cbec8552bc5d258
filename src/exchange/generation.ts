/** Data of one generation for billing and the ledger. Never contains conversation text. */
import type { FailureCode } from "./failure.ts";
import type { Fees } from "./fees.ts";
import type { CallerFormatName } from "./format_name.ts";
import type { PriceChoice } from "./prices.ts";
import type { Labels } from "./labels.ts";
import type { KeptStep } from "./steps.ts";
import type { Usage } from "./usage.ts";

/**
 * completed: the model ended the answer. incomplete: ended by a length limit or filter. failed: ended by an
 * error. interrupted: the process died, or an abandoned stream exceeded its time limit.
 */
export type GenerationStatus = "completed" | "incomplete" | "failed" | "interrupted";

/** Data known before the provider is called. */
export interface GenerationStart {
  /** `gen_…`; equal to the answer's `x-request-id`. */
  id: string;
  /** Milliseconds since the epoch. */
  created: number;
  format: CallerFormatName;
  requestedModel: string;
  model: string;
  stream: boolean;
  labels?: Labels | null;
}

/** Usage of one provider call, and the prices at which it is billed. */
export interface Charge extends PriceChoice {
  usage: Usage;
  /** Number of requests to the provider, if it is not one. */
  requests?: number;
  /** Uses of the provider's tools that have a fee. Absent: none. */
  fees?: Fees;
}

/** Data known at the end. */
export interface GenerationEnd {
  status: GenerationStatus;
  /** The provider that answered; null: none. */
  provider: string | null;
  /** The catalog model that answered, if different from the one at the start. */
  model?: string;
  errorCode: FailureCode | null;
  /** Null: the provider reported none. */
  usage: Usage | null;
  /** The provider calls whose sum is `usage`. Absent: billed at the prices of the reservation. */
  charges?: readonly Charge[];
  /** Those of the calls that used the caller's own credential. Absent: none. */
  unbilled?: readonly Charge[];
  /** True: usage was estimated, because the provider did not report it. */
  estimated: boolean;
  /** Number of executed web searches, without those that no budget had room for. */
  searches: number;
  /** How many of them a provider ran with the caller's own credential. Absent: none. */
  unbilledSearches?: number;
  /** Price of a search. Absent: that of the reservation, which is the highest that may apply. */
  searchPrice?: string;
  ttftMs: number | null;
  latencyMs: number;
  clientGone: boolean;
  dlp: { mode: string; findings: number } | null;
  /** Number of calls of the caller's tools in the answer; absent: not counted. */
  toolCalls?: number;
  /** How many of these had repaired arguments; absent: none. */
  repaired?: number;
  /** Processing steps; absent: derived from the other fields. */
  steps?: readonly KeptStep[];
  /** Trace id; absent: none. */
  trace?: string;
}
