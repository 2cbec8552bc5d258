import { assert, assertEquals, assertMatch } from "@std/assert";
import { linkFrom, pageDocument, rendered } from "../../src/manual/document.ts";
import { type Page, PAGES, PICTURES } from "../../src/manual/pages.ts";
import { GENERATED } from "../../.deploy/write_docs.ts";
import { API_NAMES } from "../../src/providers/apis/mod.ts";
import { render } from "../../src/manual/render.ts";
import { ENGINE_NAMES } from "../../src/websearch/engines/needs.ts";

const ROOT = new URL("../../", import.meta.url);
const FOLDER = new URL("src/manual/pages/", ROOT);
const README = Deno.readTextFileSync(new URL("README.md", ROOT));
const CONTRIBUTING = Deno.readTextFileSync(new URL(".github/CONTRIBUTING.md", ROOT));

/** Files below a folder, as paths from it. */
function files(folder: URL, prefix = ""): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? files(new URL(`${name}/`, folder), `${prefix}${name}/`) : [prefix + name]
  );
}

function exists(path: string | URL): boolean {
  try {
    Deno.statSync(path instanceof URL ? path : new URL(path, ROOT));
    return true;
  } catch {
    return false;
  }
}

/** Addresses of the links of a Markdown text, and the anchors of its headings. */
function read(markdown: string): { links: string[]; anchors: Set<string> } {
  const links: string[] = [];
  const { headings } = render(markdown, {
    link: (href) => {
      links.push(href);
      return href;
    },
    picture: () => "",
  });
  return { links, anchors: new Set(headings.map((h) => h.id)) };
}

const anchorsOf = (page: Page) => read(page.text).anchors;

Deno.test("every file of the pages' folder is in the list, and every page of the list has its file", () => {
  const listed = [
    ...PAGES.map((page) => `${page.name}.md`),
    ...Object.keys(PICTURES).filter((p) => !p.startsWith("..")),
  ];
  assertEquals(files(FOLDER).sort(), listed.sort());
  for (const page of PAGES) {
    assertEquals(page.text, Deno.readTextFileSync(new URL(`${page.name}.md`, FOLDER)), page.name);
  }
});

for (const page of PAGES) {
  Deno.test(`the page ${page.name} renders, under one title`, () => {
    assertMatch(page.text, /^# \S.*\n\n/);
    const { html, headings } = rendered(page);
    assertEquals(headings.filter((h) => h.depth === 1).length, 1);
    headings.reduce((above, { depth, id }) => {
      assert(depth <= above + 1, `#${id} leaves a level of headings out`);
      return depth;
    }, 0);
    assert(!/<script|\son\w+=|\sstyle=/.test(html), "the content security policy would refuse it");
    const whole = pageDocument(page);
    for (const other of PAGES) {
      assert(whole.includes(`href="/docs/${other.name}"`), `no link to ${other.name}`);
    }
    // Markdown that was not understood as such.
    assert(!/<p>\s*\||\*\*\S|\]\(\w/.test(html.replaceAll(/<(pre|code)[^]*?<\/\1>/g, "")), "unread Markdown");
  });

  Deno.test(`links of the page ${page.name} lead to a page and a heading that exist`, () => {
    for (const href of read(page.text).links) {
      if (/^https?:/.test(href)) continue;
      const address = linkFrom(page, href);
      assert(address !== null, `${href} is no page`);
      const [path, anchor] = address!.split("#");
      const target = path === "" ? page : PAGES.find((p) => `/docs/${p.name}` === path)!;
      if (anchor !== undefined) assert(anchorsOf(target).has(anchor), `${href}: no such heading`);
      // The same link in a repository browser.
      if (path !== "") {
        assert(exists(new URL(href, new URL(`${page.name}.md`, FOLDER))), `${href}: no such file`);
      }
    }
  });
}

for (const [name, text] of [["README.md", README], [".github/CONTRIBUTING.md", CONTRIBUTING]]) {
  Deno.test(`links of ${name} lead to a file and a heading that exist`, () => {
    const { links } = read(text);
    assert(links.length > 0);
    for (const href of links) {
      const target = new URL(href, new URL(name, ROOT));
      const anchor = target.hash.slice(1);
      target.hash = "";
      assert(exists(target), `${href}: no such file`);
      if (anchor) assert(read(Deno.readTextFileSync(target)).anchors.has(anchor), `${href}: no such heading`);
    }
  });
}

Deno.test("README.md has at most 150 lines, and links every page", () => {
  assert(README.split("\n").length <= 151, `${README.split("\n").length - 1} lines`);
  for (const page of PAGES) assert(README.includes(`src/manual/pages/${page.name}.md`), page.name);
});

Deno.test("the tree of README.md names the folders and files of src/, no others", () => {
  const tree = [...README.matchAll(/^[├└]── (\S+)/gm)].map(([, name]) => name);
  const actual = [...Deno.readDirSync(new URL("src/", ROOT))].map((e) =>
    e.isDirectory ? `${e.name}/` : e.name
  );
  assertEquals(tree.toSorted(), actual.toSorted());
});

Deno.test("files and folders that the manual names exist", () => {
  const missing: string[] = [];
  for (const { name, text } of [...PAGES, { name: "README", text: README }]) {
    for (const [, path] of text.matchAll(/`((?:src|tests|\.github|\.ci)\/[\w./-]*\w)`/g)) {
      // `src/providers/apis/NAME.ts` is a file to be made in a folder that exists.
      if (!exists(path.replace(/\/[^/]*NAME.*$/, ""))) missing.push(`${name}: ${path}`);
    }
  }
  assertEquals(missing, []);
});

for (const [file, page] of Object.entries(GENERATED)) {
  Deno.test(`the generated page reference/${file} is up to date; \`deno task docs\` writes it`, () => {
    assertEquals(Deno.readTextFileSync(new URL(`reference/${file}`, FOLDER)), page());
  });
}

Deno.test("the pages name every provider API and every search engine", () => {
  const text = (name: string) => PAGES.find((page) => page.name === name)!.text;
  for (const api of API_NAMES) assert(text("providers").includes(`| \`${api}\``), api);
  for (const engine of ENGINE_NAMES) assert(text("search").includes(`| \`${engine}\``), engine);
});
