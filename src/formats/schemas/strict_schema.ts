/**
 * Whether OpenAI accepts a schema with `strict: true`: every object is closed and requires all of its
 * properties, and only keywords of its guide "Structured Outputs" occur. Anthropic's strict schemas may have
 * optional properties, and making those required or nullable would change what is valid; so other schemas are
 * sent with `strict: false`, which is reported in `x-svc-dropped`.
 */
import type { FormatName, FunctionTool, OutputShape, Prompt } from "../../exchange/prompt.ts";
import { array, isObject, type Loose } from "../../exchange/json.ts";
import { currentDraft, loneReference, mapSchema } from "./map_schema.ts";
import { functionSchema } from "./object_schema.ts";

/** Keywords whose values are or contain schemas. */
const SCHEMA = new Set(["items"]);
const SCHEMA_LIST = new Set(["anyOf"]);
const SCHEMA_MAP = new Set(["properties", "$defs", "definitions"]);

const PLAIN = new Set([
  "$schema",
  "$id",
  "$ref",
  "type",
  "title",
  "description",
  "required",
  "additionalProperties",
  "enum",
  "const",
  "pattern",
  "format",
  "multipleOf",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minItems",
  "maxItems",
]);

const FORMATS: ReadonlySet<unknown> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
]);

/** OpenAI's limits. */
const DEEPEST = 10;
const MOST_PROPERTIES = 5000;
const MOST_VALUES = 1000;
/** Total length of names of properties and definitions, and of values of `enum` and `const`. */
const MOST_LETTERS = 120_000;
/** An `enum` with more values than this may have texts of {@link LONG_LIST_LETTERS} in total. */
const LONG_LIST = 250;
const LONG_LIST_LETTERS = 15_000;

/** Keywords that do not restrict a value. */
const ANNOTATIONS: ReadonlySet<string> = new Set(["title", "description"]);

interface Size {
  properties: number;
  values: number;
  letters: number;
}

/** A valid schema without arguments. */
const NO_ARGUMENTS: Loose = { type: "object", properties: {}, additionalProperties: false };

/** References may have a title or description: they are sent in the form of {@link loneReference}. */
export function isStrict(schema: Loose): boolean {
  const size: Size = { properties: 0, values: 0, letters: 0 };
  return schema.type === "object" && schema.anyOf === undefined && qualifies(schema, 0, size) &&
    size.properties <= MOST_PROPERTIES && size.values <= MOST_VALUES && size.letters <= MOST_LETTERS;
}

function measured(values: readonly unknown[], size: Size): boolean {
  let letters = 0;
  for (const value of values) if (typeof value === "string") letters += value.length;
  size.letters += letters;
  return values.length <= LONG_LIST || letters <= LONG_LIST_LETTERS;
}

function qualifies(schema: unknown, depth: number, size: Size): boolean {
  if (!isObject(schema) || depth > DEEPEST) return false;
  const inside = (value: unknown) => qualifies(value, depth + 1, size);
  for (const key of Object.keys(schema)) {
    const value = schema[key];
    if (SCHEMA.has(key)) {
      if (!inside(value)) return false;
    } else if (SCHEMA_LIST.has(key)) {
      if (!array(value).every((branch) => qualifies(branch, depth, size)) || array(value).length === 0) {
        return false;
      }
    } else if (SCHEMA_MAP.has(key)) {
      if (!isObject(value) || !Object.values(value).every(inside)) return false;
      measured(Object.keys(value), size);
    } else if (!PLAIN.has(key)) return false;
  }
  if (schema.$ref !== undefined) {
    const others = Object.keys(schema).filter((key) => key !== "$ref");
    if (!others.every((key) => ANNOTATIONS.has(key))) return false;
  }
  const values = schema.const === undefined ? array(schema.enum) : [...array(schema.enum), schema.const];
  size.values += array(schema.enum).length;
  if (values.length > 0 && !measured(values, size)) return false;
  if (schema.format !== undefined && !FORMATS.has(schema.format)) return false;
  const types: unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type];
  if (types.includes("array") && schema.items === undefined) return false;
  if (types.includes("object") || schema.properties !== undefined) {
    if (schema.additionalProperties !== false || !isObject(schema.properties)) return false;
    const names = Object.keys(schema.properties);
    size.properties += names.length;
    const required = new Set(array(schema.required));
    if (!names.every((name) => required.has(name)) || required.size !== names.length) return false;
  }
  return ["type", "$ref", "enum", "const", "anyOf"].some((key) => schema[key] !== undefined);
}

/** The schema of a strict tool or output in a form that OpenAI accepts; undefined: there is none. */
function strictForm(schema: Loose): Loose | undefined {
  const form = mapSchema(schema, currentDraft);
  return isStrict(form) ? mapSchema(form, loneReference) : undefined;
}

function strictArguments(tool: FunctionTool): Loose | undefined {
  return tool.strict === true ? strictForm(tool.parameters ?? NO_ARGUMENTS) : undefined;
}

/** `parameters` and `strict` of a tool of another format at OpenAI. */
export function encodeStrictness(tool: FunctionTool): { parameters: Loose; strict: boolean } {
  const strict = strictArguments(tool);
  return strict === undefined
    ? { parameters: functionSchema(tool.parameters ?? NO_ARGUMENTS), strict: false }
    : { parameters: strict, strict: true };
}

/** `schema` and `strict` of an output schema of another format, which is strict by default in messages, at OpenAI. */
export function encodeOutputStrictness(
  output: SchemaShape,
  prompt: Prompt,
): { schema: Loose; strict: boolean } {
  const strict = wantsStrict(output, prompt) ? strictForm(output.schema) : undefined;
  return strict === undefined
    ? { schema: mapSchema(output.schema, currentDraft), strict: false }
    : { schema: strict, strict: true };
}

type SchemaShape = Extract<OutputShape, { type: "schema" }>;

function wantsStrict(output: SchemaShape, prompt: Prompt): boolean {
  return output.strict ?? prompt.format === "messages";
}

/**
 * Fields with which a caller of another format requested strictness that the provider cannot guarantee, by
 * the caller's names.
 */
export function lostStrictness(prompt: Prompt, provider: "openai" | "other"): string[] {
  const lost: string[] = [];
  const keeps = (tool: FunctionTool) => provider === "openai" && strictArguments(tool) !== undefined;
  if (prompt.tools.some((tool) => tool.kind === "function" && tool.strict === true && !keeps(tool))) {
    lost.push("tools.strict");
  }
  const { output } = prompt;
  if (
    provider === "openai" && output?.type === "schema" && wantsStrict(output, prompt) &&
    strictForm(output.schema) === undefined
  ) {
    lost.push(`${FIELD_OF[prompt.format]}.strict`);
  }
  return lost;
}

/** The schema including its description, for APIs without a field for that. */
export function describedSchema({ schema, description }: Extract<OutputShape, { type: "schema" }>): Loose {
  return description === undefined || schema.description !== undefined ? schema : { ...schema, description };
}

/** Fields with which a caller requested exact output that is only requested by instructions. */
export function lostExactness({ output, format }: Prompt): string[] {
  const exact = output?.type === "schema" && (output.strict ?? format === "messages");
  return exact ? [`${FIELD_OF[format]}.strict`] : [];
}

const FIELD_OF: Readonly<Record<FormatName, string>> = {
  chat_completions: "response_format",
  messages: "output_config.format",
  responses: "text.format",
  gemini: "format",
  converse: "format",
};
