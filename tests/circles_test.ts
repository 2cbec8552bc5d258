/** No file of src/ imports itself by way of others. Imports of types count: what needs each other is one thing or wrongly cut. */
import { assertEquals } from "@std/assert";
import { importGraph } from "./support/import_graph.ts";

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

Deno.test("no file of src/ imports itself by way of others", () => {
  assertEquals(circles(importGraph()), []);
});
