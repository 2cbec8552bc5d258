/** The console's session: signing in and out, what its cookie can do, and what other pages cannot do with it. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { ADMIN, cookieOf, signedIn, withConsole } from "./rig.ts";

Deno.test("the admin key becomes a session, whose cookie administers until it is signed out", () =>
  withConsole(async (ask) => {
    const made = await ask("POST", "/console/session", { body: { admin_key: ADMIN } });
    assertEquals(made.status, 200);
    const { csrf, expires_at, ...shown } = made.json;
    assertEquals(shown, {
      role: "owner",
      name: "admin_key",
      team: null,
      member: null,
      signed_in_with: "admin_key",
    });
    assert(Date.parse(expires_at) > Date.now());
    assertMatch(
      made.headers.get("set-cookie")!,
      /^sluice_session=[\w-]{100,}; Path=\/; Max-Age=3[56]\d\d; HttpOnly; SameSite=Strict$/,
    );
    assertEquals(made.headers.get("cache-control"), "no-store");
    assert(!made.headers.get("set-cookie")!.includes(ADMIN));
    const cookie = cookieOf(made);

    assertEquals((await ask("GET", "/console/session", { headers: { cookie } })).json, made.json);
    assertEquals((await ask("GET", "/admin/keys", { headers: { cookie } })).status, 200);
    const headers = { cookie, "x-svc-csrf": csrf };
    assertEquals((await ask("POST", "/admin/keys", { body: { name: "made" }, headers })).status, 201);

    const out = await ask("DELETE", "/console/session", { headers });
    assertEquals([out.status, cookieOf(out)], [200, "sluice_session="]);
    for (const path of ["/console/session", "/admin/keys"]) {
      assertEquals((await ask("GET", path, { headers: { cookie } })).status, 401, path);
    }
  }));

Deno.test("what changes something wants the session's own csrf value", () =>
  withConsole(async (ask) => {
    const { cookie } = await signedIn(ask);
    const other = await signedIn(ask);
    for (const csrf of [undefined, "", "x", other.csrf]) {
      const headers = { cookie, ...(csrf !== undefined && { "x-svc-csrf": csrf }) };
      for (const [method, path] of [["POST", "/admin/keys"], ["DELETE", "/console/session"]]) {
        const refused = await ask(method, path, {
          headers,
          ...(method === "POST" && { body: { name: "k" } }),
        });
        assertEquals(
          [refused.status, refused.json.error.code],
          [403, "permission_denied"],
          `${csrf} ${path}`,
        );
      }
    }
    assertEquals((await ask("GET", "/admin/keys", { headers: { cookie } })).json.data.length, 1);
  }));

Deno.test("pages of other origins, of neighbours too, cannot use the session or sign somebody in", () =>
  withConsole(async (ask) => {
    const { cookie, csrf } = await signedIn(ask);
    for (const site of ["cross-site", "same-site"]) {
      const headers = { cookie, "x-svc-csrf": csrf, "sec-fetch-site": site };
      assertEquals((await ask("GET", "/admin/keys", { headers })).status, 403, site);
      assertEquals((await ask("GET", "/console/session", { headers })).status, 403, site);
      assertEquals((await ask("DELETE", "/admin/keys/test", { headers })).status, 403, site);
      const signIn = { body: { admin_key: ADMIN }, headers: { "sec-fetch-site": site } };
      const refused = await ask("POST", "/console/session", signIn);
      assertEquals([refused.status, refused.headers.get("set-cookie")], [403, null], site);
    }
    const form = await ask("POST", "/console/session", {
      body: { admin_key: ADMIN },
      headers: { "content-type": "text/plain" },
    });
    assertEquals([form.status, form.headers.get("set-cookie")], [422, null]);
  }));

for (
  const [own, config] of [
    ["http://gateway", {}],
    ["https://ai.example", { server: { public_url: "https://ai.example" } }],
  ] as const
) {
  Deno.test(`where a browser tells the origin alone, as over plain HTTP, it must be ${own}`, () =>
    withConsole(async (ask) => {
      const { headers, json } = await ask("POST", "/console/session", {
        body: { admin_key: ADMIN },
        headers: { origin: own },
      });
      const cookie = headers.get("set-cookie")!.split(";")[0];
      const session = { cookie, "x-svc-csrf": json.csrf };
      for (const origin of ["https://evil.example", "null", `${own}:81`, `${own}.evil.example`, ""]) {
        const foreign = { ...session, origin };
        for (const path of ["/admin/keys", "/console/session"]) {
          const refused = await ask("GET", path, { headers: foreign });
          assertEquals([origin, refused.status, refused.json.error.code], [origin, 403, "permission_denied"]);
        }
        assertEquals(
          (await ask("POST", "/admin/keys", { body: { name: "x" }, headers: foreign })).status,
          403,
        );
        const signIn = await ask("POST", "/console/session", {
          body: { admin_key: ADMIN },
          headers: { origin },
        });
        assertEquals([signIn.status, signIn.headers.get("set-cookie")], [403, null]);
      }
      const made = await ask("POST", "/admin/keys", {
        body: { name: "own" },
        headers: { ...session, origin: own },
      });
      assertEquals(made.status, 201, made.text);
      // A program with a credential of its own has no session that others could use.
      const program = { authorization: `Bearer ${ADMIN}`, origin: "https://evil.example" };
      assertEquals((await ask("GET", "/admin/keys", { headers: program })).status, 200);
    }, { config }));
}

Deno.test("a session that was made up, changed or doubled is none", () =>
  withConsole(async (ask) => {
    const { cookie } = await signedIn(ask);
    const value = cookie.slice("sluice_session=".length);
    const flipped = (at: number) =>
      value.slice(0, at) + (value[at] === "A" ? "B" : "A") + value.slice(at + 1);
    const wrong = [
      "",
      "x",
      "A".repeat(200),
      "A".repeat(10_000),
      flipped(0),
      flipped(20),
      flipped(60),
      value.slice(4),
    ];
    for (const made of wrong) {
      const headers = { cookie: `sluice_session=${made}` };
      assertEquals((await ask("GET", "/admin/keys", { headers })).status, 401, made.slice(0, 20));
    }
    const two = await ask("GET", "/admin/keys", { headers: { cookie: `sluice_session=x; ${cookie}` } });
    assertEquals(two.status, 401);
    assertEquals(
      (await ask("GET", "/admin/keys", { headers: { cookie: `a=b; ${cookie}; c=d` } })).status,
      200,
    );
  }));

Deno.test("signing in never goes on with a session that the browser brought along", () =>
  withConsole(async (ask) => {
    const { cookie } = await signedIn(ask);
    const again = await ask("POST", "/console/session", { body: { admin_key: ADMIN }, headers: { cookie } });
    assert(cookieOf(again) !== cookie);
    assert((await ask("GET", "/console/session", { headers: { cookie } })).json.csrf !== again.json.csrf);
  }));

Deno.test("a session lasts an hour beyond its last use, and twelve hours at most", () => {
  let now = Date.now();
  return withConsole(async (ask) => {
    let { cookie } = await signedIn(ask);
    const began = now;
    const first = cookie;
    now += 4 * 60_000;
    const soon = await ask("GET", "/admin/keys", { headers: { cookie } });
    assertEquals([soon.status, soon.headers.get("set-cookie")], [200, null]);
    while (now - began < 11.5 * 3_600_000) {
      now += 50 * 60_000;
      const used = await ask("GET", "/admin/keys", { headers: { cookie } });
      assertEquals(used.status, 200);
      cookie = cookieOf(used);
    }
    assertEquals(
      (await ask("GET", "/admin/keys", { headers: { cookie: first } })).status,
      401,
      "idle for long",
    );
    now = began + 12 * 3_600_000;
    assertEquals((await ask("GET", "/admin/keys", { headers: { cookie } })).status, 401);
  }, { now: () => now });
});

Deno.test("another admin key ends the sessions of the one before", async () => {
  const store = await Deno.makeTempDir();
  const config = { store: { url: `sqlite:${store}/s.db` } };
  let cookie = "";
  await withConsole(async (ask) => {
    ({ cookie } = await signedIn(ask));
  }, { config });
  await withConsole(async (ask) => {
    assertEquals((await ask("GET", "/admin/keys", { headers: { cookie } })).status, 200, "after a restart");
  }, { config });
  await withConsole(async (ask) => {
    assertEquals((await ask("GET", "/admin/keys", { headers: { cookie } })).status, 401);
  }, { config: { ...config, admin_key: "another-admin-key" } });
  await Deno.remove(store, { recursive: true });
});

Deno.test("signing in, out and in vain is in the audit log, as is every change with who asked for it", () =>
  withConsole(async (ask) => {
    const refused = await ask("POST", "/console/session", { body: { admin_key: "guessed-admin-key" } });
    assertEquals(refused.status, 401);
    const { cookie, csrf } = await signedIn(ask);
    const headers = { cookie, "x-svc-csrf": csrf };
    await ask("POST", "/admin/keys", { body: { name: "made", models: ["a/*"] }, headers });
    await ask("PATCH", "/admin/keys/made", { body: { models: ["b/*"] }, headers });
    await ask("PATCH", "/admin/keys/made", { body: { models: 5 }, headers });
    await ask("DELETE", "/console/session", { headers });
    const { data } = (await ask("GET", "/admin/audit?kind=admin", {
      headers: { authorization: `Bearer ${ADMIN}` },
    })).json;
    assertEquals(
      // deno-lint-ignore no-explicit-any
      data.map((e: any) => [e.action, e.by, e.role ?? null, e.route ?? null, e.result]),
      [
        ["session.ended", "session", "owner", "DELETE /console/session", "done"],
        ["called", "session", "owner", "PATCH /admin/keys/{key}", "validation_error"],
        ["key.changed", "session", "owner", "PATCH /admin/keys/{key}", "done"],
        ["key.created", "session", "owner", "POST /admin/keys", "done"],
        ["session.started", "session", "owner", "POST /console/session", "done"],
        ["credential.refused", null, null, null, "invalid_api_key"],
      ],
    );
    assertEquals([data[2].fields, data[2].before], [{ models: ["b/*"] }, { models: ["a/*"] }]);
    assertEquals(data[1].target, "made");
    assertMatch(data[3].credential, /^ses_/);
    assertEquals(data[5].from, "10.1.2.3");
    const text = JSON.stringify(data);
    for (const secret of [ADMIN, "guessed-admin-key", cookie.slice(20, 60), csrf]) {
      assert(!text.includes(secret));
    }
  }));
