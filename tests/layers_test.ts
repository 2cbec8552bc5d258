/** No import points upward or comes back by way of others, only main.ts reads the environment, and sources name packages as the import map does. */
import { assertEquals } from "@std/assert";
import { importGraph } from "./support/import_graph.ts";

const SOURCE = new URL("../src/", import.meta.url);

/** A folder may import its own and those of a lower rank. Those of one rank stand beside each other. */
const RANKS: Record<string, number> = {
  main: 10,
  assembly: 9,
  manual: 8,
  commands: 9,
  discovery: 8,
  config: 7,
  console: 6,
  http: 5,
  telemetry: 5,
  pipeline: 4,
  resume: 3,
  accounts: 3,
  models: 3,
  dlp: 3,
  websearch: 3,
  providers: 3,
  payloads: 3,
  alerts: 3,
  formats: 2,
  store: 2,
  outgoing: 2,
  transport: 1,
  documents: 1,
  exchange: 0,
  schema: 0,
  timing: 0,
  metrics: 0,
};

function* sources(directory: URL): Generator<URL> {
  for (const { name, isDirectory } of Deno.readDirSync(directory)) {
    if (isDirectory) yield* sources(new URL(`${name}/`, directory));
    else if (/\.m?[jt]s$/.test(name)) yield new URL(name, directory);
  }
}

/** The files right in src/ put the parts together: they are the top layer. */
function layer(file: URL): string {
  const [folder, ...rest] = file.href.slice(SOURCE.href.length).split("/");
  return rest.length > 0 ? folder : "main";
}

function allowed(from: string, to: string): boolean {
  return from === to || RANKS[to] < RANKS[from];
}

/** The second one only changes, for one step, what clients read that it creates. */
const READERS = new Set(["main.ts", "outgoing/client_tls.ts"]);

function faults(file: URL): string[] {
  const from = layer(file);
  const name = file.href.slice(SOURCE.href.length);
  if (RANKS[from] === undefined) return [`${name}: ${from} has no rank`];
  const text = Deno.readTextFileSync(file);
  const found: string[] = [];
  if (!READERS.has(name) && /\b(?:Deno|process)\s*\.\s*env\b/.test(text)) {
    found.push(`${name}: reads the environment`);
  }
  for (const [, specifier] of text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*["']([^"'\n]+)["']/g)) {
    if (specifier.startsWith(".")) {
      const target = new URL(specifier, file);
      const to = target.href.startsWith(SOURCE.href) ? layer(target) : "main";
      if (!allowed(from, to)) found.push(`${name}: ${from} imports ${to} (${specifier})`);
    } else if (/^(?:npm|jsr|https?|data):/.test(specifier)) {
      found.push(`${name}: ${specifier} is not in the import map`);
    }
  }
  return found;
}

Deno.test("src/ imports downward only, by the names of the import map, and only main.ts reads the environment", () => {
  assertEquals([...sources(SOURCE)].flatMap(faults), []);
});

/** The files and folders right in src/ that a text lists, in its order. */
function listed(path: string, row: RegExp): string[] {
  return [...Deno.readTextFileSync(new URL(`../${path}`, import.meta.url)).matchAll(row)].map(([, name]) =>
    name
  );
}

const LISTS: [path: string, row: RegExp][] = [
  ["README.md", /^[├└]── (\S+?)\/? +\S/gm],
  ["src/manual/pages/architecture.md", /^\| `src\/(\S+)`/gm],
];

for (const [path, row] of LISTS) {
  Deno.test(`${path} lists all of src/, each above what it imports`, () => {
    const names = listed(path, row);
    assertEquals(names.toSorted(), [...Deno.readDirSync(SOURCE)].map(({ name }) => name).sort());
    const ranks = names.map((name) => RANKS[name] ?? RANKS.main);
    assertEquals(ranks, ranks.toSorted((a, b) => b - a), names.join());
  });
}

/** Groups of files that reach each other (Tarjan's strongly connected components), those of one file only by an own loop. */
function circles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  function visit(file: string): void {
    index.set(file, index.size);
    low.set(file, index.get(file)!);
    stack.push(file);
    for (const target of imports.get(file) ?? []) {
      if (!index.has(target)) visit(target);
      if (stack.includes(target)) low.set(file, Math.min(low.get(file)!, low.get(target)!));
    }
    if (low.get(file) !== index.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1 || imports.get(file)?.includes(file)) found.push(group.sort());
  }
  for (const file of imports.keys()) if (!index.has(file)) visit(file);
  return found;
}

Deno.test("circles() finds what reaches itself, and nothing else", () => {
  const imports = new Map([["a", ["b", "d"]], ["b", ["c"]], ["c", ["a"]], ["d", ["e"]], ["e", []], ["f", [
    "f",
  ]]]);
  assertEquals(circles(imports), [["a", "b", "c"], ["f"]]);
});

// Imports of types count: files whose types need each other are one thing, or wrongly cut.
Deno.test("no file of src/ imports itself by way of others", () => {
  assertEquals(circles(importGraph()), []);
});
