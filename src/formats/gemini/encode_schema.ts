/**
 * Converts JSON Schemas to the subset that Google's reference names for `responseJsonSchema`: other keywords
 * have no effect, and a reference must not have other keywords.
 */
import { array, isObject, type Loose } from "../../exchange/json.ts";
import { currentDraft, loneReference, mapSchema } from "../schemas/map_schema.ts";
import { resolveReference } from "../schemas/object_schema.ts";

export function encodeSchema(schema: Loose): Loose {
  const form = mapSchema(schema, supported);
  const { definitions, ...others } = form;
  if (!isObject(definitions)) return form;
  return { ...others, $defs: { ...definitions, ...(isObject(others.$defs) && others.$defs) } };
}

function supported(given: Loose): Loose {
  const schema = currentDraft(given);
  const { $ref, const: only, allOf } = schema;
  if (typeof $ref === "string") {
    const older = $ref.startsWith(OLDER);
    return loneReference(older ? { ...schema, $ref: `#/$defs/${$ref.slice(OLDER.length)}` } : schema);
  }
  let form = schema;
  if ((typeof only === "string" || typeof only === "number") && schema.enum === undefined) {
    form = { ...form, enum: [only] };
    delete form.const;
  }
  if (array(allOf).length === 1 && schema.anyOf === undefined) {
    form = { ...form, anyOf: allOf };
    delete form.allOf;
  }
  return form;
}

const OLDER = "#/definitions/";

/**
 * Whether the schema is recursive outside of optional properties, which Google does not support for output, or its references are nested
 * too deeply to tell.
 */
export function isEndless(root: Loose): boolean {
  const schemas: Loose[] = [];
  mapSchema(root, (schema) => {
    schemas.push(schema);
    return schema;
  });
  const path = new Set<Loose>();
  const finite = new Set<Loose>();
  const leadsBack = (node: unknown): boolean => {
    if (!isObject(node) || finite.has(node)) return false;
    if (path.has(node)) return true;
    path.add(node);
    const properties = isObject(node.properties) ? node.properties : {};
    const inner = [
      typeof node.$ref === "string" ? resolveReference(root, node.$ref) : undefined,
      node.items,
      node.additionalProperties,
      ...["anyOf", "oneOf", "allOf", "prefixItems"].flatMap((key) => array(node[key])),
      ...array(node.required).map((name) => typeof name === "string" ? properties[name] : undefined),
    ];
    if (inner.some(leadsBack)) return true;
    path.delete(node);
    finite.add(node);
    return false;
  };
  try {
    return schemas.some(leadsBack);
  } catch (thrown) {
    // Stack overflow.
    if (thrown instanceof RangeError) return true;
    throw thrown;
  }
}
