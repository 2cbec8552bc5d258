/** Changes to a JSON Schema and all schemas in it. */
import { isObject, type Loose } from "../../exchange/json.ts";

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
  for (const key in schema) {
    const value = schema[key];
    // Most keywords have plain values.
    if (typeof value !== "object" || value === null) continue;
    let inner: unknown = value;
    if (Array.isArray(value)) {
      if (INNER_LISTS.has(key)) inner = mappedList(value, change, depth);
    } else if (INNER.has(key)) inner = mapped(value, change, depth + 1);
    else if (INNER_MAPS.has(key)) inner = mappedEach(value as Loose, change, depth);
    if (inner !== value) (copy ??= { ...schema })[key] = inner;
  }
  return change(copy ?? schema);
}

function mappedList(list: unknown[], change: (schema: Loose) => Loose, depth: number): unknown[] {
  let copy: unknown[] | null = null;
  for (let i = 0; i < list.length; i++) {
    const inner = mapped(list[i], change, depth + 1);
    if (inner !== list[i]) (copy ??= [...list])[i] = inner;
  }
  return copy ?? list;
}

function mappedEach(schemas: Loose, change: (schema: Loose) => Loose, depth: number): Loose {
  let changes: Map<string, unknown> | null = null;
  for (const name in schemas) {
    const inner = mapped(schemas[name], change, depth + 1);
    if (inner !== schemas[name]) (changes ??= new Map()).set(name, inner);
  }
  if (changes === null) return schemas;
  // Not by assignment, since a property may be named `__proto__`.
  return Object.fromEntries([...Object.entries(schemas), ...changes]);
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

/** Keywords for which null is a value. */
const NULLABLE: ReadonlySet<string> = new Set(["const", "default", "example"]);

/** Type names in capitals, as in Google's own schemas. */
const CAPITALS = /^(?:STRING|NUMBER|INTEGER|BOOLEAN|ARRAY|OBJECT|NULL)$/;

/**
 * A schema without keywords that are null, which Go's encoder writes for an empty `required`, and with the
 * names of types in small letters. APIs reject both.
 */
export function plainKeywords(schema: Loose): Loose {
  let form = schema;
  for (const key in schema) {
    if (schema[key] !== null || NULLABLE.has(key)) continue;
    if (form === schema) form = { ...schema };
    delete form[key];
  }
  const { type } = schema;
  return typeof type === "string" && CAPITALS.test(type) ? { ...form, type: type.toLowerCase() } : form;
}

/**
 * A schema of an older draft in draft 2020-12, which APIs check against: a list of `items` for a tuple, which
 * zod-to-json-schema writes, and flags for `exclusiveMinimum` and `required` are errors there.
 */
export function currentDraft(given: Loose): Loose {
  const schema = plainKeywords(given);
  const { items, required } = schema;
  const flags = typeof schema.exclusiveMinimum === "boolean" ||
    typeof schema.exclusiveMaximum === "boolean" ||
    typeof required === "boolean";
  if (!flags && !Array.isArray(items)) return schema;
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
