import { assertEquals } from "@std/assert";
import { loadValue } from "../../src/config/load.ts";
import { openRe2 } from "../../src/dlp/re2.ts";
import { openDlp } from "../../src/pipeline/dlp.ts";

function config(dlp_policies: Record<string, unknown>) {
  return loadValue({
    providers: { p: { api: "demo" } },
    models: [{ id: "p/model", routes: [{ provider: "p", model: "m" }] }],
    dlp_policies,
  }, { env: () => undefined }).config;
}

Deno.test("openDlp() makes each policy's check once", () => {
  const re2 = openRe2();
  const dlp = openDlp(config({ p: { mode: "mask", stop_words: [{ value: "Falcon" }] } }), re2, []);
  re2.close();
  const check = dlp.policies.get("p")?.check;
  assertEquals([check?.mode, check?.asked, check?.stopWords.length], ["mask", false, 1]);
  // No pattern was looked for, so no thread was started.
  assertEquals(re2.starts(), 0);
});
