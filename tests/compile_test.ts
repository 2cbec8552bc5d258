/**
 * What the compiled binary carries, and that it suffices. The runtime that it is packed with is this Deno itself, so that nothing
 * is downloaded; such a binary cannot be run. Instead the same files, and no others, are run as a program.
 */
import { assert, assertEquals } from "@std/assert";
import { compileArgs, packagesFolder, TARGETS, THREADS } from "../.deploy/compile.ts";
import { unused } from "../.deploy/unused.ts";
import { sbom } from "../.deploy/sbom.ts";
import manifest from "../deno.json" with { type: "json" };
import { leastAnswer } from "./support/answers.ts";
import { eventually } from "./support/time.ts";
import { serveProgram } from "./support/program.ts";
import { loopbackProvider } from "./support/provider.ts";

const ROOT = new URL("../", import.meta.url);
const SECRET = "sk_live_compiledcompiledcompiledcom1";

/** Packages that the program reaches. A package of the tests alone in the binary is dead weight. */
const CARRIED = [
  "aws4fetch",
  "deno-std",
  "entities",
  "github-slugger",
  "gpt-tokenizer",
  "jose",
  "libphonenumber-js",
  "marked",
  "postgres",
  "re2-wasm",
  "zod",
  "unpdf",
  "@noble/hashes",
  "@opentelemetry/api",
  "diff",
  "nodemailer",
  "oauth4webapi",
  "@scure/bip39",
];
/** Beside the runtime. */
const MOST_BYTES = 27 << 20;

Deno.test("the compiled binary carries what the program reaches, and little else", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: compileArgs(await packagesFolder(), `${folder}/sluice`),
      cwd: ROOT,
      env: { DENORT_BIN: Deno.execPath(), NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    }).output();
    const listed = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert(success, listed);
    // A package of a scope is listed under the scope.
    const packages = [...listed.matchAll(/^│ {3}[├└]─[─┬] ((?:@[\w.-]+\/)?[\w.-]+)/gm)].map(([, name]) =>
      name
    );
    assertEquals(packages.filter((name) => !CARRIED.includes(name) && !name.endsWith(".d.ts")), [], listed);
    for (const needed of ["zod", "re2-wasm"]) assert(packages.includes(needed), listed);

    const runtime = (await Deno.stat(Deno.execPath())).size;
    const embedded = (await Deno.readFile(`${folder}/sluice`)).subarray(runtime);
    assert(embedded.length < MOST_BYTES, `${embedded.length} bytes beside the runtime: ${listed}`);
    // How the binary's table of files begins each entry: the name, and where its bytes begin and how many there are.
    const files = [
      ...new TextDecoder("latin1").decode(embedded).matchAll(/"File":\{"n":"([^"]+)","o":\[\d+,(\d+)\]/g),
    ].map(([, name, bytes]) => ({ name, bytes: Number(bytes) }));
    const names = new Set(files.map(({ name }) => name));
    for (
      const path of [
        "o200k_base.js",
        "overview.js",
        "uplot.js",
        "hosting.md",
        "re2.wasm",
        "table.json",
        ...THREADS,
      ]
    ) {
      assert(names.has(path.split("/").at(-1)!), `${path} is missing`);
    }
    // The tables of an encoding take megabytes; what says how to split words takes none.
    const encoding = /^(?:gpt2|\w+(?:_base|_edit|_harmony))\.(?:js|tiktoken)$/;
    const encodings = files.filter(({ name, bytes }) => encoding.test(name) && bytes > 100_000);
    assertEquals(encodings.map(({ name }) => name), ["o200k_base.js"]);
    const foreign = /_test\.ts$|^(?:onnxruntime|langchain|fast-check)|\.d\.[cm]?ts$/;
    assertEquals([...names].filter((name) => foreign.test(name)), []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("there is a task for each machine that a release has a binary for", () => {
  const commands = Object.entries(manifest.tasks).filter(([name]) => name.startsWith("compile:"))
    .map(([, { command }]) => command.split(" ").at(-1));
  assertEquals(commands, Object.keys(TARGETS));
});

Deno.test("the list of what is inside names each package of the binary, with its version and checksum", async () => {
  const { components, metadata } = await sbom();
  assertEquals(metadata.component.version, manifest.version);
  assertEquals(components.map(({ name }) => name).sort(), [...CARRIED].sort());
  for (const { purl, version, hashes } of components) {
    assert(purl.startsWith("pkg:npm/") && purl.endsWith(`@${version}`), purl);
    assertEquals(hashes.map(({ alg, content }) => [alg, content.length]), [["SHA-512", 128]]);
  }
});

Deno.test("a release is made of files that exist, for each machine", () => {
  const text = Deno.readTextFileSync(new URL(".github/workflows/release.yml", ROOT));
  const machines = /for machine in (.*);/.exec(text)![1].split(" ");
  assertEquals(
    machines.map((name) => `compile:${name}`),
    Object.keys(manifest.tasks).filter((t) => t.startsWith("compile:")),
  );
  for (const [path] of text.matchAll(/\.(?:deploy|github)\/[\w./-]+/g)) Deno.statSync(new URL(path, ROOT));
  assert(text.includes("jq -r .version deno.json"));
});

/** Copies a folder without some of its paths. */
async function copy(from: string, to: string, without: ReadonlySet<string>): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (without.has(`${from}/${name}`)) continue;
    if (isDirectory) await copy(`${from}/${name}`, `${to}/${name}`, without);
    else await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}

Deno.test("the files of the binary suffice, and nothing else is opened", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "sluice-binary-" }));
  const provider = loopbackProvider(leastAnswer);
  try {
    const packages = await packagesFolder();
    const without = new Set(unused(packages));
    for (const name of CARRIED) {
      const inside = `registry.npmjs.org/${name}`;
      await copy(`${packages}/${inside}`, `${folder}/deno/npm/${inside}`, without);
    }
    await copy(`${ROOT.pathname}src`, `${folder}/program/src`, new Set());
    for (const name of ["deno.json", "deno.lock"]) {
      await Deno.copyFile(`${ROOT.pathname}${name}`, `${folder}/program/${name}`);
    }
    await Deno.mkdir(`${folder}/data`);
    const config = {
      admin_key: "an-admin-key-of-enough-letters",
      store: { url: `sqlite:${folder}/data/store.db` },
      providers: { p: { api: "openai-chat", base_url: `${provider.url}/v1`, api_key: "key" } },
      models: [{ id: "p/model", routes: [{ provider: "p", model: "m" }] }],
      catalog: { discover: false },
      dlp_policies: {
        all: { mode: "mask", regexes: [{ name: "order", pattern: "AB-\\d{4}" }] },
      },
      keys: [{ name: "test", secret: SECRET, dlp_policy: "all" }],
    };
    const serving = await serveProgram([], {
      cwd: folder,
      root: `${folder}/program/`,
      env: { DENO_DIR: `${folder}/deno`, SLUICE_CONFIG: JSON.stringify(config), HOME: folder },
      permissions: [
        "--no-prompt",
        "--cached-only",
        "--no-check",
        "--allow-net",
        "--allow-env",
        `--allow-read=${folder}/program,${folder}/deno,${folder}/data`,
        `--allow-write=${folder}/data`,
      ],
    });
    const post = async (path: string, body: object) => {
      // A process that gets too little of a busy machine refuses calls for a moment.
      const { response, text } = (await eventually(async () => {
        const response = await fetch(serving.url + path, {
          method: "POST",
          headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "p/model", ...body }),
        });
        const text = await response.text();
        return response.status === 503 ? null : { response, text };
      }))!;
      assertEquals(response.status, 200, `${path}: ${text}\n${serving.err()}`);
      return { headers: response.headers, json: JSON.parse(text) };
    };
    const content = "order AB-1234 of jane.doe@corp.example, +1 202 555 0143";
    const messages = [{ role: "user", content }];
    const { headers } = await post("/v1/chat/completions", { messages });
    assertEquals(headers.get("x-svc-dlp-findings"), "3");
    await post("/v1/messages", { messages, max_tokens: 9 });
    await post("/v1/responses", { input: content });
    const { json } = await post("/v1/messages/count_tokens", { messages });
    assert(json.input_tokens > 10, JSON.stringify(json));
    for (const path of ["/readyz", "/docs", "/docs/hosting", "/console", "/config.schema.json"]) {
      const response = await fetch(serving.url + path);
      assertEquals(response.status, 200, `${path}: ${await response.text()}\n${serving.err()}`);
    }
    serving.kill("SIGTERM");
    assertEquals(await serving.ended, 0);
    assert(!/NotCapable|Requires|not found|panicked/.test(serving.err()), serving.err());
  } finally {
    await provider.close();
    await Deno.remove(folder, { recursive: true });
  }
});
