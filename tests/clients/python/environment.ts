/** The Python clients in an environment of their own, under a cache directory, installed on first use. */

const REQUIREMENTS = new URL("./requirements.txt", import.meta.url);
/** An installation takes half a minute; where the index does not answer, nobody waits longer. */
const INSTALL_MS = 300_000;

/** The interpreter; null where it cannot be had, and why on the console. */
export async function python(): Promise<string | null> {
  if (Deno.env.get("SLUICE_PYTHON_CLIENTS") === "skip") return null;
  const home = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME") ?? Deno.cwd()}/.cache`;
  const folder = `${home}/sluice-tests-py`;
  const wanted = await digest(await Deno.readTextFile(REQUIREMENTS));
  const pointer = `${folder}/${wanted}`;
  try {
    const executable = (await Deno.readTextFile(pointer)).trim();
    await Deno.stat(executable);
    return executable;
  } catch {
    // Not installed yet.
  }
  try {
    return await install(folder, pointer);
  } catch (thrown) {
    console.log(`The Python clients are not tested: ${thrown instanceof Error ? thrown.message : thrown}`);
    return null;
  }
}

/** Each process makes one of its own; the pointer is written when it is whole, so nobody takes a half of one. */
async function install(folder: string, pointer: string): Promise<string> {
  const place = `${pointer}.${Deno.pid}`;
  const deadline = AbortSignal.timeout(INSTALL_MS);
  await Deno.mkdir(folder, { recursive: true });

  await run("python3", ["-m", "venv", "--clear", place], deadline);
  const pip = [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--disable-pip-version-check",
    "--retries",
    "1",
    "--timeout",
    "15",
  ];
  const interpreter = `${place}/bin/python`;
  await run(interpreter, [...pip, "uv==0.13.9"], deadline);
  await run(`${place}/bin/uv`, [
    "pip",
    "install",
    "--quiet",
    "--python",
    interpreter,
    "-r",
    REQUIREMENTS.pathname,
  ], deadline);
  await Deno.writeTextFile(`${place}/pointer`, interpreter);
  await Deno.rename(`${place}/pointer`, pointer);
  return interpreter;
}

async function run(program: string, args: readonly string[], signal: AbortSignal): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args: [...args], signal, stdin: "null" })
    .output();
  if (signal.aborted) throw new Error(`${program} took longer than ${INSTALL_MS / 1000} seconds`);
  if (!success) {
    throw new Error(`${program} failed: ${new TextDecoder().decode(stderr).trim().split("\n").at(-1)}`);
  }
}

async function digest(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return [...bytes.subarray(0, 8)].map((b) => b.toString(16).padStart(2, "0")).join("");
}
