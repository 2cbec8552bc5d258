/** Signing in with an identity provider, and what a provider, a browser or another page could try. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { CLIENT, type Mischief, type OidcProvider, oidcProvider } from "../support/oidc_provider.ts";
import { ADMIN, type Ask, cookieOf, withConsole } from "./rig.ts";

const ADA = {
  sub: "ada-1",
  preferred_username: "ada",
  groups: ["/research"],
  realm_access: { roles: ["dev"] },
};

async function withProvider(
  test: (ask: Ask, provider: OidcProvider, logged: string[]) => Promise<void>,
  config: Record<string, unknown> = {},
): Promise<void> {
  const provider = await oidcProvider();
  try {
    await withConsole((ask, { logged }) => test(ask, provider, logged), {
      config: {
        teams: [{ name: "research" }],
        oidc: {
          issuer: provider.issuer,
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          roles: { claim: "realm_access.roles", map: { dev: "member", ops: "operator", boss: "owner" } },
          team_claim: "groups",
          ...config,
        },
      },
    });
  } finally {
    await provider.close();
  }
}

const values = (headers: Headers) => headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
const pathOf = (url: string) => url.slice(new URL(url).origin.length);

/** As a browser goes: to the provider, and back. */
async function signIn(
  ask: Ask,
  provider: OidcProvider,
  person: Record<string, unknown> = ADA,
  query = "",
) {
  provider.person = person;
  const start = await ask("GET", `/console/oidc/start${query}`);
  assertEquals(start.status, 302, start.text);
  const cookie = cookieOf(start);
  const back = await provider.authorize(start.headers.get("location")!);
  return { cookie, back, answer: await ask("GET", pathOf(back), { headers: { cookie } }) };
}

Deno.test("the code flow signs somebody in with role and team, and sends the browser to the console", () =>
  withProvider(async (ask, provider) => {
    const { answer } = await signIn(ask, provider);
    assertEquals([answer.status, answer.headers.get("location")], [303, "/console"], answer.text);
    const [session, flow] = values(answer.headers);
    assertEquals(flow, "sluice_oidc=");
    const shown = await ask("GET", "/console/session", { headers: { cookie: session } });
    const { role, name, team, member, signed_in_with, csrf } = shown.json;
    assertEquals([role, name, team, signed_in_with], ["member", "ada", "research", "oidc"]);
    assertEquals(member, `${provider.issuer}#ada-1`);
    const out = await ask("DELETE", "/console/session", { headers: { cookie: session, "x-svc-csrf": csrf } });
    const end = new URL(out.json.end_session_url);
    assertEquals([end.origin + end.pathname, end.searchParams.get("client_id")], [
      `${provider.issuer}/logout`,
      CLIENT.id,
    ]);
    assertEquals(end.searchParams.get("post_logout_redirect_uri"), "http://gateway/console");
    assertEquals((await ask("GET", "/console/session", { headers: { cookie: session } })).status, 401);
  }));

Deno.test("a sign-in that began at a page of the console leads back to it, and nowhere else", () =>
  withProvider(async (ask, provider) => {
    const pages: [page: string, location: string][] = [
      ["/explore/usage?by=model%2Cday", "/console#/explore/usage?by=model%2Cday"],
      ["//evil.example", "/console#//evil.example"],
      [`/${"x".repeat(1000)}`, `/console#/${"x".repeat(1000)}`],
      [`/${"x".repeat(1001)}`, "/console"],
      ["https://evil.example", "/console"],
      ["/\r\nset-cookie: a=b", "/console"],
      ["/é", "/console"],
      ["", "/console"],
    ];
    for (const [page, location] of pages) {
      const { answer } = await signIn(ask, provider, ADA, `?page=${encodeURIComponent(page)}`);
      assertEquals([answer.status, answer.headers.get("location")], [303, location], page);
    }
  }));

Deno.test("where the sign-in begins: PKCE, state and nonce, in a cookie that the provider's page sends back", () =>
  withProvider(async (ask, provider) => {
    const start = await ask(
      "GET",
      "/console/oidc/start?redirect_uri=https://evil.example&return=//evil.example",
    );
    const url = new URL(start.headers.get("location")!);
    assertEquals(url.origin + url.pathname, `${provider.issuer}/authorize`);
    const query = Object.fromEntries(url.searchParams);
    assertEquals(query.redirect_uri, "http://gateway/console/oidc/callback");
    assertEquals([query.response_type, query.code_challenge_method, query.scope], [
      "code",
      "S256",
      "openid profile email",
    ]);
    assert(query.state.length > 30 && query.nonce.length > 30 && query.code_challenge.length > 30);
    const cookie = start.headers.get("set-cookie")!;
    assertMatch(cookie, /^sluice_oidc=[\w-]+; Path=\/console\/oidc; Max-Age=600; HttpOnly; SameSite=Lax$/);
    assert(!cookie.includes(query.state) && !start.headers.get("location")!.includes("evil"));
  }));

Deno.test("claims become roles: several, the one that may most; none, refused with a plain page", () =>
  withProvider(async (ask, provider, logged) => {
    const roleOf = async (roles: unknown) => {
      const { answer } = await signIn(ask, provider, { ...ADA, realm_access: { roles } });
      if (answer.status !== 303) return answer.status;
      const [cookie] = values(answer.headers);
      return (await ask("GET", "/console/session", { headers: { cookie } })).json.role;
    };
    assertEquals(await roleOf(["dev", "ops"]), "operator");
    assertEquals(await roleOf("boss"), "owner");
    for (const none of [[], ["guest"], undefined, null, 5, { boss: true }, ["__proto__"], ["constructor"]]) {
      assertEquals(await roleOf(none), 403, JSON.stringify(none));
    }
    const { answer } = await signIn(ask, provider, { ...ADA, name: "<script>", realm_access: {} });
    assertStringIncludes(answer.text, "Your account has no role here");
    assertMatch(answer.headers.get("content-security-policy")!, /^default-src 'none'/);
    assertEquals(values(answer.headers), ["sluice_oidc="]);
    assert(logged.some((line) => line.includes("no value of the role's claim is mapped")));
    assert(
      !logged.join("\n").includes("access-token-of-a-test") && !logged.join("\n").includes(CLIENT.secret),
    );
    const refused = await ask("GET", "/admin/audit?kind=admin", {
      headers: { authorization: `Bearer ${ADMIN}` },
    });
    assertStringIncludes(refused.text, "oidc: no value of the role's claim is mapped");
  }));

const b64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const HOSTILE: Record<string, (provider: OidcProvider) => Mischief> = {
  "another nonce": () => ({ claims: { nonce: "another" } }),
  "no nonce": () => ({ claims: { nonce: undefined } }),
  "another issuer": () => ({ claims: { iss: "https://evil.example" } }),
  "another audience": () => ({ claims: { aud: "another-client" } }),
  "several audiences, authorized for another": () => ({
    claims: { aud: [CLIENT.id, "other"], azp: "other" },
  }),
  "a token that has ended": () => ({ claims: { exp: Math.floor(Date.now() / 1000) - 3600 } }),
  "no subject": () => ({ claims: { sub: undefined } }),
  "alg none": () => ({ token: (claims) => `${b64({ alg: "none" })}.${b64(claims)}.` }),
  "alg none, with a signature": () => ({ token: (claims) => `${b64({ alg: "none" })}.${b64(claims)}.AAAA` }),
  "HS256 with the client's secret": () => ({
    token(claims) {
      const signed = `${b64({ alg: "HS256" })}.${b64(claims)}`;
      return `${signed}.${createHmac("sha256", CLIENT.secret).update(signed).digest("base64url")}`;
    },
  }),
  "signed by another key": (provider) => ({ token: (claims) => provider.forge(claims) }),
  "no token at all": () => ({ token: () => "" }),
  "another state": () => ({ answer: { state: "another" } }),
  "another issuer in the answer": () => ({ answer: { iss: "https://evil.example" } }),
  "an error": () => ({ answer: { error: "access_denied", error_description: "<script>alert(1)</script>" } }),
  "a code that was not given": () => ({ answer: { code: "guessed" } }),
};

for (const [name, mischief] of Object.entries(HOSTILE)) {
  Deno.test(`a sign-in with ${name} is refused`, () =>
    withProvider(async (ask, provider) => {
      provider.mischief = mischief(provider);
      const { answer } = await signIn(ask, provider);
      assertEquals(answer.status, 403, answer.text);
      assertEquals(values(answer.headers), ["sluice_oidc="]);
      assert(!answer.text.includes("<script>"));
      provider.mischief = {};
      assertEquals((await signIn(ask, provider)).answer.status, 303, "the next one is none the worse");
    }));
}

Deno.test("keys that the provider has replaced since the last sign-in are read anew, whatever their ids", () =>
  withProvider(async (ask, provider) => {
    assertEquals((await signIn(ask, provider)).answer.status, 303);
    for (const kid of ["k2", "k2", undefined, undefined, "k1"]) {
      await provider.rotate(kid);
      assertEquals((await signIn(ask, provider)).answer.status, 303, kid);
    }
    provider.mischief = { token: (claims) => provider.forge(claims) };
    assertEquals((await signIn(ask, provider)).answer.status, 403);
  }));

Deno.test("addresses of the provider that no browser should open are not used", async () => {
  for (const address of ["javascript:alert(1)", "no address", "", "data:text/html,x"]) {
    await withProvider(async (ask, provider) => {
      provider.mischief = { metadata: { authorization_endpoint: address } };
      const start = await ask("GET", "/console/oidc/start");
      assertEquals(start.status, 502, start.text);
      assertStringIncludes(start.text, "The identity provider cannot be reached");
    });
    await withProvider(async (ask, provider) => {
      provider.mischief = { metadata: { end_session_endpoint: address } };
      const { answer } = await signIn(ask, provider);
      const [cookie] = values(answer.headers);
      const { json: { csrf } } = await ask("GET", "/console/session", { headers: { cookie } });
      const ended = await ask("DELETE", "/console/session", { headers: { cookie, "x-svc-csrf": csrf } });
      assertEquals(ended.json, { signed_out: true, end_session_url: null });
    });
  }
});

Deno.test("an answer counts once, and in the browser that began", () =>
  withProvider(async (ask, provider) => {
    provider.mischief = { replays: true };
    const { cookie, back, answer } = await signIn(ask, provider);
    assertEquals(answer.status, 303);
    const again = await ask("GET", pathOf(back), { headers: { cookie } });
    assertEquals([again.status, values(again.headers)], [400, ["sluice_oidc="]]);
    // Another browser: without its cookie, or with that of a sign-in of its own.
    const start = await ask("GET", "/console/oidc/start");
    const other = await provider.authorize(start.headers.get("location")!);
    assertEquals((await ask("GET", pathOf(other))).status, 400);
    const own = cookieOf(await ask("GET", "/console/oidc/start"));
    assertEquals((await ask("GET", pathOf(other), { headers: { cookie: own } })).status, 403);
    // A session is no sign-in that was begun, nor the other way round.
    const [session] = values(answer.headers);
    const value = session.slice("sluice_session=".length);
    assertEquals(
      (await ask("GET", pathOf(other), { headers: { cookie: `sluice_oidc=${value}` } })).status,
      400,
    );
    const flow = own.slice("sluice_oidc=".length);
    assertEquals(
      (await ask("GET", "/admin/keys", { headers: { cookie: `sluice_session=${flow}` } })).status,
      401,
    );
  }));

Deno.test("a provider whose metadata is a flood is one that is away", async () => {
  const provider = await oidcProvider();
  provider.mischief.metadata = { flood: "x".repeat(2 << 20) };
  try {
    await withConsole(async (ask) => {
      const start = await ask("GET", "/console/oidc/start");
      assertEquals(start.status, 502);
      assertStringIncludes(start.text, "cannot be reached");
    }, {
      config: {
        oidc: { issuer: provider.issuer, client_id: "x", roles: { claim: "roles", map: { a: "owner" } } },
      },
    });
  } finally {
    await provider.close();
  }
});

Deno.test("with the provider away the admin key works, and the page says so", async () => {
  const provider = await oidcProvider();
  await provider.close();
  await withConsole(async (ask) => {
    const start = await ask("GET", "/console/oidc/start");
    assertEquals(start.status, 502);
    assertStringIncludes(start.text, "The admin key and tokens still work");
    assertEquals((await ask("POST", "/console/session", { body: { admin_key: ADMIN } })).status, 200);
    assertEquals((await ask("GET", "/console/session")).json.error.extra, {
      ways: ["admin_key", "token", "oidc"],
    });
  }, {
    config: {
      oidc: { issuer: provider.issuer, client_id: "x", roles: { claim: "roles", map: { a: "owner" } } },
    },
  });
});

Deno.test("what is known of a provider, or that it is away, is forgotten with the configuration", async () => {
  const provider = await oidcProvider();
  const start = async (mischief: Mischief) => {
    provider.mischief = mischief;
    let answer: Awaited<ReturnType<Ask>> | undefined;
    await withConsole(async (ask) => {
      answer = await ask("GET", "/console/oidc/start");
    }, {
      config: {
        oidc: { issuer: provider.issuer, client_id: CLIENT.id, roles: { claim: "r", map: { a: "owner" } } },
      },
    });
    return answer!;
  };
  try {
    assertEquals((await start({ metadata: { issuer: "https://another.example" } })).status, 502);
    assertEquals((await start({})).status, 302);
    const elsewhere = `${provider.issuer}/elsewhere`;
    const moved = await start({ metadata: { authorization_endpoint: elsewhere } });
    assert(moved.headers.get("location")?.startsWith(`${elsewhere}?`), moved.headers.get("location") ?? "");
  } finally {
    await provider.close();
  }
});

Deno.test("roles may come from userinfo, of the same person only", () =>
  withProvider(async (ask, provider) => {
    const person = { sub: "eve", email: "eve@example.com" };
    provider.mischief = { userinfo: { realm_access: { roles: ["ops"] } } };
    const { answer } = await signIn(ask, provider, person);
    assertEquals(answer.status, 303);
    provider.mischief = { userinfo: { sub: "ada-1", realm_access: { roles: ["boss"] } } };
    assertEquals((await signIn(ask, provider, person)).answer.status, 403);
  }));

Deno.test("an address of mail counts as a role's claim only where the provider has verified it", () =>
  withProvider(async (ask, provider) => {
    const person = { sub: "boss", email: "boss@example.com" };
    assertEquals((await signIn(ask, provider, person)).answer.status, 403);
    assertEquals((await signIn(ask, provider, { ...person, email_verified: "true" })).answer.status, 403);
    assertEquals((await signIn(ask, provider, { ...person, email_verified: true })).answer.status, 303);
  }, { roles: { claim: "email", map: { "boss@example.com": "owner" } }, team_claim: null }));

Deno.test("a configuration without the provider, or with other roles, ends its sessions", () =>
  withProvider(async (ask, provider) => {
    const { answer } = await signIn(ask, provider);
    const headers = { cookie: values(answer.headers)[0] };
    assertEquals((await ask("GET", "/admin/keys", { headers })).status, 200);
  }).then(() =>
    withConsole(async (ask) => {
      assertEquals((await ask("GET", "/console/oidc/start")).status, 404);
      assertEquals((await ask("GET", "/console/oidc/callback?code=x&state=y")).status, 404);
    })
  ));
