/** Changes to a JSON Schema and all schemas in it. */
import { isObject, type Loose } from "../exchange/json.ts";

/** Keywords whose values are a schema, a list of schemas, or schemas by name. */
const INNER = new Set([
  "items",
  "additionalProperties",
  "contains",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
]);
const INNER_LISTS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
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
    if (INNER.has(key)) inner = mapped(value, change, depth + 1);
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
