/** Lists as CSV: a table has every field that any of its rows has, whichever row comes first. */
import { assert, assertEquals } from "@std/assert";
import { type ListPage, wholeTable } from "../../src/console/table.ts";
import { SECRET } from "../support/gateway.ts";
import { ADMIN, withConsole } from "./rig.ts";

const admin = { authorization: `Bearer ${ADMIN}` };

/** Cells of a table whose rows hold no line breaks. */
function cellsOf(text: string): string[][] {
  return text.trimEnd().split("\r\n").map((line) =>
    [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
      quoted?.replaceAll('""', '"') ?? plain
    )
  );
}

const textOf = (value: unknown) =>
  value === undefined || value === null
    ? ""
    : typeof value === "object"
    ? JSON.stringify(value)
    : String(value);

Deno.test("the audit log as CSV has all that it has as JSON: of sign-ins, changes and findings, whichever is newest", () =>
  withConsole(async (ask, gateway) => {
    const audit = async (query: string) => {
      const { json } = await ask("GET", `/admin/audit?limit=100${query}`, { headers: admin });
      const { text } = await ask("GET", `/admin/audit?${query}`, {
        headers: { ...admin, accept: "text/csv" },
      });
      const [names, ...rows] = cellsOf(text);
      assertEquals(rows.length, json.data.length);
      for (const [i, entry] of json.data.entries()) {
        const row = Object.fromEntries(names.map((name, at) => [name, rows[i][at]]));
        for (const [name, value] of Object.entries(entry)) assertEquals(row[name], textOf(value), name);
      }
      return json.data.length;
    };
    await ask("POST", "/console/session", { body: { admin_key: "a-wrong-key-of-a-test" } });
    const call = await gateway.post("/v1/chat/completions", {
      model: "demo/model",
      messages: [{ role: "user", content: "mail jane.doe@corp.example" }],
    });
    await call.text();
    await ask("POST", "/admin/keys", { headers: admin, body: { name: "other", models: ["demo/*"] } });
    assertEquals(await audit("&kind=dlp"), 1);
    assert(await audit("") >= 3);
    assert(await audit("&kind=admin") >= 2);
    await ask("PATCH", "/admin/keys/other", { headers: admin, body: { models: ["a/*", "b/*"] } });
    assert(await audit("") >= 4);
  }, {
    config: {
      dlp_policies: { mails: { mode: "mask" } },
      keys: [{ name: "shop", secret: SECRET, dlp_policy: "mails" }],
    },
  }));

Deno.test("a list as CSV names every field that the API's document knows, with rows and without", () =>
  withConsole(async (ask) => {
    const { paths, components } = (await ask("GET", "/openapi.json")).json;
    // deno-lint-ignore no-explicit-any
    const whole = (schema: any): any =>
      schema.$ref === undefined ? schema : whole(components.schemas[schema.$ref.split("/").at(-1)]);
    const empty: string[] = [];
    for (
      const [path, { get }] of Object.entries<
        Record<string, { responses: Record<string, { content?: Record<string, { schema: unknown }> }> }>
      >(paths)
    ) {
      const content = get?.responses["200"]?.content ?? {};
      if (!("text/csv" in content)) continue;
      const data = whole(content["application/json"].schema).properties?.data;
      if (data === undefined) continue;
      const row = whole(whole(data).items);
      const names = path === "/admin/usage"
        ? ["key", "key_id", ...row.required]
        : Object.keys(row.properties);
      for (const query of ["", "?limit=1"]) {
        const { text } = await ask("GET", `${path.replace("{key}", "test")}${query}`, {
          headers: { ...admin, accept: "text/csv" },
        });
        const [head, ...rows] = cellsOf(text);
        assertEquals(head.toSorted(), names.toSorted(), path);
        if (rows.length === 0 && query === "") empty.push(path);
      }
    }
    assertEquals(empty.toSorted(), [
      "/admin/audit",
      "/admin/generations",
      "/admin/models/changes",
      "/admin/models/diff",
      "/admin/sessions",
      "/admin/teams",
      "/admin/tokens",
      "/admin/usage",
    ]);
  }));

Deno.test("usage as CSV has the columns of what it is summed by, though nothing was used", () =>
  withConsole(async (ask, gateway) => {
    const headOf = async (by: string, from = "") => {
      const { text } = await ask("GET", `/admin/usage?by=${by}${from}`, {
        headers: { ...admin, accept: "text/csv" },
      });
      const [head, ...rows] = cellsOf(text);
      return { head, rows: rows.length };
    };
    const call = await gateway.post("/v1/chat/completions", {
      model: "demo/model",
      messages: [{ role: "user", content: "Hello" }],
    }, { headers: { "x-svc-tags": "job=night", "x-svc-session": "one" } });
    await call.text();
    for (const by of ["key", "day,key", "account,model", "team", "session", "tag:job", "key,tag:job"]) {
      const { data } = (await ask("GET", `/admin/usage?by=${by}`, { headers: admin })).json;
      const [some, none] = [await headOf(by), await headOf(by, "&from=2199-01-01T00:00:00Z")];
      assertEquals([some.rows > 0, none.rows], [true, 0], by);
      assertEquals(some.head, Object.keys(data[0]), by);
      assertEquals(none.head, some.head, by);
    }
  }));

Deno.test("every list of the administration takes limit and cursor", () =>
  withConsole(async (ask) => {
    const { paths, components } = (await ask("GET", "/openapi.json")).json;
    let lists = 0;
    // deno-lint-ignore no-explicit-any
    for (const [path, { get }] of Object.entries<Record<string, any>>(paths)) {
      if (!path.startsWith("/admin/") || path.includes("{")) continue;
      const { $ref } = get?.responses["200"]?.content?.["application/json"]?.schema ?? {};
      const { data, left_out } = components.schemas[$ref?.split("/").at(-1)]?.properties ?? {};
      // What needs attention is cut by itself, and says of what.
      if (data?.type !== "array" || left_out !== undefined) continue;
      lists++;
      const { status, json } = await ask("GET", `${path}?limit=1`, { headers: admin });
      assertEquals([path, status, "next_cursor" in json, json.data.length <= 1], [path, 200, true, true]);
      const next = await ask("GET", `${path}?limit=1&cursor=${json.next_cursor ?? ""}`, { headers: admin });
      assert(json.next_cursor === null || next.status === 200, path);
    }
    assert(lists > 10, `${lists}`);
  }));

Deno.test("a whole table has one head, and in each page all of its columns", async () => {
  const pages: ListPage[] = [
    { data: [], next_cursor: "1" },
    { data: [{ a: 1 }, { a: 2, b: "x" }], next_cursor: "2" },
    { data: [{ b: "y", c: 5, a: 3 }], next_cursor: null },
  ];
  const all = await (await wholeTable(
    ({ cursor }) => Promise.resolve(pages[Number(cursor ?? 0)]),
    ["a", "b", "c"],
  )).text();
  assertEquals(all, "a,b,c\r\n1,,\r\n2,x,\r\n3,y,5\r\n");
});

Deno.test("a statement tells credits that were taken back as a number, and a note that is a formula as text", () =>
  withConsole(async (ask) => {
    const given = await ask("POST", "/admin/accounts/acme/credits", {
      headers: admin,
      body: { amount: "-5.25", note: "-1+2" },
    });
    assertEquals(given.status, 200, given.text);
    const month = new Date().toISOString().slice(0, 7);
    const { text } = await ask("GET", `/admin/accounts/acme/statement?month=${month}`, {
      headers: { ...admin, accept: "text/csv" },
    });
    const [names, ...rows] = cellsOf(text);
    const credits = rows.find(([line]) => line === "credits")!;
    assertEquals([credits[names.indexOf("cost")], credits[names.indexOf("detail")]], ["-5.25", "'-1+2"]);
  }, { config: { accounts: [{ name: "default", credits: "100" }, { name: "acme", credits: "100" }] } }));

Deno.test("amounts below zero are numbers in every list as CSV", () =>
  withConsole(async (ask) => {
    const given = await ask("POST", "/admin/accounts/acme/credits", {
      headers: admin,
      body: { amount: "-105.25" },
    });
    assertEquals(given.status, 200, given.text);
    const { text } = await ask("GET", "/admin/accounts", { headers: { ...admin, accept: "text/csv" } });
    const [names, ...rows] = cellsOf(text);
    const acme = rows.find(([name]) => name === "acme")!;
    assertEquals([acme[names.indexOf("added")], acme[names.indexOf("balance")]], ["-105.25", "-5.25"]);
  }, { config: { accounts: [{ name: "default", credits: "100" }, { name: "acme", credits: "100" }] } }));
