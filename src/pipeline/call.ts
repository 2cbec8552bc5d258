/** The state of one call, which guards and stages of the pipeline share. */
import type { Key, Reservation } from "../accounts/mod.ts";
import type { AnswerRules } from "../dlp/answer_rules.ts";
import type { Mode } from "../dlp/policy.ts";
import type { Fees } from "../exchange/fees.ts";
import type { CallerFormatName } from "../exchange/format_name.ts";
import type { PriceSheet } from "../exchange/prices.ts";
import type { Labels } from "../exchange/labels.ts";
import type { Part } from "../exchange/part.ts";
import type { Prompt } from "../exchange/prompt.ts";
import type { Usage } from "../exchange/usage.ts";
import type { CallerFormat, DlpReport } from "../formats/format.ts";
import type { Model } from "../models/catalog.ts";
import type { PromptSize } from "../models/limits.ts";
import type { CallerCredential, Route } from "../providers/provider.ts";
import type { judgeHits } from "../dlp/answer_fields.ts";
import type { CallMemory } from "./answer_memory.ts";
import type { screenAnswer } from "./screening/screen_answer.ts";
import type { SearchScreening } from "./screening/screen_search.ts";
import type { Shape } from "./shape.ts";
import type { Clock } from "../timing/clock.ts";
import type { Steps } from "./steps.ts";

/** A request as `http/` passes it on: the key is authenticated, the body is parsed but not decoded. */
export interface Arrival {
  /** `gen_…` */
  id: string;
  format: CallerFormat;
  formatName: CallerFormatName;
  key: Key;
  /** The parsed JSON body. */
  body: unknown;
  /** The request is for a compaction of its conversation: by the provider if its API has that, else by a summary. */
  compacts?: boolean;
  /** The body is so large that work on all of it is done in separate slices. */
  large: boolean;
  /** The request headers with this prefix; names in lower case. */
  headers(prefix: string): Record<string, string>;
  /** A request header, by its name in lower case. */
  header(name: string): string | null;
  /** Whether the caller has disconnected. */
  disconnected(): boolean;
  /** A repeated request may join this one, so the provider is called even if the caller disconnects before. Absent: no. */
  joinable?: boolean;
  /** Records the processing steps. */
  steps: Steps;
  /** Data-loss prevention has let the request pass, or does not apply. Absent: not yet. */
  passed?: boolean;
  /** The cost is reserved: from now on the end of the call is recorded through its reservation. Absent: not yet. */
  admitted?: boolean;
}

/** Rules and modules for screening an answer; loaded only if needed. */
export interface AnswerScreening {
  rules: AnswerRules;
  screen: typeof screenAnswer;
  judgeHits: typeof judgeHits;
}

/** The result of screening a request that was let through. */
export interface Screened {
  mode: Mode;
  /** Findings; those of the answer are added later. */
  findings: number;
  /** The check for its answer; null: answers are not screened. */
  answers: AnswerScreening | null;
  /** The report for the answer; null: the request did not ask for it. */
  report: DlpReport | null;
  headers: Record<string, string>;
  /**
   * Placeholders to replace by the original values in the answer; null: placeholders stay. Those of search results are added when the
   * results come.
   */
  originals: ReadonlyMap<string, string> | null;
  search: SearchScreening;
}

export interface ProviderUse {
  usage: Usage | null;
  /** The service tier that the provider reports. */
  service: string | undefined;
  /** Number of searches that the provider ran itself. Absent: none. */
  searches?: number;
  /** Uses of the provider's other tools that have a fee. Absent: none. */
  fees?: Fees;
  /** The call used the caller's own credential, so it is not billed. Absent: no. */
  own?: boolean;
  /** The provider of the call. */
  provider?: string;
  /** The usage of a cancelled call is an estimate. Absent: the provider reported it. */
  estimated?: boolean;
  /** The catalog model that answered, if it is not the requested one. Absent: the requested one, or unknown. */
  served?: Model;
  /** Parts of the usage by other catalog models. Absent: none, or unknown. */
  beside?: readonly { model: Model; usage: Usage }[];
}

/** Additional models that a request names: they may answer, or be called as advisors. */
export interface Others {
  /** The models that are in the catalog. */
  models: readonly Model[];
  /** For each further model that may be billed for the same request, its maximum output; 0: that of the request. */
  tries: readonly number[];
  /** Maximum output tokens of advisor models and generated images, in addition to the answer. */
  advice: number;
  /** Maximum output tokens of one generated image; 0: no tool generates images. */
  image: number;
  /** The routes of the call whose providers may get the names of the additional models. */
  routes: readonly Route[];
}

/** Accepts parts at once and resolves when it can accept more (backpressure); null: it does not accept them. */
export type DeltaSink = (batch: readonly Part[]) => Promise<void> | null;

/** Parts of an answer, in order. */
export interface Parts extends AsyncGenerator<readonly Part[]> {
  /**
   * Fast path: while the consumer waits for the next batch, text deltas may be passed directly to this callback and are then not part of
   * a batch. Passing each of thousands of deltas from stage to stage costs more than processing them. Absent: a stage must see all parts.
   */
  sendDeltasTo?(deltaSink: DeltaSink): void;
}

/** Parallel provider calls whose answers form one answer. */
export interface Together {
  /** Resolves once the first call has capacity at its provider, or all are over; the others wait for that. */
  placed: PromiseWithResolvers<void>;
  /** One call has failed, or all have ended: calls that have not begun are not made. */
  over: boolean;
}

/** An admitted call. */
export interface Call {
  arrival: Arrival;
  prompt: Prompt;
  model: Model;
  /** The routes of the model that the call may use. */
  routes: readonly Route[];
  /** The caller's own credential at a provider; null: there is none. */
  callerCredential: CallerCredential | null;
  shape: Shape;
  /** Additional models that the request names; null: none. */
  others: Others | null;
  /** The request is for `svc/auto`: its own maximum output, and the models that could not answer. Null: it names a model. */
  auto: { maxOutput: number | undefined; tried: Set<Model> } | null;
  size: PromptSize;
  reservation: Reservation;
  /** Tags and session of the call. */
  labels: Labels | null;
  /** Prices that are in force for the call. */
  sheet: PriceSheet;
  /** Price of a search at the time of the admission, for models without one. Undefined: none. */
  searchPrice: string | undefined;
  /** Number of provider calls that were begun. */
  asked: number;
  /** Its parallel provider calls; null: calls are made one after the other. */
  together: Together | null;
  /** The usage reported so far by each provider call. */
  uses: ProviderUse[];
  /** Output of hedged calls that were cancelled because another route was faster. */
  lost: ProviderUse[];
  /** Null: not screened. */
  screened: Screened | null;
  /** Milliseconds since the epoch. */
  created: number;
  /** The same moment by the monotonic clock, for measuring durations. */
  began: number;
  /** Number of tool calls whose arguments were repaired. */
  repaired: number;
  /** Headers of the answer; stages add to them until the first part is sent. */
  headers: Record<string, string>;
  /** The answer is so large that work on all of it is done in separate slices. */
  large: boolean;
  /** Memory that the call uses for large answers; null: none. */
  memory: CallMemory | null;
  /** The provider that answers; absent before. */
  provider: string | null;
  /** The route that answered the previous round of a search. Absent: there was none. */
  previous?: Route;
  /** Functions that end the answers that are being read. */
  answers: Set<() => void>;
  /** Fast path for text deltas past all stages; null: deltas are passed from stage to stage. */
  deltaSink: DeltaSink | null;
  /** The call was ended by {@link cutOff}: its caller has disconnected, and its capacity is needed. */
  cut: boolean;
}

/** The requested model, or another catalog model that answered instead according to the provider. */
export function answeredBy({ uses, model }: Pick<Call, "uses" | "model">): Model {
  return uses.at(-1)?.served ?? model;
}

/** How long a call has taken so far, in whole milliseconds. */
export function elapsed({ began }: Pick<Call, "began">, { ticker }: { ticker: Clock }): number {
  return Math.round(ticker.now() - began);
}

/**
 * Ends a call whose caller has disconnected. It is recorded as interrupted, with its usage so far. False: no provider has begun to
 * answer, so the call continues until one does.
 */
export function cutOff(call: Call): boolean {
  call.cut = true;
  const ends = call.answers.size > 0;
  for (const end of call.answers) end();
  return ends;
}
