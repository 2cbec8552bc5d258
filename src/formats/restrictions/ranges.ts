/**
 * Ranges of numbers accepted by each API, for requests in other formats: a value out of range is limited, a
 * value without meaning is omitted, and both are reported in `x-svc-dropped`. A caller of the API's own
 * format is not affected.
 *
 * Sources: OpenAI's and Anthropic's API references; AWS's of `InferenceConfiguration`, and of Claude's
 * `top_k`; Google's references of `GenerationConfig`, of the Gemini API for the types (int32) and of Vertex
 * AI for penalties ("up to, but not including, 2.0") and `candidateCount`.
 */
import type { FormatName, Prompt } from "../../exchange/prompt.ts";
import type { NamedField } from "../dropped/field_names.ts";

interface Range {
  least: number;
  most: number;
  /** Integers only. */
  whole?: true;
  /** A lower value means no limit, like an absent field. */
  belowIsNone?: true;
  /** Any number is valid, so larger values wrap around: different values usually stay different. */
  wraps?: true;
}

/** Maximum number of candidates per Gemini call. */
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

/**
 * The prompt with numbers within the ranges, and without a choice of an unavailable tool; and the fields that
 * were changed.
 */
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
    // An output limit below the API's minimum is raised without loss.
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

/** Whether the choice names a provider tool that is not sent to another API. */
function choosesForeignTool({ toolChoice, tools }: Prompt, api: FormatName): boolean {
  if (toolChoice?.type !== "tool") return false;
  return tools.some((tool) =>
    tool.kind === "opaque" && tool.format !== api && tool.value.name === toolChoice.name
  );
}
