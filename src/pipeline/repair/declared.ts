/** What a JSON Schema allows at one place of a value, as far as its kinds of values go. */
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
/** Alternatives of alternatives, and references to references, are followed so far. */
const MOST_LEVELS = 8;
const MOST_ALTERNATIVES = 64;
/** Schemas that are looked at for the alternatives of one place: references can lead to the same ones again and again. */
const MOST_LOOKS = 4 * MOST_ALTERNATIVES;

export class Declared {
  readonly #root: Loose;
  readonly #alternatives: readonly Loose[];
  /** Kinds that some alternative allows; null: nothing is known. */
  readonly kinds: ReadonlySet<Kind> | null;
  /** Of numbers, only whole ones. */
  readonly whole: boolean;

  private constructor(root: Loose, alternatives: readonly Loose[] | null) {
    this.#root = root;
    this.#alternatives = alternatives ?? [];
    this.kinds = alternatives === null || alternatives.length === 0 ? null : kindsOf(alternatives);
    this.whole = this.#alternatives.every((schema) => !typesOf(schema)?.includes("number"));
  }

  /** @param schema undefined: none was declared */
  static of(schema: Loose | undefined): Declared {
    return schema === undefined ? UNKNOWN : new Declared(schema, alternativesOf(schema, schema));
  }

  property(name: string): Declared {
    return this.#inside((schema) => {
      const { properties, additionalProperties, patternProperties } = schema;
      if (isObject(properties) && Object.hasOwn(properties, name)) return properties[name];
      // Whose pattern fits a name is not worked out.
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
      // An alternative for values of another kind says nothing about what is inside.
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

  /** Whether a value of this kind is one that is declared, or may be. */
  allows(kind: Kind): boolean {
    return this.kinds === null || this.kinds.has(kind);
  }
}

/** Null: anything may stand there. */
function alternativesOf(schema: Loose, root: Loose): Loose[] | null {
  const found: Loose[] = [];
  let looks = 0;
  /** False: anything may stand there. */
  function look(one: Loose, level: number): boolean {
    if (level > MOST_LEVELS || ++looks > MOST_LOOKS) return false;
    if (typeof one.$ref === "string") {
      const target = at(root, one.$ref);
      return target !== null && look(target, level + 1);
    }
    // What must hold of all parts together is not worked out.
    if (one.allOf !== undefined || one.not !== undefined || one.if !== undefined) return false;
    const several = one.anyOf ?? one.oneOf;
    if (several !== undefined) {
      return Array.isArray(several) && several.every((inner) => isObject(inner) && look(inner, level + 1));
    }
    return found.push(one) <= MOST_ALTERNATIVES;
  }
  return look(schema, 0) ? found : null;
}

/** The part of a schema that `#/$defs/name` and the like name. */
function at(root: Loose, reference: string): Loose | null {
  // Anything else is the name of an anchor, or of another document.
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

/** The kind of a JSON value, as schemas name it; a whole number is a `number`. */
export function kindOf(value: unknown): Kind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value as Kind;
}

const UNKNOWN = Declared.of({});
