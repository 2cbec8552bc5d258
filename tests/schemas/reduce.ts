/**
 * Makes the schemas of `data/` out of official documents: the definitions that are reached from some roots, without words,
 * as one JSON Schema. `deno run -A tests/schemas/reduce.ts DOCUMENT OUTPUT ROOT…`; the README says where documents are from.
 */
type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type Fields = { [name: string]: Json };

/** Words for people, and hints for generators of code. */
const WORDS = new Set([
  "description",
  "title",
  "example",
  "examples",
  "default",
  "deprecated",
  "discriminator",
]);
/** Of older drafts. */
const OLD = new Set(["nullable", "format", "$recursiveAnchor", "$recursiveRef", "$comment"]);
const REF = /^#\/(?:components\/schemas|definitions|\$defs)\//;

function isFields(value: Json | undefined): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param named the value is a map of names, which may be words like those of a schema */
function reduced(value: Json, named: boolean): Json {
  if (Array.isArray(value)) return value.map((inner) => reduced(inner, false));
  if (!isFields(value)) return value;
  const out: Fields = {};
  for (const [name, inner] of Object.entries(value)) {
    if (!named && (WORDS.has(name) || name.startsWith("x-") || OLD.has(name))) {
      continue;
    }
    if (name === "$ref" && typeof inner === "string") out.$ref = inner.replace(REF, "#/$defs/");
    else if (name === "const" || name === "enum") out[name] = inner;
    else out[name] = reduced(inner, !named && (name === "properties" || name === "$defs"));
  }
  // OpenAPI 3.0's way to allow null.
  return !named && value.nullable === true ? { anyOf: [out, { type: "null" }] } : out;
}

function refsOf(value: Json, found: Set<string>): void {
  if (Array.isArray(value)) { for (const inner of value) refsOf(inner, found); }
  else if (isFields(value)) {
    if (typeof value.$ref === "string") found.add(decodeURIComponent(value.$ref.slice("#/$defs/".length)));
    for (const inner of Object.values(value)) refsOf(inner, found);
  }
}

if (import.meta.main) {
  const [document, output, ...roots] = Deno.args;
  const whole = JSON.parse(Deno.readTextFileSync(document)) as Fields;
  const components = whole.components;
  const all = (isFields(components) ? components.schemas : whole.definitions ?? whole.$defs) as Fields;
  const $defs: Fields = {};
  const wanted = new Set(roots);
  for (const name of wanted) {
    if (all[name] === undefined) throw new Error(`${document} has no ${name}`);
    $defs[name] = reduced(all[name], false);
    refsOf($defs[name], wanted);
  }
  Deno.writeTextFileSync(output, JSON.stringify({ $defs }) + "\n");
}
