/** The JSON Schema of the configuration: what editors complete by, and what the reference is made of. */
import { assert, assertEquals } from "@std/assert";
import { configJsonSchema } from "../../src/config/schema.ts";
import { codeName } from "../../src/schema/fields.ts";

interface Node {
  description?: string;
  default?: unknown;
  properties?: Record<string, Node>;
  required?: string[];
  additionalProperties?: Node | boolean;
  items?: Node;
  anyOf?: Node[];
}

/** Every property of every object, by path. */
function* properties(node: Node, path = ""): Generator<[path: string, node: Node, required: boolean]> {
  for (const [name, property] of Object.entries(node.properties ?? {})) {
    const at = path === "" ? name : `${path}.${name}`;
    yield [at, property, node.required?.includes(name) ?? false];
    yield* properties(property, at);
  }
  if (typeof node.additionalProperties === "object") {
    yield* properties(node.additionalProperties, `${path}.*`);
  }
  if (node.items !== undefined) yield* properties(node.items, `${path}[]`);
  for (const choice of node.anyOf ?? []) yield* properties(choice, path);
}

Deno.test("configJsonSchema() describes every field in a sentence, and says its default unless it may be left out", () => {
  const all = [...properties(configJsonSchema())];
  assert(all.length > 80, `${all.length} fields`);
  for (const [path, { description }] of all) {
    assert(description !== undefined && /^[A-Z`].*\.$/.test(description), `${path}: ${description}`);
  }
  const silent = all.filter(([, node, required]) => !required && node.default === undefined).map(([path]) =>
    path
  );
  assertEquals(
    silent.filter((path) =>
      !/^models\[\]\.(?:pricing|routes\[\]\.pricing|pricing_tiers\[\]|price_changes\[\].*|parameters)\./.test(
        path,
      )
    ),
    [
      "providers.*.preset",
      "providers.*.api",
      "providers.*.region",
      "providers.*.project",
      "providers.*.location",
      "providers.*.resource",
      "models[].name",
      "models[].routes",
      "models[].routes[].api",
      "models[].routes[].pricing",
      "models[].pricing",
      "models[].pricing_tiers",
      "models[].price_changes",
      "models[].capabilities",
      "dlp.model",
      "dlp_policies.*.entity_types",
      "alerts[].when.above",
      "alerts[].when.clear",
      "alerts[].when.by",
      "alerts[].when.percent",
      "alerts[].to[].webhook",
      "alerts[].to[].secret",
      "alerts[].to[].slack",
      "alerts[].to[].email",
      "keys[].rate_limit.requests_per_minute",
      "keys[].rate_limit.tokens_per_minute",
      "$schema",
    ],
  );
});

Deno.test("configJsonSchema() is of the configuration as it is written", () => {
  const schema: Node = configJsonSchema();
  assertEquals(schema.required, ["providers"]);
  assertEquals(schema.properties?.server.properties?.keepalive_seconds.default, 15);
  assertEquals(schema.additionalProperties, false);
});

Deno.test("codeName() turns snake case into camel case, and seconds into milliseconds", () => {
  assertEquals(
    ["port", "max_body_bytes", "first_byte_seconds", "$schema"].map(codeName),
    ["port", "maxBodyBytes", "firstByteMs", "$schema"],
  );
});
