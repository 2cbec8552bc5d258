/**
 * What each role may do at each endpoint of the administration. The matrix is made from the table of endpoints, so that a new one
 * is in it; that it names its access the compiler sees to.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ENDPOINTS } from "../../src/assemble.ts";
import { ACCESS, type Access, changes, type Role, ROLES } from "../../src/accounts/mod.ts";
import { admin, withPeople } from "./people.ts";

const ADMINISTRATION = (await ENDPOINTS.all()).filter((e) => e.credential === "admin_key");

Deno.test("every endpoint of the administration does what its row says for every role, and shows a member nothing of others", () =>
  withPeople(async ({ ask, gateway, member, used }) => {
    const own = await member("ada");
    await used(own, { name: "laptop" });
    const zebra = await member("zebra");
    const other = await used(zebra, { name: "stripes" });
    const plain = await used(admin, { name: "zebra-plain", team: "sales" });
    const credentials: Record<string, Record<string, string>> = { member: own };
    for (const role of ["auditor", "operator", "owner"]) {
      const made = await ask("POST", "/admin/tokens", {
        body: { name: `zebra ${role}`, role },
        headers: admin,
      });
      credentials[role] = { authorization: `Bearer ${made.json.secret}` };
    }
    assertEquals(Object.keys(credentials).sort(), [...ROLES].sort());
    const theirs = ["zebra", other.key, other.generation, plain.key, plain.generation];
    assert(ADMINISTRATION.length > 15);
    for (const target of [other, plain]) {
      for (const { method, path, access } of ADMINISTRATION) {
        const filled = path.replace("{key}", target.key).replace(
          "/generations/{id}",
          `/generations/${target.generation}`,
        )
          .replaceAll(/\{\w+\+?\}/g, "nothing");
        for (const [role, headers] of Object.entries(credentials)) {
          for (const accept of method === "GET" ? ["application/json", "text/csv"] : ["application/json"]) {
            const label = `${role}: ${method} ${path} as ${accept}`;
            const response = await gateway.gateway.handle(
              new Request(`http://gateway${filled}`, {
                method,
                headers: { ...headers, accept, "content-type": "application/json" },
                body: method === "POST" || method === "PATCH" ? "{}" : null,
              }),
            );
            // A stream that does not end tells nothing by itself here.
            const endless = response.headers.get("content-type")?.startsWith("text/event-stream");
            const text = endless ? (await response.body!.cancel(), "") : await response.text();
            const allowed = (ACCESS[access] as readonly string[]).includes(role);
            assertEquals(response.status === 403, !allowed, `${label}: ${response.status} ${text}`);
            assert(response.status !== 401 && response.status < 500, `${label}: ${response.status} ${text}`);
            if (!allowed) {
              const { error } = JSON.parse(text);
              assertEquals(error.code, "permission_denied", label);
              for (const said of [role, method, ...ACCESS[access]]) {
                assertStringIncludes(error.message, said, label);
              }
            }
            if (role === "member") {
              assertEquals(theirs.filter((trait) => text.includes(trait)), [], `${label}: ${text}`);
            }
            assert(
              !/sk_(?:live|admin)_\w{20}/.test(text) || (method === "POST" && /keys|tokens/.test(path)),
              label,
            );
          }
        }
      }
    }
  }));

Deno.test("the table of roles: who reads may not change, and only owners decide who administers", () => {
  const of = (access: Access): readonly string[] => ACCESS[access];
  for (const access of Object.keys(ACCESS) as Access[]) {
    assert(of(access).includes("owner"), access);
    if (changes(access)) assert(!of(access).includes("auditor"), access);
    if (!access.endsWith("_own")) assert(!of(access).includes("member"), access);
  }
  assertEquals(of("change_people"), ["owner"]);
  for (const { method, path, access } of ADMINISTRATION) {
    if (method === "GET") assert(!changes(access), path);
    // What screens a text changes nothing.
    else if (path !== "/admin/dlp/scan") assert(changes(access), `${method} ${path}`);
  }
});

/** Whoever opens another endpoint to members, or that of people to operators, has to say so here. */
Deno.test("members may use these endpoints only, and operators all but those of tokens and sessions", () => {
  const named = (role: Role) =>
    ADMINISTRATION.filter(({ access }) => (ACCESS[access] as readonly string[]).includes(role))
      .map(({ method, path }) => `${method} ${path}`);
  assertEquals(named("member").sort(), [
    "DELETE /admin/keys/{key}",
    "GET /admin/attention",
    "GET /admin/generations",
    "GET /admin/generations/{id}",
    "GET /admin/keys",
    "GET /admin/keys/{key}",
    "GET /admin/keys/{key}/models",
    "GET /admin/live",
    "GET /admin/overview",
    "GET /admin/usage",
    "POST /admin/keys",
    "POST /admin/keys/{key}/rotate",
  ]);
  const operators = new Set(named("operator"));
  assertEquals(named("owner").filter((one) => !operators.has(one)).sort(), [
    "DELETE /admin/sessions",
    "DELETE /admin/sessions/{id}",
    "DELETE /admin/tokens/{id}",
    "GET /admin/sessions",
    "GET /admin/tokens",
    "POST /admin/tokens",
  ]);
});

Deno.test("the manual's table names all that an operator may change, and what not", () => {
  const page = Deno.readTextFileSync(new URL("../../src/manual/pages/administration.md", import.meta.url));
  const [, , , changed] = page.split("\n").find((line) => line.startsWith("| `operator`"))!.split("|");
  const [may, mayNot] = changed.split(";");
  const changing = ADMINISTRATION.filter(({ method, access }) => method !== "GET" && changes(access));
  const resources = new Set(changing.map(({ path }) => path.split("/")[2]));
  for (const resource of resources) {
    const all = changing.filter(({ path }) => path.split("/")[2] === resource);
    const [one, ...others] = new Set(
      all.map(({ access }) => (ACCESS[access] as readonly string[]).includes("operator")),
    );
    assertEquals(others, [], resource);
    assertStringIncludes(one ? may : mayNot, resource);
  }
  for (const named of may.matchAll(/(\w+)s\b/g)) {
    assert([...resources, "credits", "breakers"].includes(`${named[1]}s`), named[0]);
  }
});

Deno.test("a member makes, sees, rotates and revokes own keys, in the own team", () =>
  withPeople(async ({ ask, member, used }) => {
    const ada = await member("ada");
    const made = await ask("POST", "/admin/keys", {
      body: { name: "laptop", models: ["demo/*"] },
      headers: ada,
    });
    assertEquals(made.status, 201, made.text);
    const { name, team, member: whose, models } = made.json;
    assertEquals([name, team, models], ["ada/laptop", "research", ["demo/*"]]);
    assert(whose.endsWith("#ada"));
    const { generation } = await used(ada, { name: "desk" });
    await used(admin, { name: "plain" });
    const names = async (path: string) =>
      (await ask("GET", path, { headers: ada })).json.data.map((row: { key?: string; name?: string }) =>
        row.key ?? row.name
      );
    assertEquals(await names("/admin/keys"), ["ada/desk", "ada/laptop"]);
    assertEquals(await names("/admin/keys?limit=1"), ["ada/desk"]);
    assertEquals(await names("/admin/usage?by=key"), ["ada/desk"]);
    assertEquals(await names("/admin/generations"), ["ada/desk"]);
    assertEquals(await names("/admin/generations?key=plain"), []);
    for (
      const by of ["model", "day", "account", "provider", "format", "team", "session", "tag:x", "key,model"]
    ) {
      const sums = (await ask("GET", `/admin/usage?by=${by}`, { headers: ada })).json.data;
      assertEquals(sums.map((sum: { generations: number }) => sum.generations), [1], by);
    }
    const one = await ask("GET", `/admin/generations/${generation}`, { headers: ada });
    assertEquals([one.status, one.json.key, one.json.steps], [200, "ada/desk", undefined]);
    const rotated = await ask("POST", "/admin/keys/ada%2Flaptop/rotate", { body: {}, headers: ada });
    assertEquals(rotated.status, 200, rotated.text);
    assert(rotated.json.secret !== made.json.secret);
    assertEquals((await ask("DELETE", `/admin/keys/${made.json.id}`, { headers: ada })).status, 200);
    const used2 = await ask("GET", "/v1/models", {
      headers: { authorization: `Bearer ${rotated.json.secret}` },
    });
    assertEquals(used2.status, 401);
  }));

Deno.test("a member cannot leave the team's limits, take somebody's name, or give a key away", () =>
  withPeople(
    async ({ ask, member, used }) => {
      const ada = await member("ada");
      const create = (body: Record<string, unknown>, headers = ada) =>
        ask("POST", "/admin/keys", { body, headers });
      for (const field of ["team", "account", "access_policy", "dlp_policy", "member", "hedge", "secret"]) {
        const refused = await create({ name: "x", [field]: field === "hedge" ? true : "sales" });
        assertEquals(refused.status, 403, refused.text);
        assertStringIncludes(refused.json.error.message, `cannot set ${field}`);
      }
      for (
        const limit of [
          { amount: "5.01", period: "month" },
          { amount: "1.00", period: "day" },
          { amount: "NaN", period: "month" },
          5,
        ]
      ) {
        assertEquals((await create({ name: "x", spend_limit: limit })).status, 422, JSON.stringify(limit));
      }
      const low = await create({ name: "low", spend_limit: { amount: "1.00", period: "month" } });
      assertEquals(low.json.spend_limit, { amount: "1.00", period: "month" });
      const plain = await create({ name: "plain" });
      assertEquals(
        plain.json.spend_limit,
        { amount: "5.00", period: "month" },
        "the rule's, where none is asked for",
      );
      assertEquals((await create({ name: "plain" })).status, 422, "a name of an own key");
      // A name that somebody else has is not told: the key gets another.
      await used(admin, { name: "ada/taken" });
      const taken = await create({ name: "taken" });
      assertEquals(taken.status, 201, taken.text);
      assert(/^ada\/taken-\w{4}$/.test(taken.json.name), taken.json.name);
      const most = await create({ name: "one more" });
      assertEquals(most.status, 403);
      assertStringIncludes(most.json.error.message, "3 keys");
      await ask("DELETE", "/admin/keys/ada%2Flow", { headers: ada });
      // Of many at once, as many as are left.
      const many = await Promise.all(["a", "b", "c", "d"].map((name) => create({ name })));
      assertEquals(many.map(({ status }) => status).sort(), [201, 403, 403, 403]);
      const homeless = await member("bob", { groups: ["no such team"] });
      const refused = await create({ name: "x" }, homeless);
      assertEquals(refused.status, 403);
      assertStringIncludes(refused.json.error.message, "team");
    },
    {},
    { member_keys: 3, member_spend_limit: { amount: "5.00", period: "month" } },
  ));

Deno.test("a person of another provider with the same subject is another person", async () => {
  const folder = await Deno.makeTempDir();
  const config = { store: { url: `sqlite:${folder}/s.db` } };
  await withPeople(async ({ member, used }) => void await used(await member("ada"), { name: "k" }), config);
  await withPeople(async ({ ask, member }) => {
    assertEquals((await ask("GET", "/admin/keys", { headers: await member("ada") })).json.data, []);
    assertEquals((await ask("GET", "/admin/usage", { headers: await member("ada") })).json.data, []);
  }, config);
  await Deno.remove(folder, { recursive: true });
});
