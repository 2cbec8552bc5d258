/** What somebody could try against sessions, tokens and roles. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ENDPOINTS } from "../../src/assemble.ts";
import { loadValue } from "../../src/config/load.ts";
import { CLIENT, oidcProvider } from "../support/oidc_provider.ts";
import { StoppedClock } from "../support/time.ts";
import { ADMIN, askerOf, cookieOf, signedIn, withConsole } from "./rig.ts";

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

Deno.test("cookies are for HTTPS alone where the browser came by it, as far as whoever says so is trusted", async () => {
  const body = { admin_key: ADMIN };
  const secure = async (
    server: Record<string, unknown>,
    from: string,
    headers: Record<string, string> = {},
  ) => {
    let answer = "";
    await withConsole(async (_, gateway) => {
      const made = await askerOf(gateway, from)("POST", "/console/session", { body, headers });
      answer = made.headers.get("set-cookie")!;
    }, { config: { server } });
    return /; Secure$/.test(answer);
  };
  const https = { "x-forwarded-proto": "https" };
  assertEquals(await secure({}, "10.0.0.1", https), false, "nobody is trusted");
  assertEquals(await secure({ trusted_proxies: ["10.0.0.0/8"] }, "10.0.0.1", https), true);
  assertEquals(await secure({ trusted_proxies: ["10.0.0.0/8"] }, "11.0.0.1", https), false, "not by others");
  assertEquals(await secure({ trusted_proxies: ["10.0.0.0/8"] }, "10.0.0.1"), false);
  assertEquals(await secure({ public_url: "https://gw.example" }, "11.0.0.1"), true);
});

Deno.test("over HTTPS the session's cookie is the host's own: one that a neighbour of the domain can plant is none", () =>
  withConsole(async (_, gateway) => {
    const ask = askerOf(gateway, "10.0.0.1");
    const https = { "x-forwarded-proto": "https" };
    const signIn = async (headers: Record<string, string>) =>
      (await ask("POST", "/console/session", { body: { admin_key: ADMIN }, headers })).headers.get(
        "set-cookie",
      )!;
    const host = await signIn(https);
    assertMatch(
      host,
      /^__Host-sluice_session=[\w-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/,
    );
    const own = host.split(";")[0];
    const planted = (await signIn({})).split(";")[0];
    assertStringIncludes(planted, "sluice_session=");
    const status = async (cookie: string, headers: Record<string, string>) =>
      (await ask("GET", "/admin/keys", { headers: { ...headers, cookie } })).status;
    assertEquals(await status(own, https), 200);
    assertEquals(await status(planted, https), 401, "anybody may have set it");
    assertEquals(await status(`${planted}; ${own}`, https), 200, "nor can it throw somebody out");
    assertEquals(await status(planted, {}), 200, "without HTTPS there is no other");
    assertEquals(await status(own, {}), 401);
    const out = await ask("DELETE", "/console/session", { headers: https });
    assertMatch(out.headers.get("set-cookie")!, /^__Host-sluice_session=; Path=\/; Max-Age=0; .*; Secure$/);
  }, { config: { server: { trusted_proxies: ["10.0.0.0/8"] } } }));

Deno.test("guesses behind a trusted proxy count for who guesses, and nobody else can choose the address", () =>
  withConsole(async (ask, gateway) => {
    const proxy = askerOf(gateway, "10.0.0.1");
    await proxy("GET", "/admin/keys", {
      headers: { ...bearer("wrong"), "x-forwarded-for": "7.7.7.7, 8.8.8.8" },
    });
    await ask("GET", "/admin/keys", { headers: { ...bearer("wrong"), "x-forwarded-for": "9.9.9.9" } });
    const { data } = (await ask("GET", "/admin/audit?kind=admin", { headers: bearer(ADMIN) })).json;
    assertEquals(data.map((entry: { from: string }) => entry.from), ["10.1.2.3", "8.8.8.8"]);
  }, { config: { server: { trusted_proxies: ["10.0.0.1"] } } }));

Deno.test("origins that may call the API cannot use the console's session", () =>
  withConsole(async (ask) => {
    const { cookie } = await signedIn(ask);
    const headers = { cookie, origin: "https://app.example", "sec-fetch-site": "cross-site" };
    const answer = await ask("GET", "/admin/keys", { headers });
    assertEquals(answer.status, 403);
    assertEquals(answer.headers.get("access-control-allow-credentials"), null);
  }, { config: { server: { cors_origins: ["*"] } } }));

Deno.test("nobody becomes more by changing keys, and no key administers", () =>
  withConsole(async (ask) => {
    const { json: operator } = await ask("POST", "/admin/tokens", {
      body: { name: "op", role: "operator" },
      headers: bearer(ADMIN),
    });
    const headers = bearer(operator.secret);
    const { json: key } = await ask("POST", "/admin/keys", { body: { name: "k" }, headers });
    for (const field of ["member", "id", "role", "source", "secret", "created", "revoked_at", "__proto__"]) {
      const body = JSON.parse(`{"${field}": "x"}`);
      assertEquals((await ask("PATCH", "/admin/keys/k", { body, headers })).status, 422, field);
      assertEquals(
        (await ask("POST", "/admin/keys", { body: { ...body, name: "j", [field]: "x" }, headers })).status,
        422,
        field,
      );
    }
    for (const path of ["/admin/keys", "/metrics", "/admin/tokens"]) {
      assertEquals((await ask("GET", path, { headers: bearer(key.secret) })).status, 401, path);
    }
    // A token with another role in front of, or behind its own secret is none.
    for (
      const wrong of [
        operator.secret.slice(0, -1),
        `${operator.secret}x`,
        operator.secret.replace("admin", "live"),
      ]
    ) {
      assertEquals((await ask("GET", "/admin/keys", { headers: bearer(wrong) })).status, 401);
    }
    // A credential of its own counts, not the session beside it.
    const owner = await signedIn(ask);
    const both = { ...headers, cookie: owner.cookie, "x-svc-csrf": owner.csrf };
    assertEquals((await ask("GET", "/admin/tokens", { headers: both })).status, 403);
  }));

Deno.test("a watcher's stream ends with the session, the token or the admin key that it rests on", () =>
  withConsole(async (ask, { gateway }) => {
    const { json: token } = await ask("POST", "/admin/tokens", {
      body: { name: "t", role: "auditor" },
      headers: bearer(ADMIN),
    });
    const session = await signedIn(ask);
    const watch = async (headers: Record<string, string>) => {
      const response = await gateway.handle(new Request("http://gateway/admin/live", { headers }));
      assertEquals(response.status, 200);
      let ended = false;
      const done = response.body!.pipeTo(new WritableStream()).finally(() => ended = true).catch(() => {});
      return { done, ended: () => ended };
    };
    const watchers = [await watch(bearer(token.secret)), await watch({ cookie: session.cookie })];
    const byKey = await watch(bearer(ADMIN));
    await ask("DELETE", `/admin/tokens/${token.id}`, { headers: bearer(ADMIN) });
    await ask("DELETE", "/console/session", {
      headers: { cookie: session.cookie, "x-svc-csrf": session.csrf },
    });
    for (const watcher of watchers) await watcher.done;
    assertEquals(byKey.ended(), false);
    const { config } = loadValue({
      store: { url: "sqlite::memory:" },
      providers: { demo: { api: "demo" } },
      models: [{ id: "demo/model", routes: [{ provider: "demo", model: "model" }] }],
      admin_key: "another-admin-key",
    }, { env: () => undefined });
    await gateway.reload(config);
    await byKey.done;
  }));

Deno.test("names and subjects of people are cut to what logs, names and cookies can hold", async () => {
  const provider = await oidcProvider();
  try {
    await withConsole(async (ask, { logged }) => {
      const person = async (claims: Record<string, unknown>) => {
        provider.person = { sub: "s", roles: ["dev"], groups: ["research"], ...claims };
        const start = await ask("GET", "/console/oidc/start");
        const back = new URL(await provider.authorize(start.headers.get("location")!));
        return await ask("GET", back.pathname + back.search, { headers: { cookie: cookieOf(start) } });
      };
      const nameOf = async (preferred_username: unknown) => {
        const answer = await person({ preferred_username });
        assertEquals(answer.status, 303, answer.text);
        const headers = { cookie: cookieOf(answer) };
        assert(cookieOf(answer).length < 4096);
        const shown = (await ask("GET", "/console/session", { headers })).json;
        const made = await ask("POST", "/admin/keys", {
          body: { name: "k" },
          headers: { ...headers, "x-svc-csrf": shown.csrf },
        });
        assert([201, 422].includes(made.status), made.text);
        if (made.status === 201) {
          await ask("DELETE", `/admin/keys/${made.json.id}`, { headers: bearer(ADMIN) });
        }
        return shown.name;
      };
      assertEquals(await nameOf("a\r\nset-cookie: x=y\0\u202e"), "aset-cookie: x=y");
      assertEquals(await nameOf("\u{1f600}".repeat(100)), "\u{1f600}".repeat(64));
      assertEquals(await nameOf("x".repeat(5000)), "x".repeat(64));
      assertEquals(await nameOf(["ada"]), "s", "no text");
      assertEquals(await nameOf("\n"), "s");
      for (const sub of ["x".repeat(256), "a\0b", "a\nb", "\u{1f600}"]) {
        assertEquals((await person({ sub })).status, 403, sub.slice(0, 5));
      }
      provider.mischief = { answer: { error: "x".repeat(3000) } };
      assertEquals((await person({})).status, 403);
      assert(logged.every((line) => line.length < 500 && !/[\r\n\0]/.test(line)));
    }, {
      config: {
        teams: [{ name: "research" }],
        oidc: {
          issuer: provider.issuer,
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          roles: { claim: "roles", map: { dev: "member" } },
          team_claim: "groups",
        },
      },
    });
  } finally {
    await provider.close();
  }
});

Deno.test("a session that was ended while the store was away is ended, and told when it is back", async () => {
  const { EndedSessions } = await import("../../src/accounts/keys/ended_sessions.ts");
  const { StoreUnavailable } = await import("../../src/store/mod.ts");
  const told: string[] = [];
  let away = true;
  const ended = new EndedSessions({
    clock: { now: () => 1000 },
    store: {
      endSession({ id }) {
        if (away) return Promise.reject(new StoreUnavailable());
        told.push(id);
        return Promise.resolve();
      },
    },
  });
  await ended.add("ses_1", 2000);
  assertEquals([ended.has("ses_1"), told], [true, []]);
  away = false;
  await ended.flush();
  await ended.flush();
  assertEquals(told, ["ses_1"]);
  ended.learn([{ id: "old", ends: 999 }]);
  assertEquals(ended.has("old"), false);
});

Deno.test("a session that was ended stays so where the clock runs ahead and is set back", async () => {
  const { EndedSessions } = await import("../../src/accounts/keys/ended_sessions.ts");
  const HOUR = 3_600_000;
  const clock = new StoppedClock(1_000 * HOUR);
  const steady = new StoppedClock();
  const ended = new EndedSessions({ clock, steady, store: { endSession: () => Promise.resolve() } });
  await ended.add("ses_1", clock.now() + 12 * HOUR);
  clock.move(24 * HOUR);
  await ended.add("ses_2", clock.now() + 12 * HOUR);
  clock.move(-24 * HOUR);
  assertEquals([ended.has("ses_1"), ended.has("ses_2")], [true, true]);
  clock.move(24 * HOUR);
  steady.move(24 * HOUR);
  await ended.add("ses_3", clock.now() + 12 * HOUR);
  assertEquals([ended.has("ses_1"), ended.has("ses_3")], [false, true]);
});

Deno.test("whoever changes much is slowed, and the audit log is not filled by refusals", async () => {
  const provider = await oidcProvider();
  try {
    await withConsole(async (ask) => {
      provider.person = { sub: "s", roles: ["dev"] };
      const start = await ask("GET", "/console/oidc/start");
      const back = new URL(await provider.authorize(start.headers.get("location")!));
      const answer = await ask("GET", back.pathname + back.search, { headers: { cookie: cookieOf(start) } });
      const cookie = cookieOf(answer);
      const { csrf } = (await ask("GET", "/console/session", { headers: { cookie } })).json;
      const headers = { cookie, "x-svc-csrf": csrf };
      const statuses: number[] = [];
      for (let i = 0; i < 70; i++) {
        statuses.push((await ask("PATCH", "/admin/keys/x", { body: {}, headers })).status);
      }
      assertEquals([statuses[0], statuses.at(-1)], [403, 429]);
      assertEquals((await ask("GET", "/admin/keys", { headers })).status, 200, "reading goes on");
      const refused = await ask("GET", "/admin/audit?kind=admin&limit=1000", { headers: bearer(ADMIN) });
      assert(refused.json.data.length < 70);
      assertStringIncludes(refused.text, "permission_denied");
    }, {
      config: {
        oidc: {
          issuer: provider.issuer,
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          roles: { claim: "roles", map: { dev: "member" } },
        },
      },
    });
  } finally {
    await provider.close();
  }
});

Deno.test("no endpoint that changes something takes the session's cookie alone, or another session's csrf value", () =>
  withConsole(async (ask, gateway) => {
    const own = await signedIn(ask);
    const other = await signedIn(ask);
    const changing = (await ENDPOINTS.all()).filter((e) =>
      e.credential === "admin_key" && e.method !== "GET" ||
      e.path === "/console/session" && e.method === "DELETE"
    );
    assert(changing.length > 15);
    const trails = async () =>
      (await ask("GET", "/admin/audit?kind=admin&limit=1000", { headers: bearer(ADMIN) })).json.data.length;
    const before = await trails();
    for (const { method, path } of changing) {
      const filled = path.replaceAll(/\{\w+\+?\}/g, "nothing");
      for (const csrf of [null, "", "x", other.csrf, `${own.csrf}x`]) {
        const headers = { cookie: own.cookie, ...(csrf !== null && { "x-svc-csrf": csrf }) };
        const { status, json } = await ask(method, filled, { body: {}, headers });
        assertEquals([status, json.error.code], [403, "permission_denied"], `${method} ${path} with ${csrf}`);
      }
      // A page of another origin has made the browser ask, with everything.
      for (const site of ["cross-site", "same-site"]) {
        const headers = { cookie: own.cookie, "x-svc-csrf": own.csrf, "sec-fetch-site": site };
        assertEquals(
          (await ask(method, filled, { body: {}, headers })).status,
          403,
          `${method} ${path} from ${site}`,
        );
      }
    }
    assertEquals(await trails(), before, "nothing was begun");
    assertEquals((await ask("GET", "/console/session", { headers: { cookie: own.cookie } })).status, 200);
    assert(gateway.url !== "");
  }));

Deno.test("an operator cannot reach what owners decide, by any field, path or method", () =>
  withConsole(async (ask) => {
    const made = await ask("POST", "/admin/tokens", {
      body: { name: "op", role: "operator" },
      headers: bearer(ADMIN),
    });
    const headers = bearer(made.json.secret);
    const session = await ask("POST", "/console/session", { body: { admin_key: ADMIN } });
    const [{ id }] = (await ask("GET", "/admin/sessions", { headers: bearer(ADMIN) })).json.data;
    const tries: [string, string, unknown?][] = [
      ["POST", "/admin/tokens", { name: "up", role: "owner" }],
      ["GET", "/admin/tokens"],
      ["HEAD", "/admin/tokens"],
      ["DELETE", `/admin/tokens/${made.json.id}`],
      ["GET", "/admin/sessions"],
      ["DELETE", `/admin/sessions/${id}`],
      ["DELETE", "/admin/sessions?member=x"],
      ["GET", "/admin/tokens/"],
      ["GET", "/admin//tokens"],
      ["GET", "/ADMIN/tokens"],
      ["GET", "/admin/keys/..%2Ftokens"],
      ["GET", "/admin/%74okens"],
    ];
    for (const [method, path, body] of tries) {
      const answer = await ask(method, path, { body, headers });
      assert([403, 404, 405].includes(answer.status), `${method} ${path}: ${answer.status} ${answer.text}`);
    }
    for (const header of ["x-http-method-override", "x-method-override", "x-original-url", "x-rewrite-url"]) {
      const answer = await ask("GET", "/admin/keys", { headers: { ...headers, [header]: "/admin/tokens" } });
      assert(!answer.text.includes(made.json.id), header);
    }
    const { cookie } = { cookie: cookieOf(session) };
    assertEquals(
      (await ask("GET", "/console/session", { headers: { cookie } })).status,
      200,
      "the owner stays in",
    );
  }));
