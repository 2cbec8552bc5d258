import { assert, assertEquals } from "@std/assert";
import { render } from "../../src/manual/render.ts";
import { allowed } from "../../src/manual/reference/configuration.ts";
import { markdownTable } from "../../src/manual/reference/markdown.ts";

const TARGETS = { link: (href: string) => href, picture: () => "<svg></svg>" };

Deno.test("render() gives headings the anchors of repository browsers", () => {
  const { headings } = render("# One `a.b` & two\n\n## Same\n\n## Same\n\n### `keys[]`\n", TARGETS);
  assertEquals(headings.map((h) => h.id), ["one-ab--two", "same", "same-1", "keys"]);
});

Deno.test("render() shows a link to a file that is not served as its text", () => {
  const { html } = render("[the source](../x.ts) and [a page](b.md)", {
    ...TARGETS,
    link: (href) => href === "b.md" ? "/docs/b" : null,
  });
  assertEquals(html, '<p>the source and <a href="/docs/b">a page</a></p>\n');
});

Deno.test("render() tells each cell its column, and escapes what stands in attributes", () => {
  const { html } = render('| a | "b" `c` |\n| --- | ---: |\n| 1 | 2 |\n', TARGETS);
  assert(html.includes('<td data-title="a">1</td>'));
  assert(html.includes('<td align="right" data-title="&#34;b&#34; c">2</td>'), html);
});

Deno.test("markdownTable() keeps a cell in its column", () => {
  assertEquals(markdownTable(["a"], [["x | y\nz"]]), "| a |\n| --- |\n| x \\| y z |");
});

Deno.test("allowed() words what a field may hold", () => {
  assertEquals(allowed({ type: "integer", minimum: 1, maximum: 2000 }), "whole number, 1 to 2,000");
  assertEquals(allowed({ type: "number", exclusiveMinimum: 0 }), "number above 0");
  assertEquals(allowed({ anyOf: [{ type: "string" }, { type: "null" }] }), "string or `null`");
  assertEquals(allowed({ type: ["string", "null"] }), "string or `null`");
  assertEquals(
    allowed({ anyOf: [{ type: "string", title: "a name, short" }, { type: "null" }] }),
    "a name, short; or `null`",
  );
  assertEquals(
    allowed({ type: "array", title: "a list of names", items: { type: "string" } }),
    "a list of names",
  );
  assertEquals(
    allowed({ type: "array", title: "a list of letters", items: { enum: ["a", "b"], type: "string" } }),
    "list of `a`, `b`",
  );
});

Deno.test("allowed() shows a small bound as it is", () => {
  const weight = { type: "number", minimum: 1e-6, maximum: 1e6 };
  assertEquals(allowed(weight), "number, 0.000001 to 1,000,000");
});
