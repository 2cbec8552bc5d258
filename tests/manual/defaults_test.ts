/** Figures that stand in brackets behind a field of the configuration are its default. */
import { assert, assertEquals } from "@std/assert";
import { configJsonSchema } from "../../src/config/schema.ts";
import { PAGES } from "../../src/manual/pages.ts";

type Node = { properties?: Record<string, Node>; anyOf?: Node[]; default?: unknown };

/** What the schema says of a field; undefined: it has none of that name. */
function fieldNamed(path: readonly string[], node = configJsonSchema() as Node): Node | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return node;
  for (const one of [node, ...node.anyOf ?? []]) {
    const inner = one.properties?.[name];
    const found = inner && fieldNamed(rest, inner);
    if (found !== undefined) return found;
  }
}

Deno.test("a figure behind the name of a field is the field's default", () => {
  let figures = 0;
  for (const { name, text } of PAGES.filter((page) => page.name !== "changelog")) {
    const plain = text.replaceAll(/\s+/g, " ");
    for (
      const [whole, field, figure] of plain.matchAll(/`([a-z_]+(?:\.[a-z_]+)+)` \(([\d,.]*\d)\b[^)]*\)/g)
    ) {
      const found = fieldNamed(field.split("."));
      assert(found !== undefined, `${name}: ${whole}: there is no such field`);
      assertEquals(found?.default, Number(figure.replaceAll(",", "")), `${name}: ${whole}`);
      figures++;
    }
  }
  assert(figures >= 8, `${figures}`);
});
