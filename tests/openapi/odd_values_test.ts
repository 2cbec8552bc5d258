/** Bodies of the administration with one odd value each: what the document permits, and what the gateway makes of it. */
import { assert, assertEquals } from "@std/assert";
import { ENDPOINTS } from "../../src/assemble.ts";
import { ADMIN, withConsole } from "../console/rig.ts";
import { document, pathOf, permits, refused } from "./checking.ts";

/** Of each request a body that is taken, with all fields that it may have. */
const WHOLE: Readonly<Record<string, () => Record<string, unknown>>> = {
  "POST /admin/keys": () => ({ ...KEY, name: crypto.randomUUID() }),
  "PATCH /admin/keys/{key}": () => KEY,
  "POST /admin/keys/{key}/rotate": () => ({ overlap_seconds: 5 }),
  "POST /admin/tokens": () => ({
    name: crypto.randomUUID(),
    role: "auditor",
    expires_at: "2099-01-01",
  }),
  "POST /admin/teams": () => ({ ...TEAM, name: crypto.randomUUID() }),
  "PATCH /admin/teams/{team}": () => TEAM,
  "POST /admin/accounts": () => ({ name: crypto.randomUUID(), credits: "5.00" }),
  "POST /admin/accounts/{account}/credits": () => ({ amount: "5.00", note: "a note" }),
  "POST /admin/providers/{provider}/close": () => ({ model: "model" }),
  "POST /admin/providers/{provider}/try": () => ({ model: "model" }),
  "POST /admin/dlp/scan": () => ({
    policy: "mails",
    text: "a text",
    dlp: { mode: "alert", entity_types: ["EMAIL_ADDRESS"], stop_words: [{ value: "word" }] },
  }),
};
const KEY = {
  account: "default",
  team: "made",
  access_policy: null,
  dlp_policy: "mails",
  models: ["demo/*"],
  spend_limit: { amount: "5.00", period: "day" },
  rate_limit: { requests_per_minute: 5, tokens_per_minute: 500 },
  session_limit: { amount: "1.00", requests_per_minute: 5 },
  tag_limits: [{ tag: "job", amount: "1.00", period: "day" }],
  repair: true,
  hedge: true,
  resume_seconds: 5,
  payloads: false,
  expires_at: "2099-01-01",
};
const TEAM = {
  account: "default",
  spend_limit: { amount: "5.00", period: "day" },
  models: ["demo/*"],
  access_policy: null,
  dlp_policy: "mails",
};
/** Without a body, or with another credential. */
const WITHOUT = ["POST /console/session"];

const ODD: unknown[] = [
  null,
  true,
  -1,
  0,
  1.5,
  1e308,
  2 ** 53,
  "",
  " ",
  "x".repeat(5000),
  "\0",
  "\ud800",
  "constructor",
  "9".repeat(60),
  "-5",
  "1e5",
  "0000-01-01T00:00:00Z",
  "2026-02-30",
  [],
  [null],
  [[]],
  {},
  { a: 1 },
  { constructor: 1 },
];

/** Each field of a body, and of the objects in it, by the names that lead there. */
function* placesOf(body: object, at: readonly string[] = []): Generator<string[]> {
  for (const [name, value] of Object.entries(body)) {
    yield [...at, name];
    if (typeof value === "object" && value !== null) yield* placesOf(value, [...at, name]);
  }
}

function withValue(body: object, place: readonly string[], value: unknown): object {
  const changed = structuredClone(body);
  // deno-lint-ignore no-explicit-any
  const holder = place.slice(0, -1).reduce((one: any, name) => one[name], changed);
  holder[place.at(-1)!] = value;
  return changed;
}

Deno.test("an odd value in a body of the administration is refused by name, or one that the document permits", async () => {
  // A minute of its own for each call: who changes much is slowed.
  let now = Date.UTC(2027, 0, 1);
  await withConsole(async (ask) => {
    const headers = { authorization: `Bearer ${ADMIN}` };
    await ask("POST", "/admin/teams", { headers, body: { name: "made" } });
    await ask("POST", "/admin/keys", { headers, body: { name: "made" } });
    const ids: Record<string, string> = { key: "made", team: "made", account: "default", provider: "demo" };
    const mistakes: string[] = [];
    let tried = 0;
    for (const { method, path: raw, credential, request } of await ENDPOINTS.all()) {
      const path = pathOf(raw);
      const label = `${method} ${path}`;
      if (request === undefined || credential === "api_key" || WITHOUT.includes(label)) continue;
      const whole = WHOLE[label];
      const { properties } = document.components.schemas[request];
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name]);
      const send = async (body: unknown) => {
        now += 60_000;
        const answer = await ask(method, filled, { headers, body });
        mistakes.push(...refused(method, path, answer.status, answer.json));
        return answer;
      };
      const first = await send(whole());
      assert(first.status < 300 && permits(request, whole()), `${label}: ${first.text}`);
      const places = [...placesOf(whole()), ...Object.keys(properties).map((name) => [name])];
      for (const place of places) {
        for (const value of ODD) {
          const body = withValue(whole(), place, value);
          const { status, json } = await send(body);
          const what = `${label} ${place.join(".")} = ${JSON.stringify(value).slice(0, 30)}: ${status}`;
          tried++;
          if (status >= 500) mistakes.push(what);
          else if (status < 300 && !permits(request, body)) mistakes.push(`${what}, against the document`);
          else if (status === 422 && !json.error.message.includes(place.find((name) => /\D/.test(name)))) {
            mistakes.push(`${what}: ${json.error.message}`);
          }
        }
      }
    }
    assertEquals(mistakes, []);
    assert(tried > 1500, `${tried}`);
  }, {
    now: () => now,
    config: { dlp_policies: { mails: { mode: "alert" } }, accounts: [{ name: "default" }] },
  });
});

Deno.test("sums by a label of calls that have none are as the document says", () =>
  withConsole(async (ask, gateway) => {
    const headers = { authorization: `Bearer ${ADMIN}` };
    const call = await gateway.post("/v1/chat/completions", {
      model: "demo/model",
      messages: [{ role: "user", content: "Hello" }],
    });
    await call.text();
    for (const by of ["team", "session", "tag:job", "key,tag:job"]) {
      const { status, json } = await ask("GET", `/admin/usage?by=${by}`, { headers });
      assertEquals(json.data[0].tool_calls, null, by);
      assertEquals(refused("GET", "/admin/usage", status, json), [], by);
    }
  }));
