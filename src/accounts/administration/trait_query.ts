/** Query parameters of the search over generations beyond the indexed fields, with their descriptions. */
import type { GenerationTraits } from "../../store/mod.ts";

/** Parameter names of text fields. */
export const TEXTS = {
  provider: ["provider", "Only those that this provider answered."],
  format: ["format", "Only of this format."],
  status: ["status", "Only those with this status."],
  error_code: ["errorCode", "Only those that failed with this code."],
  team: ["team", "Only of this team."],
  requested_model: ["requestedModel", "Only those that asked for this model, such as svc/auto."],
  price_version: ["priceVersion", "Only those that were billed at prices of this name."],
  dlp_mode: ["dlpMode", "Only those that were screened in this mode."],
} as const satisfies Record<string, [keyof GenerationTraits, string]>;

/** Allowed values of fields with a closed set of values: a misspelt one would silently find nothing. */
export const VALUES = {
  format: ["chat_completions", "messages", "responses"],
  status: ["completed", "incomplete", "failed", "interrupted"],
  dlp_mode: ["alert", "mask", "block"],
} as const satisfies Partial<Record<keyof typeof TEXTS, readonly string[]>>;

/** Restrictions of a text parameter. */
interface Allowed {
  type?: "integer";
  least?: number;
  values?: readonly string[];
  pattern?: string;
}

const YES_OR_NO: Allowed = { values: ["true", "false"] };
const ALLOWED: Record<"string" | "integer", Allowed> = {
  string: { pattern: String.raw`^\d{1,7}(?:\.\d{1,12})?$` },
  integer: { type: "integer", least: 0 },
};

type NumberTrait = keyof NonNullable<GenerationTraits["least"]>;

export const NUMBERS = {
  cost: ["cost", "that cost", "dollars", "string"],
  latency: ["latencyMs", "that took", "milliseconds", "integer"],
  ttft: ["ttftMs", "whose first output took", "milliseconds", "integer"],
  input_tokens: ["inputTokens", "that read", "tokens", "integer"],
  output_tokens: ["outputTokens", "that wrote", "tokens", "integer"],
} as const satisfies Record<string, [NumberTrait, verb: string, unit: string, type: string]>;

export const FLAGS = {
  findings: ["findings", "in which screening found something"],
  searched: ["searched", "that searched the web"],
  client_gone: ["clientGone", "whose caller left"],
  cached: ["cached", "that read from a cache"],
  reasoned: ["reasoned", "that reasoned"],
  media: ["media", "with pictures, audio or video"],
  called_tools: ["calledTools", "that called the caller's tools"],
  repaired: ["repaired", "whose tool calls were mended"],
  estimated: ["estimated", "whose usage was estimated"],
  own_credential: ["ownCredential", "that the caller's own credential paid"],
} as const satisfies Record<string, [keyof GenerationTraits, string]>;

export type NumberQuery = `${"min" | "max"}_${keyof typeof NUMBERS}`;
export type TraitQuery = Partial<
  Record<keyof typeof TEXTS | keyof typeof FLAGS | NumberQuery | "tag" | "stream", string>
>;

/** The parameters with their descriptions. */
export const TRAIT_PARAMETERS: readonly (readonly [keyof TraitQuery, text: string, allowed: Allowed])[] = [
  ...namesOf(TEXTS).map((name) => [name, TEXTS[name][1], allowedOf(name)] as const),
  ["tag", "Only with this tag, as name=value, or name alone.", {}],
  ...namesOf(NUMBERS).flatMap((name) => {
    const [, verb, unit, type] = NUMBERS[name];
    return [
      [`min_${name}`, `Only those ${verb} at least so many ${unit}.`, ALLOWED[type]],
      [`max_${name}`, `Only those ${verb} at most so many ${unit}.`, ALLOWED[type]],
    ] as const;
  }),
  ["stream", "Only those that were streamed (true) or were not (false).", YES_OR_NO],
  ...namesOf(FLAGS).map((name) =>
    [name, `True: only those ${FLAGS[name][1]}. False: all.`, YES_OR_NO] as const
  ),
];

function allowedOf(name: keyof typeof TEXTS): Allowed {
  return name in VALUES ? { values: VALUES[name as keyof typeof VALUES] } : {};
}

/** The names of a table's fields, with their types. */
export function namesOf<T extends object>(table: T): (keyof T & string)[] {
  return Object.keys(table) as (keyof T & string)[];
}
