/**
 * Whether OpenAI accepts a schema with `strict: true`: every object is closed and requires all of its
 * properties, and only keywords of its guide "Structured Outputs" occur. Anthropic's strict schemas may have
 * optional properties, and making those required or nullable would change what is valid; so other schemas are
 * sent with `strict: false`, which is reported in `x-svc-dropped`.
 */
import type { FormatName, FunctionTool, OutputShape, Prompt } from "../exchange/prompt.ts";
import { array, isObject, type Loose } from "../exchange/json.ts";

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

/** OpenAI's limit. */
const DEEPEST = 10;

const MOST_PROPERTIES = 5000;

/** A valid schema without arguments. */
export const NO_ARGUMENTS: Loose = { type: "object", properties: {}, additionalProperties: false };

export function isStrict(schema: Loose): boolean {
  const count = { properties: 0 };
  return schema.type === "object" && schema.anyOf === undefined && qualifies(schema, 0, count) &&
    count.properties <= MOST_PROPERTIES;
}

function qualifies(schema: unknown, depth: number, count: { properties: number }): boolean {
  if (!isObject(schema) || depth > DEEPEST) return false;
  const inside = (value: unknown) => qualifies(value, depth + 1, count);
  for (const key of Object.keys(schema)) {
    const value = schema[key];
    if (SCHEMA.has(key)) {
      if (!inside(value)) return false;
    } else if (SCHEMA_LIST.has(key)) {
      if (!array(value).every((branch) => qualifies(branch, depth, count)) || array(value).length === 0) {
        return false;
      }
    } else if (SCHEMA_MAP.has(key)) {
      if (!isObject(value) || !Object.values(value).every(inside)) return false;
    } else if (!PLAIN.has(key)) return false;
  }
  if (schema.format !== undefined && !FORMATS.has(schema.format)) return false;
  const types: unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type];
  if (types.includes("array") && schema.items === undefined) return false;
  if (types.includes("object") || schema.properties !== undefined) {
    if (schema.additionalProperties !== false || !isObject(schema.properties)) return false;
    const names = Object.keys(schema.properties);
    count.properties += names.length;
    const required = new Set(array(schema.required));
    if (!names.every((name) => required.has(name)) || required.size !== names.length) return false;
  }
  return ["type", "$ref", "enum", "const", "anyOf"].some((key) => schema[key] !== undefined);
}

/** Whether a tool of another format can be strict at OpenAI. */
export function keepsStrict(tool: FunctionTool): boolean {
  return tool.strict === true && isStrict(tool.parameters ?? NO_ARGUMENTS);
}

/** Whether an output schema of another format, which is strict by default in messages, can be strict at OpenAI. */
export function keepsStrictOutput(output: SchemaShape, prompt: Prompt): boolean {
  return wantsStrict(output, prompt) && isStrict(output.schema);
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
  const keeps = (tool: FunctionTool) => provider === "openai" && keepsStrict(tool);
  if (prompt.tools.some((tool) => tool.kind === "function" && tool.strict === true && !keeps(tool))) {
    lost.push("tools.strict");
  }
  const { output } = prompt;
  if (
    provider === "openai" && output?.type === "schema" && wantsStrict(output, prompt) &&
    !isStrict(output.schema)
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
