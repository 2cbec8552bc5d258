/** Changes to a JSON Schema and all schemas in it. */
import { isObject, type Loose } from "../exchange/json.ts";

/** Keywords whose values are a schema, a list of schemas, or schemas by name. */
const INNER = new Set([
  "items",
  "additionalItems",
  "additionalProperties",
  "contains",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
]);
const INNER_LISTS = new Set(["anyOf", "oneOf", "allOf", "prefixItems", "items"]);
const INNER_MAPS = new Set(["properties", "patternProperties", "$defs", "definitions"]);

/** Bounds the recursion; deeper schemas stay as they are. */
const DEEPEST = 100;

/**
 * Applies `change` to all schemas, the inner ones first. It must return the same object for no change; then
 * the result is the same object too, and nothing is copied.
 */
export function mapSchema(schema: Loose, change: (schema: Loose) => Loose): Loose {
  return mapped(schema, change, 0) as Loose;
}

function mapped(schema: unknown, change: (schema: Loose) => Loose, depth: number): unknown {
  if (!isObject(schema) || depth > DEEPEST) return schema;
  let copy: Loose | null = null;
  for (const key of Object.keys(schema)) {
    const value = schema[key];
    let inner = value;
    if (INNER.has(key) && isObject(value)) inner = mapped(value, change, depth + 1);
    else if (INNER_LISTS.has(key) && Array.isArray(value)) {
      const list = value.map((one) => mapped(one, change, depth + 1));
      if (list.some((one, i) => one !== value[i])) inner = list;
    } else if (INNER_MAPS.has(key) && isObject(value)) {
      const entries = Object.entries(value).map(([name, one]) =>
        [name, mapped(one, change, depth + 1)] as const
      );
      if (entries.some(([name, one]) => one !== value[name])) inner = Object.fromEntries(entries);
    }
    if (inner !== value) (copy ??= { ...schema })[key] = inner;
  }
  return change(copy ?? schema);
}

/**
 * A reference that has other keywords, as the only branch of `anyOf`: several APIs reject keywords beside
 * `$ref`, which Pydantic writes for a described field. Definitions stay beside it.
 */
export function loneReference(schema: Loose): Loose {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...others } = schema;
  const free = Object.keys(others).every((key) => key.startsWith("$") || key === "definitions");
  return free ? schema : { ...others, anyOf: [{ $ref }] };
}

/**
 * A schema of an older draft in draft 2020-12, which APIs check against: a list of `items` for a tuple, which
 * zod-to-json-schema writes, and flags for `exclusiveMinimum` and `required` are errors there.
 */
export function currentDraft(schema: Loose): Loose {
  const { items, exclusiveMinimum, exclusiveMaximum, required } = schema;
  const flags = [exclusiveMinimum, exclusiveMaximum, required].some((value) => typeof value === "boolean");
  if (!Array.isArray(items) && !flags) return schema;
  const form = { ...schema };
  if (Array.isArray(items)) {
    delete form.items;
    delete form.additionalItems;
    if (items.length > 0) form.prefixItems = items;
    if (schema.additionalItems !== undefined) form.items = schema.additionalItems;
  }
  if (typeof required === "boolean") delete form.required;
  for (const [flag, bound] of [["exclusiveMinimum", "minimum"], ["exclusiveMaximum", "maximum"]]) {
    if (typeof schema[flag] !== "boolean") continue;
    delete form[flag];
    if (schema[flag] !== true || schema[bound] === undefined) continue;
    form[flag] = schema[bound];
    delete form[bound];
  }
  return form;
}
