/**
 * Converts JSON Schemas for output from other formats to this format's dialect.
 *
 * The schema is enforced by a grammar and is restricted (documented under "structured outputs", and
 * implemented likewise in the official SDK): every object closed, `oneOf` as `anyOf`, lengths and ranges moved
 * to the description. For what cannot be enforced (recursion, maps, free-form values) {@link answerSchema}
 * returns null.
 */
import { array, isObject, type Loose } from "../../exchange/json.ts";
import { mapSchema, plainKeywords } from "../schemas/map_schema.ts";
import { resolveReference } from "../schemas/object_schema.ts";

/** String formats supported by the grammar. */
const FORMATS: ReadonlySet<unknown> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid",
]);

/** Bounds the recursion. */
const DEEPEST = 100;

/** Anthropic's limits: optional properties, and values of several types. */
const MOST_OPTIONAL = 24;
const MOST_UNIONS = 16;

interface Size {
  optional: number;
  unions: number;
}

class NotEnforceable extends Error {}

/** A schema for `output_config.format`; null if no grammar can enforce it. */
export function answerSchema(schema: Loose): Loose | null {
  const size: Size = { optional: 0, unions: 0 };
  try {
    const plain = mapSchema(schema, plainKeywords);
    const form = isRecursive(plain) ? null : closed(plain, 0, size);
    return size.optional > MOST_OPTIONAL || size.unions > MOST_UNIONS ? null : form;
  } catch (thrown) {
    // RangeError: stack overflow because of the nesting.
    if (thrown instanceof NotEnforceable || thrown instanceof RangeError) return null;
    throw thrown;
  }
}

function closed(given: unknown, depth: number, size: Size): Loose {
  if (!isObject(given) || depth > DEEPEST) throw new NotEnforceable();
  const schema = given.allOf === undefined ? given : withoutAllOf(given);
  const out: Loose = {};
  const words: Loose = {};
  for (const key of Object.keys(schema)) {
    const value = schema[key];
    switch (key) {
      case "$defs":
      case "definitions":
        out[key] = closedEach(value, depth, size);
        break;
      case "anyOf":
      case "oneOf":
        out.anyOf = closedList(value, depth, size);
        break;
      case "properties":
        out.properties = closedEach(value, depth, size);
        break;
      case "items":
        out.items = closed(value, depth + 1, size);
        break;
      case "$ref":
      case "type":
      case "description":
      case "title":
      case "required":
      case "enum":
      case "const":
        out[key] = value;
        break;
      case "$schema":
      case "$id":
      case "additionalProperties":
        break;
      case "format":
        (FORMATS.has(value) ? out : words).format = value;
        break;
      case "minItems":
        (value === 0 || value === 1 ? out : words).minItems = value;
        break;
      default:
        words[key] = value;
    }
  }
  if (schema.anyOf !== undefined && schema.oneOf !== undefined) throw new NotEnforceable();
  const types: unknown[] = Array.isArray(out.type) ? out.type : [out.type];
  if (out.anyOf !== undefined) {
    // A closed object cannot be combined with others: each would forbid the properties of the others.
    if (out.properties !== undefined || out.$ref !== undefined || types.length > 1) {
      throw new NotEnforceable();
    }
    if (types[0] === "object") delete out.type;
  } else if (types.includes("object") || out.properties !== undefined) closeObject(out, schema, size);
  if (types.includes("array") && out.items === undefined) throw new NotEnforceable();
  const shaped = ["type", "$ref", "enum", "const", "anyOf"].some((key) => out[key] !== undefined);
  if (!shaped) throw new NotEnforceable();
  if (types.length > 1 || out.anyOf !== undefined) size.unions++;
  if ([...array(out.enum), out.const].some((value) => typeof value === "object" && value !== null)) {
    throw new NotEnforceable();
  }
  if (Object.keys(words).length > 0) {
    const said = typeof out.description === "string" ? `${out.description}\n\n` : "";
    out.description = said + JSON.stringify(words);
  }
  const { $ref, ...others } = out;
  if ($ref === undefined || Object.keys(others).length === 0) return out;
  // A reference has no other keywords, except definitions at the top level.
  return { ...others, anyOf: [{ $ref }] };
}

/** Replaces `allOf` with one branch, as some generators write a reference with a description, by the branch. */
function withoutAllOf({ allOf, ...out }: Loose): Loose {
  const [branch, ...more] = array(allOf);
  if (!isObject(branch) || more.length > 0) throw new NotEnforceable();
  for (const key of Object.keys(branch)) {
    if (out[key] === undefined) out[key] = branch[key];
    else if (key !== "title" && key !== "description" && out[key] !== branch[key]) throw new NotEnforceable();
  }
  return out;
}

function closeObject(out: Loose, schema: Loose, size: Size): void {
  const open = schema.additionalProperties;
  // A closed object in place of a map or a free-form object could only be empty.
  if (isObject(open) || schema.patternProperties !== undefined) throw new NotEnforceable();
  if (out.properties === undefined && open !== false) throw new NotEnforceable();
  const names = new Set(Object.keys((out.properties ?? {}) as Loose));
  const required = new Set(array(out.required));
  if (![...required].every((name) => typeof name === "string" && names.has(name))) throw new NotEnforceable();
  size.optional += names.size - required.size;
  out.additionalProperties = false;
}

function closedEach(value: unknown, depth: number, size: Size): Loose {
  if (!isObject(value)) throw new NotEnforceable();
  const out: Loose = {};
  for (const [name, schema] of Object.entries(value)) {
    Object.defineProperty(out, name, {
      value: closed(schema, depth + 1, size),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return out;
}

function closedList(value: unknown, depth: number, size: Size): Loose[] {
  if (!Array.isArray(value) || value.length === 0) throw new NotEnforceable();
  return value.map((schema) => closed(schema, depth + 1, size));
}

/** Whether references are cyclic, or leave the schema. */
function isRecursive(root: Loose): boolean {
  const done = new Set<Loose>();
  const path = new Set<Loose>();
  const walk = (node: unknown): boolean => {
    if (Array.isArray(node)) return node.some(walk);
    if (!isObject(node) || done.has(node)) return false;
    if (path.has(node)) return true;
    path.add(node);
    if (typeof node.$ref === "string") {
      const target = resolveReference(root, node.$ref);
      if (target === undefined || walk(target)) return true;
    }
    for (const key of Object.keys(node)) {
      if (key !== "$defs" && key !== "definitions" && walk(node[key])) return true;
    }
    path.delete(node);
    done.add(node);
    return false;
  };
  return walk(root);
}
