/**
 * No secret of a configuration is told by a gateway whose providers, clouds, mail server, storage and receivers repeat all that
 * they are sent in their errors, nor by its reloads that fail.
 */
import { assert, assertEquals } from "@std/assert";
import { serveProgram } from "../support/program.ts";
import { eventually } from "../support/time.ts";
import { ADMIN, ALL, clean, configuration, KEY, OF_OTHERS, places, S, withAt } from "./canaries.ts";

/** A mail server that refuses who signs in, and repeats what was said. */
function mailServer(): { port: number; close(): void } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const conns = new Set<Deno.Conn>();
  const serve = async (conn: Deno.Conn) => {
    const say = (text: string) => conn.write(new TextEncoder().encode(`${text}\r\n`));
    try {
      await say("220 mail");
      let said = "";
      const buffer = new Uint8Array(4096);
      for (let n = await conn.read(buffer); n !== null; n = await conn.read(buffer)) {
        const line = new TextDecoder().decode(buffer.subarray(0, n)).trim();
        said += `${line} `;
        if (/^EHLO/i.test(line)) await say("250-mail\r\n250 AUTH PLAIN LOGIN");
        else {await say(`535 no: ${said}${
            (() => {
              try {
                return atob(line.split(" ").at(-1)!);
              } catch {
                return "";
              }
            })().replaceAll("\0", " ")
          }`);}
      }
    } catch {
      // The other side has left.
    }
  };
  void (async () => {
    for await (const conn of listener) {
      conns.add(conn);
      void serve(conn);
    }
  })();
  return {
    port: (listener.addr as Deno.NetAddr).port,
    close() {
      listener.close();
      for (const conn of conns) {
        try {
          conn.close();
        } catch {
          // Closed before.
        }
      }
    },
  };
}

async function privateKey(): Promise<string> {
  const { privateKey } = await crypto.subtle.generateKey(
    {
      name: "RSASSA-PKCS1-v1_5",
      modulusLength: 2048,
      publicExponent: new Uint8Array([1, 0, 1]),
      hash: "SHA-256",
    },
    true,
    ["sign", "verify"],
  );
  const bytes = new Uint8Array(await crypto.subtle.exportKey("pkcs8", privateKey));
  return btoa(String.fromCharCode(...bytes)).replace(/.{64}/g, "$&\n");
}

Deno.test("a gateway among servers that repeat all they are sent tells no secret", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-secrets-" });
  const asked = new Set<string>();
  let count = 0;
  let oidcAnswers = 0;
  /** What came of those who call and sign in. */
  const came = new Set<string>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname, origin } = new URL(request.url);
    asked.add(pathname);
    const text = new TextDecoder().decode(await request.bytes());
    const all = `${JSON.stringify([...request.headers])} ${text} ${request.url}`;
    for (const secret of Object.values(OF_OTHERS)) if (all.includes(secret)) came.add(secret);
    if (pathname.startsWith("/.well-known")) {
      return Response.json({
        issuer: origin,
        error: all,
        authorization_endpoint: `${origin}/oidc/authorize`,
        token_endpoint: `${origin}/oidc/token`,
        jwks_uri: `${origin}/oidc/keys`,
      });
    }
    if (pathname === "/oidc/token") {
      const refused = oidcAnswers++ === 0;
      return refused
        ? Response.json({ error: all, error_description: all }, {
          status: 400,
          headers: { "www-authenticate": `Bearer error="${OF_OTHERS.code}"` },
        })
        : Response.json({ access_token: OF_OTHERS.token, token_type: "bearer", id_token: `${all}.${all}.` });
    }
    if (pathname.startsWith("/sts")) {
      return new Response(`<Error><Code>x</Code><Message>${all}</Message></Error>`, { status: 403 });
    }
    const status = pathname.includes("token") ? 400 : [400, 401, 422, 403, 500, 400][count++ % 6];
    return Response.json(
      { error: { message: all, code: "x", type: all }, error_description: all, message: all, detail: all },
      { status },
    );
  });
  const echo = { url: `http://127.0.0.1:${server.addr.port}`, close: () => server.shutdown() };
  const mail = mailServer();
  const key = await privateKey();
  await Deno.writeTextFile(
    `${folder}/google.json`,
    JSON.stringify({
      type: "service_account",
      client_email: `${S.google}@p.example`,
      private_key_id: "k",
      private_key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`,
      token_uri: `${echo.url}/google/token`,
    }),
  );
  const config = configuration(echo.url, folder, mail.port);
  const file = `${folder}/c.json`;
  await Deno.writeTextFile(file, JSON.stringify(config));
  const serving = await serveProgram(["serve", "--config", file], {
    cwd: folder,
    env: { AWS_ENDPOINT_URL_STS: `${echo.url}/sts`, AZURE_AUTHORITY_HOST: `${echo.url}/azure` },
  });
  try {
    const get = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(serving.url + path, {
        redirect: "manual",
        ...init,
        headers: { authorization: `Bearer ${ADMIN}`, ...init.headers },
      });
      return `${JSON.stringify([...response.headers])} ${await response.text()}`;
    };
    for (const name of ["plain", "aws", "role", "azure", "google"]) {
      for (let i = 0; i < 3; i++) {
        for (const stream of [false, true]) {
          const body = JSON.stringify({
            model: `a/${name}`,
            stream,
            messages: [{ role: "user", content: "Hi" }],
          });
          const said = await get("/v1/chat/completions", {
            method: "POST",
            body,
            headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
          });
          clean(said, `a call of ${name}`);
          assert(!said.includes(key.slice(40, 60)), name);
        }
      }
    }
    for (const stream of [false, true]) {
      for (let i = 0; i < 6; i++) {
        const said = await get("/v1/chat/completions", {
          method: "POST",
          body: JSON.stringify({ model: "a/passing", stream, messages: [{ role: "user", content: "Hi" }] }),
          headers: {
            authorization: `Bearer ${OF_OTHERS.vendor}`,
            "x-svc-key": KEY,
            "content-type": "application/json",
          },
        });
        clean(said, "a call that its caller pays");
      }
    }
    // The provider repeats what it is asked with as an error, and then as a token.
    for (let i = 0; i < 2; i++) {
      const start = await fetch(`${serving.url}/console/oidc/start`, { redirect: "manual" });
      assertEquals(start.status, 302, await start.text());
      const state = new URL(start.headers.get("location")!).searchParams.get("state");
      const back = await get(`/console/oidc/callback?code=${OF_OTHERS.code}&state=${state}`, {
        headers: { authorization: "", cookie: start.headers.getSetCookie()[0].split(";")[0] },
      });
      assert(back.includes("Not signed in"), back);
      clean(back, "a sign-in");
    }
    await eventually(() => asked.has("/alert"), {
      what: () =>
        `${[...asked].join(" ")}
${serving.err().slice(-3000)}`,
    });
    clean(await get("/console/sign-in"), "sign-in");
    const { paths } = JSON.parse((await get("/openapi.json")).replace(/^.*?\]\] /s, ""));
    for (const [path, methods] of Object.entries<Record<string, unknown>>(paths)) {
      if (!("get" in methods) || path.includes("{") || path === "/admin/live" || path === "/v1/responses") {
        continue;
      }
      clean(await get(path), `GET ${path}`);
    }
    clean(await get("/metrics"), "metrics");
    clean(await get("/admin/oidc/callback?code=x&state=y"), "callback");

    // A file that cannot be used, with secrets in the wrong places.
    for (
      const [path, value] of [...places(config)].filter(([, value]) =>
        ALL.some((secret) => value.includes(secret))
      )
    ) {
      await Deno.writeTextFile(
        file,
        JSON.stringify(withAt(config, path, (node, name) => node[name] = { [name]: [value] })),
      );
      const before = serving.err().length;
      serving.kill("SIGHUP");
      await eventually(() => serving.err().slice(before).includes("configuration not reloaded"));
    }
    await Deno.writeTextFile(file, `{"admin_key": "${ADMIN}" "keys": ${KEY}`);
    serving.kill("SIGHUP");
    await eventually(() => serving.err().split("configuration not reloaded").length > ALL.length - 2);
    clean(await get("/admin/configuration"), "the configuration");
    clean(await get("/admin/attention"), "attention");
  } finally {
    serving.kill("SIGTERM");
    assertEquals(await serving.ended, 0);
    mail.close();
    await echo.close();
    await Deno.remove(folder, { recursive: true });
  }
  assertEquals([came.has(OF_OTHERS.vendor), came.has(OF_OTHERS.code), oidcAnswers], [true, true, 2]);
  const printed = serving.out() + serving.err();
  clean(printed, "the log");
  assert(!printed.includes(key.slice(40, 60)));
  for (const path of ["/sts", "/azure", "/google/token", "/alert", "/services", "/oidc/token"]) {
    assert([...asked].some((one) => one.startsWith(path)), `${path} was not asked: ${[...asked].join(" ")}`);
  }
});
