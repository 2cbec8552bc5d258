/** The versions of packages in the manual are those that the tests run. */
import { assertEquals, assertNotEquals } from "@std/assert";
import manifest from "../../deno.json" with { type: "json" };

const PAGE = new URL("../../src/manual/pages/clients.md", import.meta.url);

Deno.test("the page on clients has the versions of the packages that the tests import", () => {
  const imports: Readonly<Record<string, string>> = manifest.scopes["./tests/"];
  const [, section] = Deno.readTextFileSync(PAGE).split("\n## Packages that the tests run\n");
  const rows = section.split("\n## ")[0].split("\n").filter((line) => line.startsWith("| `"));
  const listed = rows.flatMap((row) => {
    const [, names, versions] = row.split("|");
    const numbers = versions.trim().split(", ");
    return names.split(" with ").map((name, i) => [name.replaceAll("`", "").trim(), numbers[i]]);
  });
  assertNotEquals(listed, []);
  const imported = listed.map(([name]) => [name, imports[name]?.replace(/^.*@/, "")]);
  assertEquals(listed, imported);
});
