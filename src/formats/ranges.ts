/**
 * Which numbers each API takes, so that a request of another format stays within: a number out of the range is cut to its
 * end, one that has no meaning there is left out, and both are said in `x-svc-dropped`. A caller of the API's own format
 * gets what it sent.
 *
 * Sources: OpenAI's and Anthropic's references of their requests; AWS's of `InferenceConfiguration`, and of Claude's `top_k`
 * in its own body; Google's references of `GenerationConfig`, of the Gemini
 * API for the types (int32) and of Vertex AI for penalties ("up to, but not including, 2.0") and `candidateCount`.
 */
import type { FormatName, Prompt } from "../exchange/prompt.ts";
import type { NamedField } from "./field_names.ts";

interface Range {
  least: number;
  most: number;
  /** Fractions are refused. */
  whole?: true;
  /** What is below says that there is no limit, as the field left out does. */
  belowIsNone?: true;
  /** Any number will do, so what is too large goes on from the beginning: different ones stay different. */
  wraps?: true;
}

/** Most answers that one call to Gemini gives. */
export const MOST_CANDIDATES = 8;

const INT32 = 0x7fffffff;

type NumberField = Extract<
  NamedField,
  | "temperature"
  | "topP"
  | "topK"
  | "seed"
  | "frequencyPenalty"
  | "presencePenalty"
  | "topLogprobs"
  | "n"
  | "maxOutput"
>;

const OUTPUT: Range = { least: 1, most: INT32, whole: true };
const SHARE: Range = { least: 0, most: 1 };
const LOGPROBS: Range = { least: 0, most: 20, whole: true };
const WIDE: Range = { least: 0, most: 2 };

const RANGES: Readonly<Record<FormatName, Partial<Record<NumberField, Range>>>> = {
  chat_completions: {
    temperature: WIDE,
    topP: SHARE,
    topLogprobs: LOGPROBS,
    maxOutput: OUTPUT,
  },
  responses: {
    temperature: WIDE,
    topP: SHARE,
    topLogprobs: LOGPROBS,
    maxOutput: { ...OUTPUT, least: 16 },
  },
  messages: {
    temperature: SHARE,
    topP: SHARE,
    topK: { least: 0, most: INT32, whole: true, belowIsNone: true },
    maxOutput: OUTPUT,
  },
  converse: {
    temperature: SHARE,
    topP: SHARE,
    topK: { least: 0, most: 500, whole: true, belowIsNone: true },
    maxOutput: OUTPUT,
  },
  gemini: {
    temperature: WIDE,
    topP: SHARE,
    topK: { least: 1, most: INT32, whole: true, belowIsNone: true },
    seed: { least: -INT32 - 1, most: INT32, whole: true, wraps: true },
    frequencyPenalty: { least: -2, most: 1.99 },
    presencePenalty: { least: -2, most: 1.99 },
    topLogprobs: LOGPROBS,
    n: { least: 1, most: MOST_CANDIDATES, whole: true },
    maxOutput: OUTPUT,
  },
};

/** The prompt with numbers that the API takes, and without a choice of a tool that it lacks; and the fields that had others. */
export function withinRanges(prompt: Prompt, api: FormatName): { prompt: Prompt; cut: NamedField[] } {
  const cut: NamedField[] = [];
  if (prompt.format === api) return { prompt, cut };
  let fitted: Prompt | undefined;
  if (choosesForeignTool(prompt, api)) {
    cut.push("toolChoice");
    fitted = { ...prompt, toolChoice: undefined };
  }
  const ranges = RANGES[api];
  for (const field in ranges) {
    const name = field as NumberField;
    const value = prompt[name];
    if (value === undefined) continue;
    const fitting = fit(value, ranges[name]!);
    if (fitting === value) continue;
    // A cap below the least that the API takes is raised to it, which loses nothing.
    if (name !== "maxOutput" || fitting! < value) cut.push(name);
    fitted ??= { ...prompt };
    fitted[name] = fitting;
  }
  return { prompt: fitted ?? prompt, cut };
}

function fit(value: number, { least, most, whole, belowIsNone, wraps }: Range): number | undefined {
  if (belowIsNone && value < least) return undefined;
  const near = whole ? Math.round(value) : value;
  if (wraps && (near < least || near > most)) return near % (most + 1);
  return Math.min(most, Math.max(least, near));
}

/** A tool of the caller's own provider may be chosen by its name, and is not told to another API. */
function choosesForeignTool({ toolChoice, tools }: Prompt, api: FormatName): boolean {
  if (toolChoice?.type !== "tool") return false;
  return tools.some((tool) =>
    tool.kind === "opaque" && tool.format !== api && tool.value.name === toolChoice.name
  );
}
