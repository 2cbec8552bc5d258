/** Which model a name means, and what a key sees of the catalog. */
import { assertEquals, assertThrows } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { AUTO, type Model, type ModelAccess, openCatalog } from "../../src/models/catalog.ts";

function model(id: string, more: Partial<Model> = {}): Model {
  return {
    id,
    name: id,
    routes: [],
    contextLength: null,
    maxCompletion: null,
    pricing: {},
    inputs: ["text"],
    outputs: ["text"],
    features: new Set(),
    efforts: null,
    parameters: {},
    stickyCache: true,
    shortNames: [],
    ...more,
  };
}

const ALL: ModelAccess = { models: null, accessPolicy: null, team: null };

const SHORT = [
  model("a/any", { shortNames: ["claude-*"] }),
  model("a/sonnet", { shortNames: ["claude-sonnet-*", "claude-sonnet"] }),
  model("a/dated", { shortNames: ["claude-sonnet-4-5-*", "claude-opus-4"] }),
];

for (const [order, models] of [["as written", SHORT], ["backwards", SHORT.toReversed()]] as const) {
  Deno.test(`resolve() takes the exact short name, else the longest prefix: models ${order}`, () => {
    const catalog = openCatalog(models, [], 0);
    const resolved = (name: string) => catalog.resolve(name, ALL, { short: true }).id;
    assertEquals(
      [
        "claude-haiku-4",
        "claude-sonnet-4",
        "claude-sonnet-4-5-20260101",
        "claude-sonnet",
        "claude-opus-4",
        "claude-opus-4-1",
        "claude-",
        "a/any",
      ].map(resolved),
      ["a/any", "a/sonnet", "a/dated", "a/sonnet", "a/dated", "a/any", "a/any", "a/any"],
    );
  });
}

Deno.test("resolve() tries short names where they are asked for, and none with signs in it", () => {
  const catalog = openCatalog(SHORT, [], 0);
  const code = (name: string, access: ModelAccess, short: boolean) =>
    assertThrows(() => catalog.resolve(name, access, { short }), Failure).code;
  assertEquals(code("claude-sonnet", ALL, false), "model_not_found");
  for (const name of ["claude-\n", "claude- x", "claude-é", `claude-${"x".repeat(250)}`]) {
    assertEquals(code(name, ALL, true), "model_not_found", name);
  }
  assertEquals(code("claude", ALL, true), "model_not_found");
});

Deno.test("resolve() hides what a key's list leaves out, and forbids what its policy does", () => {
  const catalog = openCatalog([model("a/x"), model("a/y"), model("b/z")], [], 0);
  const code = (id: string, access: Partial<ModelAccess>) => {
    try {
      return catalog.resolve(id, { ...ALL, ...access }, { short: false }).id;
    } catch (thrown) {
      return (thrown as Failure).code;
    }
  };
  const policy = { allow: ["a/*"], deny: ["a/y"] };
  assertEquals(["a/x", "a/y", "b/z"].map((id) => code(id, { models: ["a/*"] })), [
    "a/x",
    "a/y",
    "model_not_found",
  ]);
  assertEquals(["a/x", "a/y", "b/z"].map((id) => code(id, { accessPolicy: policy })), [
    "a/x",
    "policy_violation",
    "policy_violation",
  ]);
  assertEquals(code("a/x", { accessPolicy: "missing" }), "policy_violation");
  // Whoever may not see it does not learn that it is forbidden.
  assertEquals(code("b/z", { models: ["a/*"], accessPolicy: policy }), "model_not_found");
});

Deno.test("resolve() compares patterns with every id that means a model", () => {
  const catalog = openCatalog([model("a/x-2026-01-02", { aliases: ["a/x"] }), model("a/y")], [], 0);
  const codes = (access: Partial<ModelAccess>) =>
    ["a/x", "a/x-2026-01-02", "a/y"].map((id) => {
      try {
        return catalog.resolve(id, { ...ALL, ...access }, { short: false }).id;
      } catch (thrown) {
        return (thrown as Failure).code;
      }
    });
  for (const named of ["a/x", "a/x-2026-01-02"]) {
    const denied = { accessPolicy: { allow: ["*"], deny: [named] } };
    assertEquals(codes(denied), ["policy_violation", "policy_violation", "a/y"], named);
    assertEquals(codes({ team: { models: null, ...denied } }), codes(denied), named);
    const only = ["a/x-2026-01-02", "a/x-2026-01-02"];
    assertEquals(codes({ accessPolicy: { allow: [named], deny: [] } }), [...only, "policy_violation"], named);
    assertEquals(codes({ models: [named] }), [...only, "model_not_found"], named);
    assertEquals(catalog.list({ ...ALL, models: [named] }).map(({ id }) => id), ["a/x-2026-01-02"], named);
  }
});

Deno.test("list() shows svc/auto first, with the room and the price of its dearest choice", () => {
  const models = [
    model("a/dear", {
      contextLength: 10,
      maxCompletion: 5,
      pricing: { prompt: "0.00001", completion: "0.00002" },
    }),
    model("a/cheap", { contextLength: 20, pricing: { prompt: "0.000001" }, inputs: ["text", "image"] }),
    model("b/other", { features: new Set(["tools"]) }),
  ];
  const catalog = openCatalog(models, ["a/cheap", "a/dear", "x/gone"], 7);
  const [auto, ...rest] = catalog.list(ALL);
  assertEquals(rest.map((l) => [l.id, l.owned_by, l.created]), [
    ["a/dear", "a", 7],
    ["a/cheap", "a", 7],
    ["b/other", "b", 7],
  ]);
  assertEquals([auto.id, auto.context_length, auto.max_completion_tokens], [AUTO, 20, null]);
  assertEquals(auto.pricing, { prompt: "0.00001", completion: "0.00002" });
  assertEquals(auto.capabilities, {
    modality_input: ["text", "image"],
    modality_output: ["text"],
    features: [],
  });
  const ids = (access: Partial<ModelAccess>) => catalog.list({ ...ALL, ...access }).map((l) => l.id);
  assertEquals(ids({ models: ["a/dear"] }), ["a/dear"], "a key whose patterns do not name svc/auto");
  assertThrows(() => catalog.choices({ ...ALL, models: ["a/dear"] }), Failure, "none to choose from");
  assertEquals(catalog.choices({ ...ALL, models: ["a/dear", AUTO] })?.map(({ id }) => id), ["a/dear"]);
  assertThrows(() => catalog.choices({ ...ALL, models: ["b/*", AUTO] }), Failure, "none to choose from");
  assertEquals(ids({ models: ["b/*", AUTO] }), ["b/other"], "a key that has nothing to choose from");
  assertEquals(ids({ models: ["a/dear", AUTO] }), [AUTO, "a/dear"]);
  assertEquals(catalog.list({ ...ALL, models: ["a/dear", AUTO] })[0].context_length, 10);
});
