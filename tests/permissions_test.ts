/** The permissions that `sluice permissions` prints suffice for all that a gateway does, and hold it to its configuration. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { CREDENTIAL_NEEDS } from "../src/providers/credentials/needs.ts";
import { leastAnswer } from "./support/answers.ts";
import { runProgram, serveProgram } from "./support/program.ts";
import { loopbackProvider } from "./support/provider.ts";
import { eventually } from "./support/time.ts";

const SECRET = "sk_live_permitpermitpermitpermitper01";
const ADMIN = "an-admin-key-of-enough-letters";
const SOURCES = new URL("../src/providers/", import.meta.url);

function configOf(provider: string, workers: number) {
  const model = (id: string, name: string) => ({
    id,
    routes: [{ provider: name, model: "m" }],
    pricing: { prompt: "0.000001", completion: "0.000001" },
    capabilities: { features: ["tools"] },
  });
  return {
    server: { workers, shutdown_grace_seconds: 1 },
    admin_key: "${PERMIT_ADMIN}",
    store: { url: "sqlite:./kept/store.db" },
    payloads: { to: "file:./payloads", key: "${PERMIT_ADMIN}" },
    providers: {
      named: { api: "openai-chat", base_url: `${provider}/v1`, api_key: "${PERMIT_KEY}" },
      groq: { base_url: `${provider}/v1` },
      bedrock: {
        api: "openai-chat",
        base_url: `${provider}/v1`,
        auth: { type: "aws", region: "eu-central-1" },
      },
    },
    models: [model("a/named", "named"), model("a/groq", "groq"), model("a/bedrock", "bedrock")],
    dlp_policies: { orders: { mode: "mask", regexes: [{ name: "order", pattern: "AB-\\d{4}" }] } },
    keys: [{ name: "test", secret: SECRET, payloads: true }, {
      name: "screened",
      secret: `${SECRET}x`,
      dlp_policy: "orders",
    }],
  };
}

const ENV = {
  PERMIT_ADMIN: ADMIN,
  PERMIT_KEY: "key-of-a-variable",
  GROQ_API_KEY: "key-of-a-preset",
  AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "wJalrXUtnFEMI",
};

async function granted(
  workers: number,
  use: (folder: string, flags: string[], seen: string[]) => Promise<void>,
) {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "sluice-permissions-" }));
  const seen: string[] = [];
  const provider = loopbackProvider((one) => {
    // The gateway asks for lists of models too.
    if (one.text !== "") seen.push(one.headers.get("authorization") ?? "");
    return leastAnswer(one);
  });
  try {
    await Deno.writeTextFile(`${folder}/sluice.json`, JSON.stringify(configOf(provider.url, workers)));
    const { code, out, err } = await runProgram(["permissions", "--config", "sluice.json"], {
      cwd: folder,
      env: ENV,
    });
    assertEquals(code, 0, err);
    await use(folder, out.trim().split("\n"), seen);
  } finally {
    await provider.close();
    await Deno.remove(folder, { recursive: true });
  }
}

const call = (url: string, model: string, more: object = {}, secret = SECRET) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "my order AB-1234" }], ...more }),
  });

for (const workers of [1, 2]) {
  Deno.test(`a gateway of ${workers} process(es) does its work with the permissions that it says it needs`, () =>
    granted(workers, async (folder, flags, seen) => {
      assert(
        !flags.some((flag) => /^(?:-A|--allow-(?:all|ffi|sys|env|read|write|run))$/.test(flag)),
        flags.join(" "),
      );
      assertEquals(flags.some((flag) => flag.startsWith("--allow-run")), workers > 1);
      const permissions: Record<string, string> = workers > 1 ? { SLUICE_PERMISSIONS: flags.join("\n") } : {};
      const serving = await serveProgram(["serve", "--config", "sluice.json"], {
        cwd: folder,
        env: { ...ENV, ...permissions },
        permissions: flags,
      });
      const { url } = serving;
      const admin = { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" };
      for (const model of ["a/named", "a/groq", "a/bedrock"]) {
        for (const stream of [false, true]) {
          const response = await call(url, model, { stream });
          assertEquals(response.status, 200, await response.text());
        }
      }
      assertEquals(seen.slice(0, 4), [
        "Bearer key-of-a-variable",
        "Bearer key-of-a-variable",
        "Bearer key-of-a-preset",
        "Bearer key-of-a-preset",
      ]);
      assertMatch(seen[4], /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/);
      const screened = await call(url, "a/named", {}, `${SECRET}x`);
      assertEquals([screened.status, screened.headers.get("x-svc-dlp-findings")], [200, "1"]);
      await screened.body?.cancel();
      const counted = await fetch(`${url}/v1/messages/count_tokens`, {
        method: "POST",
        headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "a/named", messages: [{ role: "user", content: "one two three" }] }),
      });
      assertEquals(counted.status, 200, await counted.text());
      for (
        const path of ["/healthz", "/readyz", "/docs", "/metrics", "/admin/keys", "/console"]
      ) {
        const response = await fetch(url + path, { headers: admin, redirect: "manual" });
        await response.body?.cancel();
        assert(response.status < 400, `${path}: ${response.status}`);
      }
      const kept = await call(url, "a/named");
      await kept.body?.cancel();
      const id = kept.headers.get("x-request-id");
      await eventually(async () => {
        const response = await fetch(`${url}/admin/generations/${id}/payload`, { headers: admin });
        await response.body?.cancel();
        return response.status === 200;
      });
      const made = await fetch(`${url}/admin/keys`, {
        method: "POST",
        headers: admin,
        body: JSON.stringify({ name: "another" }),
      });
      assertEquals(made.status, 201, await made.text());
      serving.kill("SIGHUP");
      await serving.said("configuration reloaded");
      const usage = () =>
        runProgram(["usage", "--config", "sluice.json"], { cwd: folder, env: ENV, permissions: flags });
      await eventually(async () => (await usage()).out.includes("screened"));
      serving.kill("SIGTERM");
      assertEquals(await serving.ended, 0);
      assert(!/NotCapable|Requires|panicked/.test(serving.err()), serving.err());
    }));
}

Deno.test("a gateway with the permissions of one configuration reads and writes nothing of another", () =>
  granted(1, async (folder, flags) => {
    const elsewhere = JSON.stringify({
      ...configOf("http://127.0.0.1:9", 1),
      store: { url: "sqlite:./elsewhere/store.db" },
    });
    await Deno.writeTextFile(`${folder}/other.json`, elsewhere);
    const unread = await runProgram(["check", "--config", "other.json"], {
      cwd: folder,
      env: ENV,
      permissions: flags,
    });
    assertEquals(unread.code, 2);
    assertStringIncludes(unread.err, "read access");
    const unwritten = await runProgram(["usage"], {
      cwd: folder,
      env: { ...ENV, SLUICE_CONFIG: elsewhere },
      permissions: flags,
    });
    assert(unwritten.code !== 0);
    assertEquals(await Deno.stat(`${folder}/elsewhere`).catch(() => null), null);
  }));

Deno.test("a gateway may run the program that an AWS profile names, and read the files that credentials name", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "sluice-programs-" }));
  const seen: string[] = [];
  const provider = loopbackProvider((one) => {
    if (one.text !== "") seen.push(one.headers.get("authorization") ?? "");
    return leastAnswer(one);
  });
  try {
    await Deno.mkdir(`${folder}/.aws`);
    const keys = JSON.stringify({
      Version: 1,
      AccessKeyId: "AKPROGRAM",
      SecretAccessKey: "s",
      Expiration: "SOON",
    });
    // The keys live for a second, so the program runs again and again.
    await Deno.writeTextFile(
      `${folder}/keys.sh`,
      `#!/bin/sh\necho run >> "$HOME/runs"\necho '${keys}' | sed "s/SOON/$(date -u -d '+2 seconds' +%FT%TZ)/"\n`,
      { mode: 0o755 },
    );
    await Deno.writeTextFile(
      `${folder}/.aws/config`,
      `[profile dev]\nsource_profile = base\n[profile base]\ncredential_process = ${folder}/keys.sh --all\nweb_identity_token_file = /run/token\n[profile alone]\ncredential_process = ${folder}/keys.sh\n`,
    );
    await Deno.writeTextFile(
      `${folder}/adc.json`,
      JSON.stringify({
        type: "external_account",
        credential_source: {
          file: "/run/subject",
          executable: { command: "subject-token --audience x", output_file: "/run/printed" },
        },
      }),
    );
    const base = { api: "openai-chat", base_url: `${provider.url}/v1` };
    const aws = (profile: string) => ({ ...base, auth: { type: "aws", region: "eu-central-1", profile } });
    const config = {
      store: { url: "sqlite::memory:" },
      providers: {
        alone: aws("alone"),
        chained: aws("dev"),
        google: { ...base, auth: { type: "google", credentials_file: `${folder}/adc.json` } },
      },
      models: [{ id: "a/alone", routes: [{ provider: "alone", model: "m" }] }],
      keys: [{ name: "test", secret: SECRET }],
    };
    await Deno.writeTextFile(`${folder}/sluice.json`, JSON.stringify(config));
    const env = { HOME: folder, GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES: "1" };
    const printed = await runProgram(["permissions", "--config", "sluice.json"], { cwd: folder, env });
    assertEquals(printed.code, 0, printed.err);
    const flags = printed.out.trim().split("\n");
    assert(flags.includes(`--allow-run=${folder}/keys.sh,subject-token`), flags.join(" "));
    const read = flags.find((flag) => flag.startsWith("--allow-read="))!.split(/[=,]/);
    for (const path of ["/run/token", "/run/subject", "/run/printed"]) assert(read.includes(path), path);
    // With these permissions, with those of the task, and in workers with theirs.
    for (const [workers, permissions] of [[1, flags], [1, undefined], [2, undefined]] as const) {
      await Deno.writeTextFile(`${folder}/sluice.json`, JSON.stringify({ ...config, server: { workers } }));
      await Deno.writeTextFile(`${folder}/runs`, "");
      const serving = await serveProgram(["serve", "--config", "sluice.json"], {
        cwd: folder,
        env,
        permissions,
      });
      await eventually(async () => {
        const response = await call(serving.url, "a/alone");
        assertEquals(response.status, 200, await response.text() + serving.err());
        return (await Deno.readTextFile(`${folder}/runs`)).length > 4 * 4;
      });
      serving.kill("SIGTERM");
      assertEquals(await serving.ended, 0);
    }
    assert(seen.every((one) => /^AWS4-HMAC-SHA256 Credential=AKPROGRAM/.test(one)));
  } finally {
    await provider.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a start that lacks a permission says which one", () =>
  granted(1, async (folder, flags) => {
    for (const lacks of ["--allow-net", "--allow-write"]) {
      const { code, err } = await runProgram(["serve", "--config", "sluice.json", "--port", "0"], {
        cwd: folder,
        env: ENV,
        permissions: flags.filter((flag) => !flag.startsWith(lacks)),
      });
      assertEquals(code, 2, err);
      assertStringIncludes(err, lacks);
    }
  }));

function* sources(directory: URL): Generator<[string, string]> {
  for (const { name, isDirectory } of Deno.readDirSync(directory)) {
    if (isDirectory) yield* sources(new URL(`${name}/`, directory));
    else yield [directory.pathname.split("/").at(-2)!, Deno.readTextFileSync(new URL(name, directory))];
  }
}

Deno.test("every variable that a running gateway reads by its name is among the permissions", () =>
  granted(1, (_, flags) => {
    const allowed = flags.find((flag) => flag.startsWith("--allow-env="))!.slice("--allow-env=".length).split(
      ",",
    );
    // Commands run with permissions of their own; those of `src/config` and `src/providers` are found by use, and below.
    const others = /^(?:commands|config|providers|manual)$/;
    const found = new Set<string>();
    for (const { name, isDirectory } of Deno.readDirSync(new URL("../src/", import.meta.url))) {
      if (others.test(name)) continue;
      const at = new URL(`../src/${name}`, import.meta.url);
      const texts = isDirectory
        ? [...sources(new URL(`${at}/`))].map(([, text]) => text)
        : [Deno.readTextFileSync(at)];
      for (const [, name] of texts.join("\n").matchAll(/\b(?:env|is)\("([A-Z]\w+)"\)/g)) found.add(name);
    }
    assert(found.has("OTEL_DENO") && found.has("SLUICE_CONFIG"), [...found].join());
    // Payloads are in files here.
    const missing = [...found].filter((name) => !allowed.includes(name) && !name.startsWith("AWS_"));
    assertEquals(missing, []);
    return Promise.resolve();
  }));

Deno.test("every variable that a credential reads is among those that it is known to need", () => {
  const calls = /\b(?:variable\(\s*[\w.]*surroundings|env)\(?,?\s*((?:"[A-Z][A-Z0-9_]+"(?:,\s*)?)+)/g;
  let found = 0;
  for (const [kind, text] of sources(new URL("credentials/", SOURCES))) {
    if (!(kind in CREDENTIAL_NEEDS)) continue;
    const { variables, files } = CREDENTIAL_NEEDS[kind as keyof typeof CREDENTIAL_NEEDS];
    for (const [, names] of text.matchAll(calls)) {
      for (const [, name] of names.matchAll(/"([A-Z0-9_]+)"/g)) {
        found++;
        assert(variables.includes(name), `${kind} reads ${name}`);
        if (name.endsWith("_FILE")) assert(files.includes(name), `${kind} reads the file of ${name}`);
      }
    }
    if (text.includes("inHome(")) assert(variables.includes("HOME"), `${kind} reads HOME`);
  }
  assert(found > 30, `${found} names`);
});

Deno.test("a process that serves calls cannot start programs once it listens", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-permissions-" });
  const serving = await serveProgram(["serve", "--demo"], {
    cwd: folder,
    entry: new URL("./support/permissions_program.ts", import.meta.url),
  });
  try {
    await eventually(() => {
      serving.kill("SIGUSR1");
      return serving.err().includes("run: prompt") || serving.err().includes("run: denied");
    });
  } finally {
    serving.kill("SIGTERM");
    await serving.ended;
    await Deno.remove(folder, { recursive: true });
  }
});
