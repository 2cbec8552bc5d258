/** What trains the router is not loaded by what serves. */
import { assert, assertEquals } from "@std/assert";
import { importGraph, reachable } from "../../support/import_graph.ts";

Deno.test("no serving file imports the training of the router", () => {
  const served = [...reachable(importGraph(), "main.ts")];
  assert(served.includes("models/autoroute/predict.ts"), "main.ts no longer leads to the predictor");
  assertEquals(served.filter((file) => file.startsWith("models/autoroute/training/")), []);
});
