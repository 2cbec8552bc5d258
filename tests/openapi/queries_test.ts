/** Parameters of queries: the gateway takes what the document permits, and refuses what it does not. */
import { assert, assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import { ADMIN, withConsole } from "../console/rig.ts";
import { document } from "./checking.ts";

const VALUES = [
  ...["", " ", "0", "1", "-1", "1.5", "1e3", "1000", "1001", "99999", "9999999999", "0.1234567890123"],
  ...["true", "false", "TRUE", "null", "abc", "env=test", "demo/model"],
  ...["2026-01-01", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123+02:00", "2026-01-01T00:00:00"],
  ...["2026", "2026-11", "2026-13", "Jan 1 2026", "24h", "2h"],
  ...["key", "day", "generation", "tag", "tag:env", "key,tag:env", "key,model,day"],
  ...["completed", "failed", "ended", "chat_completions", "chat", "mask", "off", "dlp", "admin"],
];
/** Of these no pattern says what they are: places in a list are the gateway's own. */
const FREE = ["cursor"];
const IDS: Readonly<Record<string, string>> = { key: "dev", account: "default", provider: "demo" };

interface Described {
  name: string;
  in: string;
  required?: true;
  schema: { type: string };
}

/** As generated clients and validators take a text of a query. */
function valueOf(text: string, { type }: Described["schema"]): unknown {
  return type === "integer" && /^-?\d+$/.test(text) ? Number(text) : text;
}

Deno.test("a value of a query is refused where the document does not permit it, and nowhere else", () => {
  let now = Date.UTC(2027, 0, 1);
  return withConsole(async (ask) => {
    const headers = { authorization: `Bearer ${ADMIN}` };
    const mistakes: string[] = [];
    let refused = 0;
    for (const [path, { get }] of Object.entries<{ get?: { parameters?: Described[] } }>(document.paths)) {
      const queries = get?.parameters?.filter((one) => one.in === "query") ?? [];
      if (!path.startsWith("/admin/") || path === "/admin/live") continue;
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => IDS[name] ?? "nothing");
      for (const { name, schema } of queries.filter(({ name }) => !FREE.includes(name))) {
        const permits = new Ajv2020({ strict: false }).compile(schema);
        for (const text of VALUES) {
          now += 60_000;
          const more = queries.filter((one) => one.required && one.name !== name).map((
            one,
          ) => [one.name, "2026-11"]);
          const query = new URLSearchParams([[name, text], ...more]);
          const { status } = await ask("GET", `${filled}?${query}`, { headers });
          if (status === 404) continue;
          if (status !== 200) refused++;
          if ((status === 200) === permits(valueOf(text, schema)) && [200, 422].includes(status)) continue;
          mistakes.push(`GET ${path}?${query}: ${status}`);
        }
      }
      for (const { name } of queries.filter(({ required }) => required)) {
        const { status, json } = await ask("GET", filled, { headers });
        assertEquals([status, json.error.message.includes(name)], [422, true], path);
      }
    }
    assertEquals(mistakes, []);
    assert(refused > 500, `${refused}`);
  }, { now: () => now });
});
