/** Tokens of the administration: what each role may, on every node, until a token is revoked or has ended. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { onBothEngines } from "../support/cluster.ts";
import { testGateway } from "../support/gateway.ts";
import { eventually } from "../support/time.ts";
import { ADMIN, askerOf, cookieOf, withConsole } from "./rig.ts";

const bearer = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } });

Deno.test("a token is shown once, lists without its secret, and does what its role may", () =>
  withConsole(async (ask, { logged }) => {
    const secrets: Record<string, string> = {};
    for (const role of ["owner", "operator", "auditor"]) {
      const made = await ask("POST", "/admin/tokens", {
        body: { name: `a ${role}`, role },
        ...bearer(ADMIN),
      });
      assertEquals([made.status, made.headers.get("cache-control")], [201, "no-store"]);
      assertMatch(made.json.secret, /^sk_admin_\w{40}$/);
      secrets[role] = made.json.secret;
    }
    const listed = await ask("GET", "/admin/tokens", bearer(secrets.auditor));
    assertEquals(
      // Those of one millisecond stand in any order.
      listed.json.data.map((t: Record<string, unknown>) => [t.name, t.role, t.created_by, t.expires_at])
        .toSorted(),
      ["auditor", "operator", "owner"].map((role) => [`a ${role}`, role, "admin_key", null]),
    );
    assert(!/sk_admin_|hash/.test(listed.text));

    const created = (secret: string, name: string) =>
      ask("POST", "/admin/keys", { body: { name }, ...bearer(secret) });
    assertEquals((await created(secrets.owner, "by-owner")).status, 201);
    assertEquals((await created(secrets.operator, "by-operator")).status, 201);
    const refused = await created(secrets.auditor, "by-auditor");
    assertEquals([refused.status, refused.json.error.code], [403, "permission_denied"]);
    for (const said of ["auditor", "POST /admin/keys", "owner or operator"]) {
      assertStringIncludes(refused.json.error.message, said);
    }
    // An operator cannot make itself an owner.
    for (const role of ["owner", "operator"]) {
      const more = await ask("POST", "/admin/tokens", {
        body: { name: "x", role },
        ...bearer(secrets.operator),
      });
      assertEquals(more.status, 403);
    }
    assertEquals((await ask("GET", "/admin/tokens", bearer(secrets.operator))).status, 403);
    for (const secret of Object.values(secrets)) {
      assertEquals((await ask("GET", "/metrics", bearer(secret))).status, 200);
      assertEquals((await ask("GET", "/v1/models", bearer(secret))).status, 401, "it is no API key");
    }
    const auditor = async () =>
      (await ask("GET", "/admin/tokens", bearer(ADMIN))).json.data.find((t: { name: string }) =>
        t.name === "a auditor"
      );
    assert(await eventually(async () => (await auditor()).last_used));

    const entries = await ask("GET", "/admin/audit?kind=admin", bearer(ADMIN));
    const keyMade = entries.json.data.find((e: { key: string }) => e.key === "by-operator");
    assertEquals([keyMade.role, keyMade.name, keyMade.by], ["operator", "a operator", "token"]);
    assertMatch(keyMade.credential, /^tok_/);
    const text = entries.text + logged.join("\n") + (await ask("GET", "/metrics", bearer(ADMIN))).text;
    for (const secret of Object.values(secrets)) assert(!text.includes(secret.slice("sk_admin_".length)));
  }));

Deno.test("mistakes in a new token are named", () =>
  withConsole(async (ask) => {
    const wrong: [string, unknown][] = [
      ["role", { name: "x" }],
      ["role", { name: "x", role: "member" }],
      ["role", { name: "x", role: "OWNER" }],
      ["name", { name: "a\r\nb", role: "owner" }],
      ["expires_at", { name: "x", role: "owner", expires_at: "soon" }],
      ["expires_at", { name: "x", role: "owner", expires_at: "2020-01-01" }],
      ["secret", { name: "x", role: "owner", secret: "sk_admin_mine" }],
    ];
    for (const [param, body] of wrong) {
      const refused = await ask("POST", "/admin/tokens", { body, ...bearer(ADMIN) });
      assertEquals(refused.status, 422, JSON.stringify(body));
      assertStringIncludes(refused.json.error.message, param);
    }
    assertEquals((await ask("GET", "/admin/tokens", bearer(ADMIN))).json.data, []);
    assertEquals((await ask("DELETE", "/admin/tokens/tok_nothing", bearer(ADMIN))).status, 404);
  }));

Deno.test("a token signs in to the console within its role, and its sessions end with it", () =>
  withConsole(async (ask) => {
    const { json: token } = await ask("POST", "/admin/tokens", {
      body: { name: "ada", role: "auditor" },
      ...bearer(ADMIN),
    });
    const made = await ask("POST", "/console/session", { body: { token: token.secret } });
    assertEquals([made.json.role, made.json.name, made.json.signed_in_with], ["auditor", "ada", "token"]);
    const headers = { cookie: cookieOf(made), "x-svc-csrf": made.json.csrf };
    assertEquals((await ask("GET", "/admin/keys", { headers })).status, 200);
    assertEquals((await ask("POST", "/admin/keys", { body: { name: "k" }, headers })).status, 403);
    assertEquals((await ask("DELETE", `/admin/tokens/${token.id}`, bearer(ADMIN))).status, 200);
    assertEquals((await ask("GET", "/admin/keys", { headers })).status, 401);
    assertEquals((await ask("POST", "/console/session", { body: { token: token.secret } })).status, 401);
    assertEquals((await ask("GET", "/admin/keys", bearer(token.secret))).status, 401);
  }));

Deno.test("a token that has ended is refused", () => {
  let now = Date.now();
  return withConsole(async (ask) => {
    const expires_at = new Date(now + 60_000).toISOString();
    const { json } = await ask("POST", "/admin/tokens", {
      body: { name: "short", role: "owner", expires_at },
      ...bearer(ADMIN),
    });
    assertEquals((await ask("GET", "/admin/keys", bearer(json.secret))).status, 200);
    now += 60_000;
    assertEquals((await ask("GET", "/admin/keys", bearer(json.secret))).status, 401);
  }, { now: () => now });
});

Deno.test("guessed tokens are slowed as guessed admin keys are", () =>
  withConsole(async (ask, { gateway }) => {
    for (let i = 0; i < 10; i++) await ask("GET", "/admin/keys", bearer(`sk_admin_guess${i}`));
    let over = false;
    const late = ask("POST", "/console/session", { body: { token: "sk_admin_guess" } }).then(() =>
      over = true
    );
    // Another answer of the same gateway, which takes longer than a refusal without a wait.
    for (let i = 0; i < 20; i++) await gateway.handle(new Request("http://gateway/healthz"));
    assertEquals(over, false);
    await late;
  }));

onBothEngines(({ name, place }) => {
  Deno.test(`${name}: a token and a session are good on every node, and refused on every node`, async () => {
    const store = place();
    const config = { admin_key: ADMIN, store: { url: store.address.url } };
    const gateways = [
      await testGateway({ demo: { api: "demo", url: "" } }, config),
      await testGateway({ demo: { api: "demo", url: "" } }, config),
    ];
    const [a, b] = gateways.map((gateway) => askerOf(gateway));
    try {
      const { json: token } = await a("POST", "/admin/tokens", {
        body: { name: "fleet", role: "operator" },
        ...bearer(ADMIN),
      });
      assertEquals((await b("GET", "/admin/keys", bearer(token.secret))).status, 200, "at once");
      const made = await a("POST", "/console/session", { body: { token: token.secret } });
      const admin = await a("POST", "/console/session", { body: { admin_key: ADMIN } });
      const session = { headers: { cookie: cookieOf(made) } };
      const owner = { headers: { cookie: cookieOf(admin), "x-svc-csrf": admin.json.csrf } };
      assertEquals((await b("GET", "/admin/keys", session)).status, 200);
      assertEquals(
        (await b("DELETE", "/console/session", owner)).status,
        200,
        "the csrf value is good there, too",
      );
      assertEquals((await b("GET", "/admin/keys", owner)).status, 401);
      await eventually(async () => (await a("GET", "/admin/keys", owner)).status === 401);
      await b("DELETE", `/admin/tokens/${token.id}`, bearer(ADMIN));
      await eventually(async () => (await a("GET", "/admin/keys", bearer(token.secret))).status === 401);
      await eventually(async () => (await a("GET", "/admin/keys", session)).status === 401);
    } finally {
      for (const gateway of gateways) await gateway.close();
      store.remove();
    }
  });
});
