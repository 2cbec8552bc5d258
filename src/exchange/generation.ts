/**
 * The record of one generation: what billing, the ledger and the operator's lists read. It never holds text of the
 * conversation.
 */
import type { FailureCode } from "./failure.ts";
import type { CallerFormatName } from "./format_name.ts";
import type { PriceChoice } from "./prices.ts";
import type { Labels } from "./labels.ts";
import type { KeptStep } from "./steps.ts";
import type { Usage } from "./usage.ts";

/**
 * completed: the model ended by itself. incomplete: cut by a cap or a filter. failed: an error ended it.
 * interrupted: the process died, or a drained stream outlived its bound.
 */
export type GenerationStatus = "completed" | "incomplete" | "failed" | "interrupted";

/** What is known before the provider is called. */
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

/** What one call of a provider used, and what that is billed by. */
export interface Charge extends PriceChoice {
  usage: Usage;
}

/** What is known at the end. */
export interface GenerationEnd {
  status: GenerationStatus;
  /** The provider that answered; null when none did. */
  provider: string | null;
  /** The catalog model that answered, when another than the start said. */
  model?: string;
  errorCode: FailureCode | null;
  /** Null: the provider reported none. */
  usage: Usage | null;
  /** The provider calls that `usage` is the sum of. Absent: it is billed by the reservation's prices. */
  charges?: readonly Charge[];
  /** Of those, the calls that the caller's own credential paid. Absent: none. */
  unbilled?: readonly Charge[];
  /** True: usage was estimated, because the provider never reported it. */
  estimated: boolean;
  /** Web searches that were executed and are billed. */
  searches: number;
  ttftMs: number | null;
  latencyMs: number;
  clientGone: boolean;
  dlp: { mode: string; findings: number } | null;
  /** Calls of the caller's tools in the answer; absent: not counted. */
  toolCalls?: number;
  /** Of those, whose arguments were mended; absent: none. */
  repaired?: number;
  /** What it went through; absent: what the rest tells. */
  steps?: readonly KeptStep[];
  /** Id of its trace; absent: it has none. */
  trace?: string;
}
