/** Answers made of parts, and what the screening lets through of them. */
import { AnswerRules, type OwnSecrets } from "../../src/dlp/answer_rules.ts";
import { DEFAULT_TYPES } from "../../src/dlp/entities.ts";
import { answerCheck } from "../../src/dlp/merge.ts";
import type { AnswerMode, Rules } from "../../src/dlp/policy.ts";
import { Slices } from "../../src/timing/slices.ts";
import { openRe2 } from "../../src/dlp/re2.ts";
import type { Finding } from "../../src/dlp/scan.ts";
import { collect } from "../../src/exchange/answer.ts";
import type { FormatName } from "../../src/exchange/format_name.ts";
import type { Part } from "../../src/exchange/part.ts";
import { normalizeUsage } from "../../src/exchange/usage.ts";
import { screenAnswer } from "../../src/pipeline/screening/screen_answer.ts";
import { stopWordFinder } from "../../src/dlp/stop_words.ts";
import { Ticker } from "../../src/timing/ticker.ts";

export const CARD = "4539 5787 6362 1486";
export const MAIL = "jane.doe@corp.example";
export const OWN = "provider-key-8d7f6a5s4d";
export const CALLER = "sk_live_testkeytestkeytestkeytestkey01";
export const NO_SECRETS: OwnSecrets = { values: [], finder: null, isKey: () => false };
export const SECRETS: OwnSecrets = {
  values: [OWN],
  finder: stopWordFinder([{ value: OWN, match: "exact" }]),
  isKey: (text) => text === CALLER,
};

export interface Found {
  type: string;
  location: string;
  start: number;
  end: number;
}

export interface Outcome {
  parts: Part[];
  batches: (readonly Part[])[];
  found: Found[];
}

export interface Options extends Partial<Rules> {
  answers?: AnswerMode;
  /** The caller's; absent: messages. */
  format?: FormatName;
  secrets?: OwnSecrets;
  known?: ReadonlyMap<string, string>;
  ticker?: Ticker;
}

export const re2 = openRe2();
addEventListener("unload", () => re2.close());

export function guardOf({ secrets, known, ticker, format, ...rules }: Options, found: Found[]) {
  const check = answerCheck(
    {
      mode: "alert",
      answers: "mask",
      types: DEFAULT_TYPES,
      stopWords: [],
      patterns: [],
      allowed: [],
      ...rules,
    },
    null,
    { unscannable: "pass", restore: false },
  );
  return {
    rules: new AnswerRules(
      check!,
      { re2, slices: new Slices(), key: "k" },
      secrets ?? NO_SECRETS,
      known === undefined ? null : { originals: known, taken: new Set(known.keys()) },
    ),
    format: format ?? "messages",
    ticker: ticker ?? new Ticker({ now: () => 0 }),
    choice: 0,
    pause: () => Promise.resolve(),
    held() {},
    promptChars: 40,
    lengths: new Map<string, number>(),
    found: ({ entityType, start, end }: Finding, location: string) =>
      void found.push({ type: entityType, location, start, end }),
  };
}

export async function screened(
  batches: readonly (readonly Part[])[],
  options: Options = {},
): Promise<Outcome> {
  const found: Found[] = [];
  async function* source() {
    for (const batch of batches) {
      await Promise.resolve();
      yield batch;
    }
  }
  const out: (readonly Part[])[] = [];
  for await (const batch of screenAnswer(source(), guardOf(options, found))) out.push(batch);
  return { parts: out.flat(), batches: out, found };
}

export const START: Part = { type: "start" };
export const FINISH: Part = { type: "finish", choice: 0, reason: "stop" };
export const USAGE: Part = { type: "usage", usage: normalizeUsage({ input: 10, output: 20 }) };

export function text(pieces: readonly string[], block = 0, choice = 0): Part[] {
  return [
    { type: "text-start", block, choice },
    ...pieces.map((piece): Part => ({ type: "text-delta", block, text: piece })),
    { type: "text-end", block },
  ];
}

export function call(pieces: readonly string[], block = 0, choice = 0, name = "send"): Part[] {
  return [
    { type: "call-start", block, choice, id: `c${block}`, name, kind: "function" },
    ...pieces.map((piece): Part => ({ type: "call-delta", block, text: piece })),
    { type: "call-end", block },
  ];
}

export const whole = (...parts: Part[]) => [START, ...parts, USAGE, FINISH];
export const singly = (...parts: Part[]) => whole(...parts).map((part) => [part]);
export const cuts = (value: string) =>
  Array.from({ length: value.length + 1 }, (_, i) => [value.slice(0, i), value.slice(i)]);
export const letters = (value: string) => [...value];

export function textOf({ parts }: Outcome): string {
  return collect(parts).choices[0].blocks.map((block) =>
    block.type === "text" ? block.text : block.type === "reasoning" ? block.sections.join("|") : ""
  ).join("");
}

export function argumentsOf({ parts }: Outcome): string[] {
  return collect(parts).choices[0].blocks.flatMap((block) => block.type === "call" ? [block.arguments] : []);
}

export const reasonOf = ({ parts }: Outcome) => collect(parts).choices[0].reason;
