/** The types that a JSON Schema allows at one position of a value. */
import { isObject, type Loose } from "../../exchange/json.ts";

export type Kind = "object" | "array" | "string" | "number" | "boolean" | "null";

const KINDS: Readonly<Record<string, Kind>> = {
  object: "object",
  array: "array",
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  null: "null",
};
/** Maximum depth of nested alternatives and references. */
const MOST_LEVELS = 8;
const MOST_ALTERNATIVES = 64;
/** Maximum number of schemas examined for one position: references can be cyclic. */
const MOST_LOOKS = 4 * MOST_ALTERNATIVES;

export class Declared {
  readonly #root: Loose;
  readonly #alternatives: readonly Loose[];
  /** Types that some alternative allows; null: unknown. */
  readonly kinds: ReadonlySet<Kind> | null;
  /** Numbers must be integers. */
  readonly whole: boolean;

  private constructor(root: Loose, alternatives: readonly Loose[] | null) {
    this.#root = root;
    this.#alternatives = alternatives ?? [];
    this.kinds = alternatives === null || alternatives.length === 0 ? null : kindsOf(alternatives);
    this.whole = this.#alternatives.every((schema) => !typesOf(schema)?.includes("number"));
  }

  /** @param schema undefined: not declared */
  static of(schema: Loose | undefined): Declared {
    return schema === undefined ? UNKNOWN : new Declared(schema, alternativesOf(schema, schema));
  }

  property(name: string): Declared {
    return this.#inside((schema) => {
      const { properties, additionalProperties, patternProperties } = schema;
      if (isObject(properties) && Object.hasOwn(properties, name)) return properties[name];
      // Patterns of names are not evaluated.
      if (patternProperties !== undefined) return undefined;
      return isObject(additionalProperties) ? additionalProperties : undefined;
    });
  }

  item(): Declared {
    return this.#inside(({ items, prefixItems }) => prefixItems === undefined ? items : undefined);
  }

  #inside(step: (schema: Loose) => unknown): Declared {
    const found: Loose[] = [];
    for (const schema of this.#alternatives) {
      const types = typesOf(schema);
      // An alternative for scalar types says nothing about members or items.
      if (types !== null && !types.some((type) => type === "object" || type === "array")) continue;
      const inner = step(schema);
      if (!isObject(inner)) return UNKNOWN;
      const alternatives = alternativesOf(inner, this.#root);
      if (alternatives === null) return UNKNOWN;
      found.push(...alternatives);
      if (found.length > MOST_ALTERNATIVES) return UNKNOWN;
    }
    return found.length === 0 ? UNKNOWN : new Declared(this.#root, found);
  }

  /** Whether a value of this type is allowed, or may be. */
  allows(kind: Kind): boolean {
    return this.kinds === null || this.kinds.has(kind);
  }
}

/** Null: any value may be allowed. */
function alternativesOf(schema: Loose, root: Loose): Loose[] | null {
  const found: Loose[] = [];
  let looks = 0;
  /** False: any value may be allowed. */
  function look(one: Loose, level: number): boolean {
    if (level > MOST_LEVELS || ++looks > MOST_LOOKS) return false;
    if (typeof one.$ref === "string") {
      const target = at(root, one.$ref);
      return target !== null && look(target, level + 1);
    }
    // Combinations of schemas are not evaluated.
    if (one.allOf !== undefined || one.not !== undefined || one.if !== undefined) return false;
    const several = one.anyOf ?? one.oneOf;
    if (several !== undefined) {
      return Array.isArray(several) && several.every((inner) => isObject(inner) && look(inner, level + 1));
    }
    return found.push(one) <= MOST_ALTERNATIVES;
  }
  return look(schema, 0) ? found : null;
}

/** The schema that a reference such as `#/$defs/name` refers to. */
function at(root: Loose, reference: string): Loose | null {
  // Anything else refers to an anchor, or to another document.
  if (reference !== "#" && !reference.startsWith("#/")) return null;
  let found: unknown = root;
  for (const step of reference.slice(1).split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isObject(found) || !Object.hasOwn(found, name)) return null;
    found = found[name];
  }
  return isObject(found) ? found : null;
}

function typesOf(schema: Loose): string[] | null {
  const { type, enum: values } = schema;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.every((t) => typeof t === "string") ? type : null;
  const constants = Array.isArray(values) ? values : "const" in schema ? [schema.const] : null;
  if (constants !== null) return constants.map(kindOf);
  if (isObject(schema.properties)) return ["object"];
  return null;
}

function kindsOf(alternatives: readonly Loose[]): ReadonlySet<Kind> | null {
  const kinds = new Set<Kind>();
  for (const schema of alternatives) {
    const types = typesOf(schema);
    if (types === null) return null;
    for (const type of types) {
      if (!Object.hasOwn(KINDS, type)) return null;
      kinds.add(KINDS[type]);
    }
    if (schema.nullable === true) kinds.add("null");
  }
  return kinds;
}

/** The JSON Schema type of a value; an integer is a `number`. */
export function kindOf(value: unknown): Kind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value as Kind;
}

const UNKNOWN = Declared.of({});
