/** The start commands, with the permissions that they give: they suffice, and no more is allowed. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import manifest from "../deno.json" with { type: "json" };

const ROOT = new URL("../", import.meta.url).pathname;

/** Runs Deno with these arguments until it has said so, or has ended; then ends it. */
async function started(args: string[], cwd: string, env: Record<string, string>, until: RegExp) {
  const child = new Deno.Command(Deno.execPath(), {
    args,
    cwd,
    env: {
      SLUICE_CONFIG: "",
      SLUICE_STORE: "",
      DATABASE_URL: "",
      SLUICE_ADMIN_KEY: "",
      PORT: "",
      NO_COLOR: "1",
      ...env,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let out = "";
  let err = "";
  const errors = (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) err += text;
  })();
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    out += text;
    if (until.test(out)) break;
  }
  try {
    child.kill("SIGTERM");
  } catch {
    // It has ended.
  }
  const { code } = await child.status;
  await errors;
  return { out, err, code };
}

/** The arguments of a command, without the program and with this folder's own paths. */
function argumentsOf(command: readonly string[], replaced: Record<string, string>): string[] {
  return command.slice(1).map((word) =>
    Object.entries(replaced).reduce((text, [from, to]) => text.replaceAll(from, to), word)
  );
}

async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("`deno task start` gives what demo mode needs, and no foreign code", () =>
  inFolder(async (folder) => {
    const command = manifest.tasks.start.command;
    assert(!/ -A\b|--allow-all|--allow-ffi/.test(command));
    const words = command.split(" ");
    const variables = words.slice(0, words.indexOf("deno")).map((word) => word.split("="));
    const args = argumentsOf(words.slice(variables.length), {
      "=.deno/": `=${ROOT}.deno/`,
      "src/main.ts": `${ROOT}src/main.ts`,
    });
    args.splice(1, 0, `--config=${ROOT}deno.json`);
    const env = Object.fromEntries(variables);
    const { out } = await started([...args, "--port", "0"], folder, env, /\/v1\/responses/);
    assertMatch(out, /sluice listening on http:\/\/127\.0\.0\.1:\d+\n[^]*sk_live_/);
  }));

Deno.test("the image's command serves a configuration, writes its data only, and reads nothing else", () =>
  inFolder(async (folder) => {
    const dockerfile = await Deno.readTextFile(`${ROOT}Dockerfile`);
    const entry: string[] = JSON.parse(/^ENTRYPOINT (\[.*\])$/m.exec(dockerfile)![1]);
    assert(!entry.includes("-A"));
    await Deno.mkdir(`${folder}/data`);
    // In the image everything is below /app.
    const args = argumentsOf(entry, {
      "/app/data": `${folder}/data`,
      "=/app,": `=${folder}/data,${folder}/sluice.jsonc,${ROOT}src,${ROOT}deno.json,`,
      "=.deno/": `=${ROOT}.deno/`,
      "--cached-only": "--no-check",
      "src/main.ts": `${ROOT}src/main.ts`,
    });
    args.splice(1, 0, `--config=${ROOT}deno.json`);
    const config = (store: string) =>
      JSON.stringify({
        providers: { demo: { api: "demo" } },
        models: [{ id: "demo/small", routes: [{ provider: "demo", model: "small" }] }],
        store: { url: `sqlite:${store}` },
        server: { port: 0 },
      });
    const run = (config: string) =>
      started([...args, "serve"], folder, { SLUICE_CONFIG: config }, /listening/);
    await Deno.writeTextFile(`${folder}/sluice.jsonc`, config(`${folder}/data/sluice.db`));
    const good = await run(`${folder}/sluice.jsonc`);
    assertMatch(good.out, /listening/, good.err);

    await Deno.writeTextFile(`${folder}/other.jsonc`, config(`${folder}/data/sluice.db`));
    const unread = await run(`${folder}/other.jsonc`);
    assertEquals([unread.code, unread.out], [2, ""]);
    assertMatch(unread.err, /Requires read access/);
    const unwritten = await run(config(`${folder}/elsewhere.db`));
    assertEquals(unwritten.out, "");
    assert(unwritten.code !== 0);
    assert(!await Deno.stat(`${folder}/elsewhere.db`).catch(() => null));
  }));
