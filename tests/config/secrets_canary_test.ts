/**
 * Every secret that a configuration may hold, and every way in which something may go wrong with it: none is told by `check`, by a
 * start or a reload that fails, or by a gateway whose providers, clouds, mail server, storage and receivers repeat all that they are
 * sent in their errors.
 */
import { assert, assertEquals } from "@std/assert";
import { examineValue } from "../../src/config/load.ts";
import { disguises } from "../../src/providers/disguises.ts";
import { runProgram, serveProgram } from "../support/program.ts";
import { eventually } from "../support/time.ts";

let made = 0;
const canary = (what: string) => `canary${++made}x${what}x7d1f44a90b3e`;

const ADMIN = canary("admin");
const KEY = `sk_live_${canary("key")}`;
const S = {
  pepper: canary("pepper"),
  database: canary("database"),
  provider: canary("provider"),
  header: canary("header"),
  awsSecret: canary("awssecret"),
  awsSession: canary("awssession"),
  azure: canary("azure"),
  google: canary("google"),
  search: canary("search"),
  oidc: canary("oidc"),
  webhook: canary("webhook"),
  slack: canary("slack"),
  alert: canary("alert"),
  smtp: canary("smtp"),
  payload: canary("payload"),
  s3: canary("sthree"),
};
/** Of those who call and sign in. */
const OF_OTHERS = {
  vendor: canary("vendor"),
  code: canary("code"),
  token: canary("token"),
};
const ALL = [ADMIN, KEY, ...Object.values(S), ...Object.values(OF_OTHERS)];

/** @param text as told @param where for the message */
function clean(text: string, where: string, but: readonly string[] = []): void {
  for (const secret of ALL) {
    if (but.includes(secret)) continue;
    // Long texts are looked at piece by piece.
    for (let at = 0; at < text.length; at += 80_000) {
      const piece = text.slice(at, at + 100_000);
      const told = piece.includes(secret) || disguises(piece, [secret]);
      assert(
        !told,
        `${where} tells ${secret.split("x")[1]}: ${
          piece.slice(Math.max(0, piece.indexOf(secret) - 200), piece.indexOf(secret) + 60)
        }`,
      );
    }
  }
}

const model = (name: string) => ({
  id: `a/${name}`,
  routes: [{ provider: name, model: "m" }],
  pricing: { prompt: "0.000001", completion: "0.000001" },
});

function configuration(url: string, folder: string, smtpPort = 9) {
  const named = { api: "openai-chat", base_url: `${url}/v1`, retries: 0 };
  return {
    server: { shutdown_grace_seconds: 1 },
    admin_key: ADMIN,
    store: { url: `sqlite:${folder}/data/s.db`, pepper: S.pepper },
    oidc: {
      issuer: url,
      client_id: "client",
      client_secret: S.oidc,
      roles: { claim: "groups", map: { admins: "owner" } },
    },
    providers: {
      plain: { ...named, api_key: S.provider, headers: { "x-extra-secret": S.header } },
      aws: {
        ...named,
        auth: {
          type: "aws",
          region: "eu-central-1",
          access_key_id: "AKIDEXAMPLE",
          secret_access_key: S.awsSecret,
          session_token: S.awsSession,
        },
      },
      role: {
        ...named,
        auth: {
          type: "aws",
          region: "eu-central-1",
          role_arn: "arn:aws:iam::123456789012:role/r",
          access_key_id: "AKIDEXAMPLE",
          secret_access_key: S.awsSecret,
          session_token: S.awsSession,
        },
      },
      azure: {
        ...named,
        auth: { type: "azure", tenant_id: "t", client_id: "c", client_secret: S.azure },
      },
      google: { ...named, auth: { type: "google", credentials_file: `${folder}/google.json` } },
      passing: { ...named, pass_credentials: true },
    },
    models: ["plain", "aws", "role", "azure", "google", "passing"].map(model),
    search: { engine: "brave", base_url: url, api_key: S.search },
    keys: [{ name: "k", secret: KEY, payloads: true }],
    webhooks: [{ url: `${url}/hook`, secret: S.webhook, events: ["budget.50", "budget.80", "budget.100"] }],
    alerts: [{
      name: "errors",
      when: { metric: "error_rate", above: 0, least: 1 },
      for: "0s",
      to: [
        { webhook: `${url}/alert`, secret: S.alert },
        { slack: `${url}/services/${S.slack}` },
        { email: ["ops@corp.example"] },
      ],
    }],
    smtp: {
      host: "127.0.0.1",
      port: smtpPort,
      security: "none",
      user: "mailer",
      password: S.smtp,
      from: "sluice@corp.example",
    },
    payloads: {
      to: "s3://bucket/x",
      key: S.payload,
      endpoint: url,
      region: "eu-central-1",
      access_key_id: "AKIDEXAMPLE",
      secret_access_key: S.s3,
    },
  };
}

/** All places of a value, with what stands there. */
function* places(value: unknown, path: (string | number)[] = []): Generator<[(string | number)[], string]> {
  if (typeof value === "string") yield [path, value];
  else if (typeof value === "object" && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      yield* places(inner, [...path, Array.isArray(value) ? Number(name) : name]);
    }
  }
}

function withAt(
  value: unknown,
  path: readonly (string | number)[],
  change: (node: Record<string, unknown>, name: string) => void,
): unknown {
  const copy = structuredClone(value) as Record<string, unknown>;
  let node = copy;
  for (const step of path.slice(0, -1)) node = node[step] as Record<string, unknown>;
  change(node, String(path.at(-1)));
  return copy;
}

/** What somebody does to a field by mistake. */
const SLIPS: Record<string, (node: Record<string, unknown>, name: string) => void> = {
  "in a list": (node, name) => node[name] = [node[name]],
  "in an object": (node, name) => node[name] = { value: node[name] },
  "with a line break": (node, name) => node[name] = `${node[name]}\n`,
  "with a blank before": (node, name) => node[name] = ` ${node[name]}`,
  "with a letter beyond ASCII": (node, name) => node[name] = `${node[name]}é`,
  "far too long": (node, name) => node[name] = String(node[name]).repeat(200),
  "behind a word": (node, name) => node[name] = `Bearer ${node[name]}`,
  "as an address": (node, name) => node[name] = `https://user:${node[name]}@h.example:x/`,
  "under a misspelt name": (node, name) => {
    node[`${name}_`] = node[name];
    delete node[name];
  },
};

Deno.test("no mistake of a configuration tells a secret, wherever it is made", () => {
  const good = configuration("http://127.0.0.1:9", "/tmp/none");
  let tried = 0;
  for (const [path, value] of places(good)) {
    if (!ALL.some((secret) => value.includes(secret))) continue;
    for (const [slip, change] of Object.entries(SLIPS)) {
      const examination = examineValue(withAt(good, path, change), { env: () => undefined });
      let told = [
        ...examination.report.mistakes.map(({ message, path }) => `${path} ${message}`),
        ...examination.report.warnings,
      ].join("\n");
      try {
        told += examination.conclude().warnings.join("\n");
      } catch (thrown) {
        told += String(thrown);
      }
      clean(told, `${path.join(".")} ${slip}`);
      tried++;
    }
  }
  assert(tried > 150, `${tried}`);
});

Deno.test("addresses of databases tell no password, wherever they are wrong", () => {
  const P = S.database;
  const addresses = [
    `postgres://u:${P}@127.0.0.1:x/d`,
    `postgres://u:${P}@[::1/d`,
    `postgres:/u:${P}@h`,
    `postgres:u:${P}@h/d`,
    `postgresx://u:${P}@h/d`,
    `u:${P}@h/d`,
    `postgres://u:${P}/x@h/d`,
    `postgres://u:${P}@h/d?sslmode=what&password=${P}`,
    `postgres://h/d?user=u&password=${P}`,
    `sqlite://u:${P}@h`,
    ` postgres://u:${P}@h/d`,
    `"postgres://u:${P}@h/d"`,
    `mysql://u:${P}@h/d`,
  ];
  for (const url of addresses) {
    const examination = examineValue({ providers: {}, models: [], store: { url } }, { env: () => undefined });
    let told = "";
    try {
      told = examination.conclude().warnings.join("\n");
    } catch (thrown) {
      told = String(thrown);
    }
    clean(told, url.replace(P, "…"));
  }
});

Deno.test("commands, and a start whose database cannot be reached, tell no secret", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-secrets-" });
  try {
    const config = configuration("http://127.0.0.1:9", folder);
    const file = `${folder}/c.json`;
    const run = async (args: string[], value: unknown, env: Record<string, string> = {}) => {
      await Deno.writeTextFile(file, JSON.stringify(value));
      const { out, err } = await runProgram([...args, "--config", file], { cwd: folder, env });
      assert(out + err !== "", args.join(" "));
      clean(out + err, args.join(" "));
    };
    await run(["check"], config);
    await run(["providers"], config);
    await run(["models"], config);
    await run(["permissions"], config);
    const database = `postgres://u:${S.database}@127.0.0.1:9/d`;
    const elsewhere = { ...config, store: { url: database, journal: `${folder}/node` } };
    await run(["check"], elsewhere);
    await run(["usage"], elsewhere);
    await run(["store", "info"], elsewhere);
    await run(["usage"], { ...config, store: {} }, { DATABASE_URL: database });
    await run(["usage"], { ...config, store: {} }, { SLUICE_STORE: database });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

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
      within: 30_000,
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
