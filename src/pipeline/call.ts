/** A call on its way through the pipeline, and what its stages leave with it. */
import type { Key, Reservation } from "../accounts/mod.ts";
import type { AnswerRules } from "../dlp/answer_rules.ts";
import type { Mode } from "../dlp/policy.ts";
import type { CallerFormatName } from "../exchange/format_name.ts";
import type { PriceSheet } from "../exchange/prices.ts";
import type { Labels } from "../exchange/labels.ts";
import type { Part } from "../exchange/part.ts";
import type { Prompt } from "../exchange/prompt.ts";
import type { Usage } from "../exchange/usage.ts";
import type { CallerFormat, DlpReport } from "../formats/format.ts";
import type { Model } from "../models/catalog.ts";
import type { PromptSize } from "../models/limits.ts";
import type { Passing, Route } from "../providers/provider.ts";
import type { judgeHits } from "../dlp/answer_fields.ts";
import type { HeldAnswer } from "./answer_memory.ts";
import type { screenAnswer } from "./screen_answer.ts";
import type { Shape } from "./shape.ts";
import type { Clock } from "../timing/clock.ts";
import type { Steps } from "./steps.ts";

/** A request as `http/` hands it over: its key is known, its body is parsed and not yet decoded. */
export interface Arrival {
  /** `gen_…` */
  id: string;
  format: CallerFormat;
  formatName: CallerFormatName;
  key: Key;
  /** The parsed JSON body. */
  body: unknown;
  /** It asks for a compaction of its conversation: of a provider that has such, else by the summary that its body asks for. */
  compacts?: boolean;
  /** The body's text was so long that what is done with all of it is done in steps of their own. */
  large: boolean;
  /** Its headers whose names begin so; names in lower case. */
  headers(prefix: string): Record<string, string>;
  /** One of its headers, by its name in lower case. */
  header(name: string): string | null;
  /** Whether the caller has left meanwhile. */
  gone(): boolean;
  /** A repeat of the request may wait for the same answer: a provider is asked also where the caller leaves before. Absent: no. */
  joinable?: boolean;
  /** What it goes through. */
  steps: Steps;
  /** Data-loss prevention let it pass, or does not look at it. Absent: not yet. */
  passed?: boolean;
  /** What it may cost is reserved: from here on its reservation tells how it ends. Absent: not yet. */
  admitted?: boolean;
}

/** What an answer is screened for, and by what: loaded only where it is needed. */
export interface AnswerScreening {
  rules: AnswerRules;
  screen: typeof screenAnswer;
  judgeHits: typeof judgeHits;
}

/** What is known of a call's data after its guard let it pass. */
export interface Screened {
  mode: Mode;
  /** Those of the answer are added as they come. */
  findings: number;
  /** What its answer is looked at for; null: it is not. */
  answers: AnswerScreening | null;
  /** For the answer; null when the request did not ask. */
  report: DlpReport | null;
  headers: Record<string, string>;
  /** Placeholders to be turned back in the answer; null: none are. */
  originals: ReadonlyMap<string, string> | null;
  /** What may leave of a query for a search; null: nothing. */
  query(text: string): Promise<string | null>;
}

export interface ProviderUse {
  usage: Usage | null;
  /** The tier of service that the provider says it gave. */
  service: string | undefined;
  /** It was paid by the caller's own credential. Absent: no. */
  own?: boolean;
  /** Whose usage it is. */
  provider?: string;
  /** Of a cancelled call: the provider did not report the usage. Absent: it did. */
  estimated?: boolean;
  /** Another model of the catalog answered than the asked one. Absent: none, or nobody knows. */
  served?: Model;
  /** Parts of the usage that other models of the catalog had. Absent: none, or nobody knows. */
  beside?: readonly { model: Model; usage: Usage }[];
}

/** Other models that may answer a request or be asked for advice, since it names them. */
export interface Others {
  /** Those of the catalog. */
  models: readonly Model[];
  /** One for each further model that may bill a try of the same request: the cap on its output; 0: the request's. */
  tries: readonly number[];
  /** Output tokens that models asked for advice may bill beside the answer. */
  advice: number;
  /** Of the routes that the call could take, those whose providers may be told of the others. */
  routes: readonly Route[];
}

/** Takes parts on at once, and resolves when it can take more; null: it leaves them. */
export type Onward = (batch: readonly Part[]) => Promise<void> | null;

/** Parts of an answer, in order. */
export interface Parts extends AsyncGenerator<readonly Part[]> {
  /**
   * Pieces of text may be handed over at once while somebody waits for what comes next, who is then not told of what was taken: to
   * pass each of thousands from stage to stage costs more than all that is done with it. Absent: a stage in between has to see them.
   */
  shorten?(onward: Onward): void;
}

/** Calls of providers side by side, whose answers are one. */
export interface Together {
  /** Resolves once the first of them has a place at its provider, or they are over: until then the others wait for none. */
  placed: PromiseWithResolvers<void>;
  /** One of them has failed, or all have ended: those that have not been begun never are. */
  over: boolean;
}

/** An admitted call on its way. */
export interface Call {
  arrival: Arrival;
  prompt: Prompt;
  model: Model;
  /** Those of the model's that the call may take. */
  routes: readonly Route[];
  /** The caller's own credential at a provider; null: there is none. */
  passing: Passing | null;
  shape: Shape;
  /** Other models that may answer or be asked as well, since the request names them; null: there are none. */
  others: Others | null;
  size: PromptSize;
  reservation: Reservation;
  /** Names and values that the caller gave it. */
  labels: Labels | null;
  /** Prices that are in force for the call. */
  sheet: PriceSheet;
  /** How many calls of providers it has begun. */
  asked: number;
  /** Its calls of providers run side by side; null: there is one, or one after the other. */
  together: Together | null;
  /** What each call of a provider reports to have used so far. */
  uses: ProviderUse[];
  /** What calls said that were cancelled because another route was quicker. */
  lost: ProviderUse[];
  /** Null: nothing was checked. */
  screened: Screened | null;
  /** Milliseconds since the epoch. */
  created: number;
  /** The same moment by the ticker's clock, which nobody sets: what the call took is measured from it. */
  began: number;
  /** Tool calls whose arguments were mended. */
  repaired: number;
  /** Headers of the answer; stages add to them until the first part is out. */
  headers: Record<string, string>;
  /** So is what is done with all of the answer. */
  large: boolean;
  /** What it holds of large answers, until it is over; null: there are none. */
  held: HeldAnswer | null;
  /** The provider that answers, once one does. */
  provider: string | null;
  /** Answers that are being read; ends each, so that nothing more comes of it. */
  answers: Set<() => void>;
  /** Takes pieces of text past all stages; null: they go from stage to stage. */
  onward: Onward | null;
  /** It was ended before its time: nobody waits for it, and its place is needed. */
  cut: boolean;
}

/** The asked model, or another one of the catalog that the provider says has answered instead. */
export function answeredBy({ uses, model }: Pick<Call, "uses" | "model">): Model {
  return uses.at(-1)?.served ?? model;
}

/** How long a call has taken so far, in whole milliseconds. */
export function elapsed({ began }: Pick<Call, "began">, { ticker }: { ticker: Clock }): number {
  return Math.round(ticker.now() - began);
}

/**
 * Ends a call whose caller has left. It is recorded as interrupted, with what it used by now. False: no provider has begun to
 * answer it, so that it goes on until one does.
 */
export function cutOff(call: Call): boolean {
  call.cut = true;
  const ends = call.answers.size > 0;
  for (const end of call.answers) end();
  return ends;
}
