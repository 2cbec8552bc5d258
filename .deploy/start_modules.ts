/**
 * Writes `src/start_modules.ts`, the list of all that a start loads: `deno task start-modules`.
 *
 * Deno reads and keeps the source map of each module that is the first to ask for another, to know the place of that import. Where
 * one module asks for all, it is the only one: a start executes 8 % less and takes 4 MB less.
 */
const SOURCE = new URL("../src/", import.meta.url);
const WIDTH = 110;

export const LIST = "start_modules.ts";

/** Imports that are followed at once: not those of types, and not `import()`. */
function imports(text: string): string[] {
  const statements = text.matchAll(
    /^(?:import|export)(?!\s+type\b)\s*(?:[^"';]*?\bfrom\s*)?["']([^"'\n]+)["'](?! with)/gm,
  );
  return [...statements].filter(([whole]) =>
    !/^(?:import|export)\s*\{(?:\s*type\s[^,}]*,?)*\s*\}/.test(whole)
  )
    .map(([, specifier]) => specifier);
}

export interface StartModules {
  /** Relative to src/. */
  files: string[];
  packages: string[];
}

/** What a start loads for other reasons than that it is listed. */
export function startModules(): StartModules {
  const seen = new Set<string>();
  const files = new Set<string>();
  const packages = new Set<string>();
  const take = (file: URL) => {
    const name = file.href.slice(SOURCE.href.length);
    if (seen.has(name) || name === LIST) return;
    seen.add(name);
    for (const specifier of imports(Deno.readTextFileSync(file))) {
      if (specifier.startsWith(".")) take(new URL(specifier, file));
      else packages.add(specifier);
    }
    files.add(name);
  };
  take(new URL("main.ts", SOURCE));
  files.delete("main.ts");
  return { files: [...files], packages: [...packages] };
}

/** What the list names. */
export function listed(): StartModules {
  const names = imports(Deno.readTextFileSync(new URL(LIST, SOURCE)).replaceAll("; import", ";\nimport"));
  return {
    files: names.filter((name) => name.startsWith("./")).map((name) => name.slice(2)),
    packages: names.filter((name) => !name.startsWith("./")),
  };
}

function listText({ files, packages }: StartModules): string {
  const lines = ["// Made by `deno task start-modules`: all that a start loads, asked for by one module."];
  let line = "";
  let folder = "";
  for (const name of [...packages.sort(), ...files.map((name) => `./${name}`).sort()]) {
    const statement = `import "${name}";`;
    // Each folder begins a line, so that changes in two of them do not meet.
    const before = folder;
    folder = name.replace(/[^/]*$/, "");
    if (line !== "" && (folder !== before || line.length + 1 + statement.length > WIDTH)) {
      lines.push(line);
      line = "";
    }
    line += (line === "" ? "" : " ") + statement;
  }
  return [...lines, line, ""].join("\n");
}

if (import.meta.main) await Deno.writeTextFile(new URL(LIST, SOURCE), listText(startModules()));
