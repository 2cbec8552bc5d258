/**
 * Schemas of tools' arguments in the form that other APIs accept: an object at the top level, without
 * alternatives or references there, and valid in the current draft.
 */
import { array, isObject, type Loose } from "../exchange/json.ts";
import { currentDraft, mapSchema } from "./map_schema.ts";

const ALTERNATIVES = ["allOf", "anyOf", "oneOf"] as const;

/** Bounds the recursion. */
const DEEPEST = 20;

/**
 * A schema whose top level is one object with all properties of its alternatives. What only some
 * alternatives require is optional.
 */
export function objectSchema(given: Loose | undefined): Loose {
  if (!given) return { type: "object", properties: {} };
  const schema = mapSchema(given, currentDraft);
  if (!hasAlternatives(schema)) {
    return schema.type === "object" ? schema : { ...schema, type: "object" };
  }
  const { $ref, allOf: _all, anyOf: _any, oneOf: _one, ...own } = schema;
  const target = typeof $ref === "string" ? resolveReference(schema, $ref) : undefined;
  const { $ref: _ref, allOf: _a, anyOf: _b, oneOf: _c, ...base } = isObject(target) ? target : {} as Loose;
  const merged: Loose = { ...base, ...own, type: "object" };
  const { properties, required } = shapeOf(schema, schema, 0) ?? NOTHING;
  merged.properties = Object.fromEntries(properties);
  if (required.size > 0) merged.required = [...required];
  return merged;
}

function hasAlternatives(schema: Loose): boolean {
  return schema.$ref !== undefined || ALTERNATIVES.some((key) => Array.isArray(schema[key]));
}

/**
 * A schema that OpenAI accepts without `strict`: it must have `properties`, its arrays must have `items`, and
 * its top level must not be restricted otherwise.
 */
export function functionSchema(schema: Loose | undefined): Loose {
  const form = mapSchema(objectSchema(schema), withItems);
  if (isObject(form.properties) && !RESTRICTIONS.some((key) => key in form)) return form;
  const { enum: _enum, const: _const, not: _not, ...others } = form;
  return { ...others, properties: isObject(form.properties) ? form.properties : {} };
}

const RESTRICTIONS = ["enum", "const", "not"] as const;

function withItems(schema: Loose): Loose {
  const isArray = schema.type === "array" || array(schema.type).includes("array");
  return isArray && schema.items === undefined ? { ...schema, items: {} } : schema;
}

/** Anthropic rejects all tools of a request if an argument of one has another name. */
const ARGUMENT = /^[a-zA-Z0-9_.-]{1,64}$/;

/** Whether Anthropic accepts the names of a function's arguments. */
export function hasPlainArguments(schema: Loose): boolean {
  const { properties } = hasAlternatives(schema) ? objectSchema(schema) : schema;
  if (!isObject(properties)) return true;
  for (const name in properties) if (!ARGUMENT.test(name)) return false;
  return true;
}

interface Shape {
  /** A Map, since a property may be named `__proto__`. */
  properties: Map<string, unknown>;
  required: Set<unknown>;
}

const NOTHING: Shape = { properties: new Map(), required: new Set() };

/** Null: the schema does not describe an object. */
function shapeOf(schema: Loose, root: Loose, depth: number): Shape | null {
  if (depth > DEEPEST) return NOTHING;
  if (schema.type !== undefined && schema.type !== "object" && !array(schema.type).includes("object")) {
    return null;
  }
  const properties = new Map(isObject(schema.properties) ? Object.entries(schema.properties) : []);
  const required = new Set(array(schema.required));
  const inside = (branch: unknown) => isObject(branch) ? shapeOf(branch, root, depth + 1) : null;
  const target = typeof schema.$ref === "string" ? resolveReference(root, schema.$ref) : undefined;
  const all = [target, ...array(schema.allOf)].map(inside).filter((shape) => shape !== null);
  add(properties, all, "allOf");
  for (const shape of all) for (const name of shape.required) required.add(name);
  for (const key of ["anyOf", "oneOf"] as const) {
    const branches = array(schema[key]).map(inside).filter((shape) => shape !== null);
    add(properties, branches, "anyOf");
    for (const name of branches[0]?.required ?? []) {
      if (branches.every((shape) => shape.required.has(name))) required.add(name);
    }
  }
  return { properties, required };
}

/** Adds properties of branches. If their schemas differ, `how` combines them. */
function add(properties: Map<string, unknown>, branches: readonly Shape[], how: "allOf" | "anyOf"): void {
  const found = new Map<string, Map<string, unknown>>();
  const own = new Set(properties.keys());
  for (const shape of [{ properties }, ...branches]) {
    for (const [name, schema] of shape.properties) {
      const known = found.get(name) ?? new Map();
      if (known.size === 0) found.set(name, known);
      known.set(JSON.stringify(schema), schema);
    }
  }
  for (const [name, schemas] of found) {
    // Alternatives only narrow a property of the object itself.
    if (how === "anyOf" && own.has(name)) continue;
    const list = [...schemas.values()];
    properties.set(name, list.length === 1 ? list[0] : { [how]: list });
  }
}

/** The schema at a local reference; undefined: there is none. */
export function resolveReference(root: Loose, reference: string): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let node: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    if (!isObject(node)) return undefined;
    node = node[step.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return isObject(node) ? node : undefined;
}
