/**
 * Converts JSON Schemas of other formats to this format's dialect.
 *
 * A tool's schema must be an object at the top level, without alternatives there. A schema for output is
 * enforced by a grammar and is more restricted (documented under "structured outputs", and implemented
 * likewise in the official SDK): every object closed, `oneOf` as `anyOf`, lengths and ranges moved to the
 * description. For what cannot be enforced (recursion, maps, free-form values) {@link answerSchema} returns
 * null.
 */
import { isObject, type Loose } from "../../exchange/json.ts";

const ALTERNATIVES = ["anyOf", "oneOf", "allOf"] as const;

/** A schema for `input_schema`. Alternatives at the top level become one object with all properties. */
export function objectSchema(schema: Loose | undefined): Loose {
  if (!schema) return { type: "object", properties: {} };
  const found = ALTERNATIVES.filter((key) => Array.isArray(schema[key]));
  if (found.length === 0) return schema.type === "object" ? schema : { ...schema, type: "object" };
  const merged: Loose = { ...schema, type: "object" };
  // A Map, since a property may be named `__proto__`.
  const properties = new Map(isObject(schema.properties) ? Object.entries(schema.properties) : []);
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  for (const key of found) {
    delete merged[key];
    const branches = (schema[key] as unknown[]).filter(isObject);
    for (const branch of branches) {
      if (!isObject(branch.properties)) continue;
      for (const name of Object.keys(branch.properties)) {
        if (!properties.has(name)) properties.set(name, branch.properties[name]);
      }
    }
    // Number of branches that require a property: it is required if all of them do, or for `allOf` one.
    const wants = new Map<unknown, number>();
    for (const branch of branches) {
      for (const name of new Set(Array.isArray(branch.required) ? branch.required : [])) {
        wants.set(name, (wants.get(name) ?? 0) + 1);
      }
    }
    for (const [name, times] of wants) if (key === "allOf" || times === branches.length) required.add(name);
  }
  merged.properties = Object.fromEntries(properties);
  if (required.size > 0) merged.required = [...required];
  return merged;
}

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

class NotEnforceable extends Error {}

/** A schema for `output_config.format`; null if no grammar can enforce it. */
export function answerSchema(schema: Loose): Loose | null {
  try {
    return isRecursive(schema) ? null : closed(schema, 0);
  } catch (thrown) {
    // RangeError: stack overflow because of the nesting.
    if (thrown instanceof NotEnforceable || thrown instanceof RangeError) return null;
    throw thrown;
  }
}

function closed(schema: unknown, depth: number): Loose {
  if (!isObject(schema) || depth > DEEPEST) throw new NotEnforceable();
  const out: Loose = {};
  const words: Loose = {};
  for (const key of Object.keys(schema)) {
    const value = schema[key];
    switch (key) {
      case "$defs":
      case "definitions":
        out[key] = closedEach(value, depth);
        break;
      case "anyOf":
      case "oneOf":
      case "allOf":
        out[key === "oneOf" ? "anyOf" : key] = closedList(value, depth);
        break;
      case "properties":
        out.properties = closedEach(value, depth);
        break;
      case "items":
        out.items = closed(value, depth + 1);
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
  const types: unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type];
  if (types.includes("object") || out.properties !== undefined) {
    const open = schema.additionalProperties;
    // A closed object in place of a map or a free-form object could only be empty.
    if (isObject(open) || schema.patternProperties !== undefined) throw new NotEnforceable();
    if (out.properties === undefined && open !== false && !ALTERNATIVES.some((k) => schema[k])) {
      throw new NotEnforceable();
    }
    out.additionalProperties = false;
  }
  if (types.includes("array") && out.items === undefined) throw new NotEnforceable();
  const shaped = ["type", "$ref", "enum", "const", "anyOf", "allOf"].some((key) => out[key] !== undefined);
  if (!shaped) throw new NotEnforceable();
  if (Object.keys(words).length > 0) {
    const said = typeof out.description === "string" ? `${out.description}\n\n` : "";
    out.description = said + JSON.stringify(words);
  }
  return out;
}

function closedEach(value: unknown, depth: number): Loose {
  if (!isObject(value)) throw new NotEnforceable();
  const out: Loose = {};
  for (const [name, schema] of Object.entries(value)) {
    Object.defineProperty(out, name, {
      value: closed(schema, depth + 1),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return out;
}

function closedList(value: unknown, depth: number): Loose[] {
  if (!Array.isArray(value) || value.length === 0) throw new NotEnforceable();
  return value.map((schema) => closed(schema, depth + 1));
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
      const target = resolve(root, node.$ref);
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

function resolve(root: Loose, ref: string): unknown {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let node: unknown = root;
  for (const step of ref.slice(2).split("/")) {
    if (!isObject(node)) return undefined;
    node = node[step.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return isObject(node) ? node : undefined;
}
