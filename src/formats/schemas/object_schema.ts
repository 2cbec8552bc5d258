/**
 * Schemas of tools' arguments in the form that other APIs accept: an object at the top level, without
 * alternatives or references there, and valid in the current draft.
 */
import { Failure } from "../../exchange/failure.ts";
import { array, isObject, type Loose } from "../../exchange/json.ts";
import { currentDraft, mapSchema } from "./map_schema.ts";

const ALTERNATIVES = ["allOf", "anyOf", "oneOf"] as const;

/** Bounds the recursion. */
const DEEPEST = 100;
/**
 * Maximum number of properties and required names that are merged, for a schema without any, and so many more for each that it has: a short
 * schema can have very many, since each of a thousand alternatives may be a reference to a thousand properties.
 */
const MOST_MERGED = 5000;
const MERGED_EACH = 6;

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
  const { properties, required } = new Shapes(schema).of(schema, 0) ?? NOTHING;
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

/** The shapes of the schemas in a schema. Each is determined once, however many references there are to it. */
class Shapes {
  readonly #root: Loose;
  readonly #known = new Map<Loose, Shape | null>();
  /** JSON of schemas of properties. */
  readonly #texts = new Map<unknown, string>();
  /** How many more properties and required names may be merged. */
  #left: number;

  constructor(root: Loose) {
    this.#root = root;
    this.#left = MOST_MERGED + MERGED_EACH * namesIn(root);
  }

  /** Null: the schema does not describe an object. */
  of(schema: Loose, depth: number): Shape | null {
    if (depth > DEEPEST) return NOTHING;
    let shape = this.#known.get(schema);
    if (shape !== undefined) return shape;
    // A reference to a schema that contains it adds nothing.
    this.#known.set(schema, NOTHING);
    this.#known.set(schema, shape = this.#made(schema, depth));
    return shape;
  }

  #made(schema: Loose, depth: number): Shape | null {
    if (schema.type !== undefined && schema.type !== "object" && !array(schema.type).includes("object")) {
      return null;
    }
    const properties = new Map(isObject(schema.properties) ? Object.entries(schema.properties) : []);
    const required = new Set(array(schema.required));
    const inside = (branches: readonly unknown[]): Shape[] => {
      const shapes = branches.map((branch) => isObject(branch) ? this.of(branch, depth + 1) : null);
      return [...new Set(shapes.filter((shape) => shape !== null))];
    };
    const target = typeof schema.$ref === "string" ? resolveReference(this.#root, schema.$ref) : undefined;
    const all = inside([target, ...array(schema.allOf)]);
    const isAlone = properties.size === 0 && required.size === 0 && !schema.anyOf && !schema.oneOf;
    // Like a reference, which is the same shape as what it refers to.
    if (isAlone && all.length === 1) return all[0];
    this.#add(properties, all, "allOf");
    for (const shape of all) {
      this.#count(shape.required.size);
      for (const name of shape.required) required.add(name);
    }
    for (const key of ["anyOf", "oneOf"] as const) {
      const branches = inside(array(schema[key]));
      this.#add(properties, branches, "anyOf");
      for (const name of branches[0]?.required ?? []) {
        this.#count(branches.length);
        if (branches.every((shape) => shape.required.has(name))) required.add(name);
      }
    }
    return { properties, required };
  }

  /** Adds properties of branches. If their schemas differ, `how` combines them. */
  #add(properties: Map<string, unknown>, branches: readonly Shape[], how: "allOf" | "anyOf"): void {
    if (branches.length === 0) return;
    const found = new Map<string, Map<string, unknown>>();
    const own = new Set(properties.keys());
    for (const shape of [{ properties }, ...branches]) {
      this.#count(shape.properties.size);
      for (const [name, schema] of shape.properties) {
        const known = found.get(name) ?? new Map();
        if (known.size === 0) found.set(name, known);
        known.set(this.#textOf(schema), schema);
      }
    }
    for (const [name, schemas] of found) {
      // Alternatives only narrow a property of the object itself.
      if (how === "anyOf" && own.has(name)) continue;
      const list = [...schemas.values()];
      properties.set(name, list.length === 1 ? list[0] : { [how]: list });
    }
  }

  #count(names: number): void {
    this.#left -= names;
    if (this.#left < 0) throw tooManyAlternatives();
  }

  #textOf(schema: unknown): string {
    let text = this.#texts.get(schema);
    if (text === undefined) this.#texts.set(schema, text = JSON.stringify(schema));
    return text;
  }
}

/** Number of properties and required names that are written in a schema. */
function namesIn(root: Loose): number {
  let names = 0;
  mapSchema(root, (schema) => {
    if (isObject(schema.properties)) names += Object.keys(schema.properties).length;
    names += array(schema.required).length;
    return schema;
  });
  return names;
}

function tooManyAlternatives(): Failure {
  const message =
    "Cannot convert tools: expected a schema whose alternatives have fewer properties in common.";
  return new Failure("validation_error", message, {
    param: "tools",
    errors: [{ type: "too_long", loc: ["body", "tools"], msg: message }],
  });
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
