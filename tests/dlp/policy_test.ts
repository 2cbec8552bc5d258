import { assertEquals } from "@std/assert";
import { resolveEntityTypes } from "../../src/dlp/entities.ts";
import { merge } from "../../src/dlp/merge.ts";
import type { Mode, ReportScope, RequestOptions, Rules } from "../../src/dlp/policy.ts";
import { readRequestOptions } from "../../src/dlp/request.ts";
import { screenBody, type Verdict } from "../../src/dlp/screen_body.ts";
import { readLeaves } from "../../src/formats/leaves/mod.ts";
import { LEAVES } from "../../src/formats/mod.ts";

const VALUE = "jane@corp.example";
const DEFAULTS = { unscannable: "pass", restore: false } as const;

function rules(mode: Mode, more: Partial<Rules> = {}): Rules {
  return {
    mode,
    answers: "off",
    types: resolveEntityTypes(["EMAIL_ADDRESS"]).types,
    stopWords: [],
    patterns: [],
    allowed: [],
    ...more,
  };
}

function verdict(policy: Rules | null, requestOptions: RequestOptions | null, messages?: unknown[]): Verdict {
  const body = {
    messages: messages ?? [{ role: "user", content: `to ${VALUE} ok` }, { role: "user", content: "hi" }],
  };
  const reading = readLeaves(body, LEAVES.chat_completions);
  const work = screenBody(reading, merge(policy, requestOptions, DEFAULTS), { budgetMs: 60_000 });
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

const MODES = ["alert", "mask", "block"] as const;
const ACTIONS = { alert: "pass", mask: "mask", block: "block" } as const;

/** What SPEC 2.10 says of each combination, in its own order. */
function expected(
  policy: Mode | null,
  request: Mode | null,
  { same, allowed, stopped }: { same: boolean; allowed: boolean; stopped: boolean },
): Mode[] {
  const found: Mode[] = [];
  const rank = (mode: Mode) => MODES.indexOf(mode);
  if (policy && request && same) {
    // The same rule: the stricter mode; a finding of the policy is never lifted.
    found.push(rank(policy) > rank(request) ? policy : request);
  } else if (policy) found.push(policy);
  else if (request && same && (!allowed || stopped)) found.push(request);
  // A stop word is a finding on its own.
  if (request && stopped) found.push(request);
  return found;
}

Deno.test("merge() of policy mode, request mode, same rule, allowlist, stop word and report scope", async (t) => {
  for (const policyMode of [null, ...MODES]) {
    for (const requestMode of [null, undefined, ...MODES]) {
      if (policyMode === null && requestMode === null) continue;
      await t.step(
        `policy ${policyMode ?? "none"}, request ${
          requestMode ?? (requestMode === null ? "none" : "without mode")
        }`,
        () => {
          for (const same of [true, false]) {
            for (const allowed of [true, false]) {
              for (const stopped of [true, false]) {
                for (const scope of ["all", "last_message", "latest_user_message"] as ReportScope[]) {
                  const requestOptions = requestMode === null ? null : readRequestOptions({
                    ...(requestMode && { mode: requestMode }),
                    entity_types: same ? ["EMAIL_ADDRESS"] : ["CREDIT_CARD"],
                    allowlist: allowed ? [{ value: VALUE.toUpperCase() }] : [],
                    stop_words: stopped ? [{ value: VALUE }] : [],
                    report_scope: scope,
                  });
                  const effective = requestMode === null ? null : requestMode ?? policyMode ?? "block";
                  const modes = expected(policyMode, effective, { same, allowed, stopped });
                  const strictest = MODES.findLast((mode) => modes.includes(mode));
                  const got = verdict(policyMode && rules(policyMode), requestOptions);
                  const name = JSON.stringify({ same, allowed, stopped, scope });
                  assertEquals(got.action, strictest ? ACTIONS[strictest] : "pass", name);
                  assertEquals(got.count, modes.length, name);
                  const all = requestOptions === null || scope === "all";
                  assertEquals(got.findings.length, all ? modes.length : 0, name);
                  assertEquals(got.blockedInScope, got.action === "block" && all, name);
                }
              }
            }
          }
        },
      );
    }
  }
});

Deno.test("merge() scans every message and counts every finding, whatever is reported", () => {
  const messages = [
    { role: "user", content: "a@corp.example" },
    { role: "user", content: "b@corp.example" },
    { role: "assistant", content: "c@corp.example" },
  ];
  const cases: [ReportScope, (number | null)[]][] = [
    ["all", [0, 1, 2]],
    ["last_message", [2]],
    ["latest_user_message", [1]],
  ];
  for (const [report_scope, indices] of cases) {
    const got = verdict(null, readRequestOptions({ mode: "block", report_scope }), messages);
    assertEquals(got.findings.map((f) => f.message_index), indices);
    assertEquals(got.count, 3);
    assertEquals(got.blockedInScope, true);
  }
});

Deno.test("merge() unions entity types: the policy's keep its mode, the request's own have its own", () => {
  const text = [{ role: "user", content: `${VALUE} and 4111 1111 1111 1111` }];
  const cards = readRequestOptions({ mode: "alert", entity_types: ["CREDIT_CARD"] });
  assertEquals(verdict(rules("block"), cards, text).action, "block");
  const masked = verdict(
    rules("alert"),
    readRequestOptions({ mode: "mask", entity_types: ["CREDIT_CARD"] }),
    text,
  );
  assertEquals([masked.action, masked.count, [...masked.names!.originals.values()]], ["mask", 2, [
    "4111 1111 1111 1111",
  ]]);
});

Deno.test("merge() keeps a finding of the policy that the request's types would swallow", () => {
  const address = "https://x.example/?card=4111111111111111";
  const policy = rules("block", { types: new Set(["CREDIT_CARD"]) });
  const urls = readRequestOptions({ mode: "alert", entity_types: ["URL"] });
  assertEquals(verdict(policy, urls, [{ role: "user", content: address }]).action, "block");
});

Deno.test("merge() lets an allowlist lift whole values only, in any letter case and spelling", () => {
  const requestOptions = (value: string) => readRequestOptions({ mode: "block", allowlist: [{ value }] });
  assertEquals(verdict(null, requestOptions("JANE@corp.example")).count, 0);
  assertEquals(verdict(null, requestOptions("ｊane@corp.example")).count, 0);
  assertEquals(verdict(null, requestOptions("corp.example")).count, 1);
  assertEquals(verdict(null, requestOptions(`${VALUE}x`)).count, 1);
});

Deno.test("merge() lets the policy's own allowlist lift the policy's findings, but not those of the request", () => {
  const policy = rules("block", { allowed: [VALUE] });
  assertEquals(verdict(policy, null).count, 0);
  const both = verdict(policy, readRequestOptions({ mode: "alert", entity_types: ["EMAIL_ADDRESS"] }));
  assertEquals([both.count, both.action], [1, "pass"]);
  const stops = rules("block", { allowed: ["falcon"], stopWords: [{ value: "falcon", match: "exact" }] });
  assertEquals(verdict(stops, null, [{ role: "user", content: "Falcon" }]).count, 1);
});

Deno.test("merge() takes the stricter mode of a stop word that both declare", () => {
  const words = (mode: Mode, match: "exact" | "fuzzy") =>
    rules(mode, { types: new Set(), stopWords: [{ value: "Falcon", match }] });
  const requestOptions = (mode: Mode) =>
    readRequestOptions({ mode, entity_types: [], stop_words: [{ value: "falcon" }] });
  const text = [{ role: "user", content: "project falcon" }];
  assertEquals(verdict(words("alert", "exact"), requestOptions("block"), text), {
    ...verdict(words("block", "exact"), requestOptions("alert"), text),
  });
  assertEquals(verdict(words("alert", "exact"), requestOptions("block"), text).count, 1);
  // Another kind of match is another rule, on the same place.
  assertEquals(verdict(words("block", "fuzzy"), requestOptions("alert"), text).action, "block");
});

Deno.test("merge() leaves messages with injected names unscanned, unless a policy applies", () => {
  const messages = [{ role: "user", name: "context", content: VALUE }, {
    role: "user",
    name: "jane",
    content: "hi",
  }];
  const requestOptions = readRequestOptions({ mode: "block", injected_context_names: ["context"] });
  assertEquals(verdict(null, requestOptions, messages).count, 0);
  assertEquals(verdict(rules("alert"), requestOptions, messages).count, 1);
  assertEquals(
    verdict(null, readRequestOptions({ injected_context_names: ["other"] }), messages).action,
    "block",
  );
});

Deno.test("merge() takes the stricter of what to do with the unscannable, and restores if either says so", () => {
  const requestOptions = readRequestOptions({ on_unscannable: "block", restore: true });
  assertEquals(merge(null, requestOptions, DEFAULTS).unscannable, "block");
  assertEquals(
    merge(null, readRequestOptions({ on_unscannable: "pass" }), { unscannable: "block", restore: false })
      .unscannable,
    "block",
  );
  assertEquals(
    [merge(null, requestOptions, DEFAULTS).restore, merge(rules("mask"), null, DEFAULTS).restore],
    [
      true,
      false,
    ],
  );
});

Deno.test("readRequestOptions() does nothing with acknowledged", () => {
  assertEquals(verdict(null, readRequestOptions({ mode: "block", acknowledged: true })).action, "block");
  assertEquals(verdict(null, readRequestOptions({ mode: "alert", acknowledged: false })).action, "pass");
});

Deno.test("merge() turns placeholders back where either side wants it, and a request cannot take that away", () => {
  const wish = (restore: boolean) => readRequestOptions({ mode: "mask", restore });
  const restores = (byDefault: boolean, requestOptions: RequestOptions | null) =>
    merge(rules("mask"), requestOptions, { unscannable: "pass", restore: byDefault }).restore;
  assertEquals([restores(true, wish(false)), restores(true, null), restores(false, wish(true))], [
    true,
    true,
    true,
  ]);
  assertEquals([restores(false, wish(false)), restores(false, null)], [false, false]);
});

Deno.test("merge() lets a stop word of the request stand beside the policy's allowlist, not undo it", () => {
  const requestOptions = readRequestOptions({
    mode: "alert",
    entity_types: [],
    stop_words: [{ value: VALUE }],
  });
  const { action, findings } = verdict(rules("block", { allowed: [VALUE] }), requestOptions);
  assertEquals([action, findings.map((f) => f.entity_type)], ["pass", ["STOP_WORD"]]);
});

Deno.test("screenBody() says that what blocks is outside the report scope, though what only alerts is inside", () => {
  const requestOptions = readRequestOptions({
    mode: "alert",
    entity_types: ["IP_ADDRESS"],
    report_scope: "last_message",
  });
  const messages = [{ role: "user", content: `to ${VALUE}` }, {
    role: "user",
    content: "server 10.20.30.40",
  }];
  const { action, findings, blockedInScope } = verdict(rules("block"), requestOptions, messages);
  assertEquals([action, findings.map((f) => f.entity_type), blockedInScope], [
    "block",
    ["IP_ADDRESS"],
    false,
  ]);
});
