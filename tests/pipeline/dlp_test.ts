import { assertEquals } from "@std/assert";
import { loadValue } from "../../src/config/load.ts";
import { openDocuments } from "../../src/documents/mod.ts";
import { openRe2 } from "../../src/dlp/re2.ts";
import { policiesOf } from "../../src/pipeline/screening/policies.ts";

function config(dlp_policies: Record<string, unknown>) {
  return loadValue({
    providers: { p: { api: "demo" } },
    models: [{ id: "p/model", routes: [{ provider: "p", model: "m" }] }],
    dlp_policies,
  }, { env: () => undefined }).config;
}

Deno.test("policiesOf() makes each policy's check once", () => {
  const re2 = openRe2();
  const { dlp, dlpPolicies } = config({ p: { mode: "mask", stop_words: [{ value: "Falcon" }] } });
  const given = { dlp, dlpPolicies, re2, documents: openDocuments(), model: null, secrets: [] };
  const policies = policiesOf(given);
  assertEquals(policiesOf(given), policies);
  re2.close();
  const check = policies.byName.get("p")?.check;
  assertEquals([check?.mode, check?.asked, check?.stopWords.length], ["mask", false, 1]);
  // No pattern was looked for, so no thread was started.
  assertEquals(re2.starts(), 0);
});
