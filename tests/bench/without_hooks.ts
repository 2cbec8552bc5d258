/**
 * The program without the places where calls are told to telemetry, to see what they cost while it is off. Made of the sources
 * as they stand: each change says what it expects there, so that it cannot measure something else one day.
 */

const ROOT = new URL("../../", import.meta.url);

/** Statements that tell a call's telemetry something. */
const TOLD = /^ *(?:[\w.#]+\.)?followed\?\.\w+\([^;]*\);\n/gm;
const NONE = "const followed = null;";

const CHANGES: Readonly<Record<string, readonly (readonly [RegExp, string])[]>> = {
  "src/http/generation.ts": [[/const followed = telemetry === null[^;]*;/, NONE], [TOLD, ""]],
  "src/pipeline/generation/delivery.ts": [[TOLD, ""]],
  "src/pipeline/generation/generate.ts": [[TOLD, ""]],
  "src/pipeline/guard.ts": [[/const followed = steps\.follow\([^;]*;/, NONE], [TOLD, ""]],
  "src/pipeline/meter.ts": [[TOLD, ""], [/^ *if \(steps\.followed !== null\) end\.trace [^\n]*\n/m, ""]],
  "src/pipeline/run.ts": [[/const followed = arrival\.steps\.follow\([^;]*;/, NONE], [TOLD, ""]],
  "src/pipeline/steps.ts": [[TOLD, ""], [/this\.followed === null \? null : [^;]*;/g, "null;"]],
  "src/providers/try_route.ts": [
    [/const followed = watch\?\.begin\([^;]*;/, NONE],
    [/\.\.\.followed\?\.context\(\) \?\? /, "..."],
    [
      /return followed === null\s*\? exchange\(upstream, route, asking\)[^;]*;/,
      "return exchange(upstream, route, asking);",
    ],
    [/this\.heard\.measured \|\| followed !== null/, "this.heard.measured"],
    [TOLD, ""],
  ],
};

/** @param folder an empty one, which becomes the root of such a program */
export async function withoutHooks(folder: string): Promise<void> {
  await copy(new URL("src/", ROOT), `${folder}/src`);
  for (const name of ["deno.json", "deno.lock"]) {
    await Deno.copyFile(new URL(name, ROOT), `${folder}/${name}`);
  }
  for (const [path, changes] of Object.entries(CHANGES)) {
    let text = await Deno.readTextFile(`${folder}/${path}`);
    for (const [what, by] of changes) {
      if (text.search(what) < 0) {
        throw new Error(`${path} has nothing that is like ${what}: change without_hooks.ts`);
      }
      text = text.replace(what, by);
    }
    await Deno.writeTextFile(`${folder}/${path}`, text);
  }
}

async function copy(from: URL, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copy(new URL(`${name}/`, from), `${to}/${name}`);
    else await Deno.copyFile(new URL(name, from), `${to}/${name}`);
  }
}
