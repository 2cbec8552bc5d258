/**
 * `deno task test-deploy [FILE…]`: tests of what callers are promised over HTTP, with gateways in the shape of an instance of Deno
 * Deploy: `Deno.serve` alone, PostgreSQL, no thread and no program. Official clients ask for facts of the machine, and tests read
 * sources and keep files of their own; that the gateway does not, the instances of `deploy_test.ts` show.
 */
import { makeCluster } from "../support/cluster.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const ROOMS = ["http", "websearch", "clients", "openapi", "console", "scenarios_test.ts"];
/** Tests that need more than that for themselves: connections of bytes, files, programs. */
const OWN_NEEDS =
  /\bDeno\.(?:listen|listenTls|connect|Command|makeTemp\w*|execPath)\b|\bcuttingProxy\(|support\/(?:cluster|browser)\.ts|searxHere/;
function* testsIn(path: string): Generator<string> {
  if (path.endsWith("_test.ts")) yield path;
  else if (!path.endsWith(".ts")) {
    for (const { name, isDirectory } of Deno.readDirSync(ROOT + path)) {
      if (isDirectory || name.endsWith("_test.ts")) yield* testsIn(`${path}/${name}`);
    }
  }
}

/** Files of tests that an instance has all that they need for. */
export function roomsOfDeploy(): string[] {
  return ROOMS.flatMap((room) => [...testsIn(`tests/${room}`)]).filter((path) => {
    const text = Deno.readTextFileSync(ROOT + path);
    // Those that know of the shape leave out by themselves what it has not.
    return text.includes("deploy_shape.ts") || !OWN_NEEDS.test(text);
  });
}

/** Runs them; resolves with what the runner prints, and its exit status. */
export async function runOnDeploy(files: readonly string[]): Promise<{ code: number; text: string }> {
  const cluster = await makeCluster();
  try {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...[
          "test",
          "--frozen",
          `--lock=${ROOT}deno.lock`,
          "--no-check",
          "--parallel",
          "--no-prompt",
          "--allow-net",
          "--allow-env",
          "--allow-sys",
        ],
        ...["--allow-read", `--allow-write=${await temporary()}`, `--preload=${ROOT}tests/deploy/shape.ts`],
        ...files,
      ],
      cwd: ROOT,
      env: { SLUICE_TEST_SHAPE: cluster.url, NO_COLOR: "1" },
    }).output();
    const decoder = new TextDecoder();
    return { code, text: decoder.decode(stdout) + decoder.decode(stderr) };
  } finally {
    await cluster.remove();
  }
}

/** Where tests keep files of their own. */
async function temporary(): Promise<string> {
  const file = await Deno.makeTempFile();
  await Deno.remove(file);
  return file.slice(0, file.lastIndexOf("/"));
}

if (import.meta.main) {
  const { code, text } = await runOnDeploy(Deno.args.length > 0 ? Deno.args : roomsOfDeploy());
  console.log(text);
  Deno.exit(code);
}
