import { assertEquals, assertThrows } from "@std/assert";
import { patternMistakes } from "../../src/config/check.ts";
import { ConfigError } from "../../src/config/config_error.ts";
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

Deno.test("a type that there is not and a pattern that RE2 refuses are mistakes of the configuration", async () => {
  const policies = {
    good: { mode: "block", entity_types: ["FINANCIAL", "email"], regexes: [{ name: "a", pattern: "a+" }] },
    bad: { mode: "mask", regexes: [{ name: "a", pattern: "a+" }, { name: "b", pattern: "(?=a)" }] },
  };
  assertEquals(await patternMistakes(config(policies)), [{
    path: "dlp_policies.bad.regexes[1].pattern",
    message: "expected an RE2 pattern: invalid perl operator: (?=",
  }]);
  assertEquals(await patternMistakes(config({})), []);
  const wrong = { mode: "mask", entity_types: ["CREDIT_CARD", "BOGUS"] };
  const error = assertThrows(() => config({ wrong }), ConfigError);
  assertEquals(error.mistakes, [{
    path: "dlp_policies.wrong.entity_types[1]",
    message: 'expected the name of an entity type or a group of them, got "BOGUS"',
  }]);
});

Deno.test("openDlp() makes each policy's check once", () => {
  const re2 = openRe2();
  const dlp = openDlp(config({ p: { mode: "mask", stop_words: [{ value: "Falcon" }] } }), re2);
  re2.close();
  const check = dlp.policies.get("p")?.check;
  assertEquals([check?.mode, check?.asked, check?.stopWords.length], ["mask", false, 1]);
  // No pattern was looked for, so no thread was started.
  assertEquals(re2.starts(), 0);
});
