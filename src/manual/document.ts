/**
 * Renders a page as a complete HTML document: navigation, table of contents, text, links to the previous and
 * next page.
 */
import { ROOT } from "./paths.ts";
import { type Page, PAGES, PICTURES, titleOf } from "./pages.ts";
import { escaped, type Heading, render, type Rendered } from "./render.ts";

export function pageDocument(page: Page): string {
  const at = PAGES.indexOf(page);
  const { html, headings } = rendered(page);
  return wrap(titleOf(page), page, `${withOutline(html, headings)}${neighbours(at)}`);
}

export function missingDocument(): string {
  return wrap("Not found", undefined, `<h1>Not found</h1><p>The manual has no such page.</p>`);
}

export function rendered(page: Page): Rendered {
  return render(page.text, {
    link: (href) => linkFrom(page, href),
    picture(href) {
      const picture = PICTURES[href];
      if (picture === undefined) throw new Error(`${page.name}: picture ${href} is not in the list`);
      return picture.replace(/^<\?xml[^>]*>\s*/, "");
    },
  });
}

/**
 * The target of a link on a page: `clients.md#codex` becomes the address of that page, a URL stays, and a
 * source file has no target (null).
 */
export function linkFrom(page: Page, href: string): string | null {
  if (/^(?:https?:|#)/.test(href)) return href;
  const target = new URL(href, `file:///pages/${page.name}.md`);
  const name = /^\/pages\/(.+)\.md$/.exec(target.pathname)?.[1];
  return PAGES.some((p) => p.name === name) ? `${ROOT}/${name}${target.hash}` : null;
}

function withOutline(html: string, headings: readonly Heading[]): string {
  const sections = headings.filter((h) => h.depth === 2);
  if (sections.length < 3) return html;
  const items = sections.map((h) => `<li><a href="#${h.id}">${h.html}</a></li>`).join("");
  const end = html.indexOf("</h1>") + "</h1>".length;
  const outline = `<details class="outline"><summary>On this page</summary><ul>${items}</ul></details>`;
  return html.slice(0, end) + outline + html.slice(end);
}

function navigation(current: Page | undefined): string {
  const groups = Object.entries(Object.groupBy(PAGES, (page) => page.group));
  return groups.map(([name, pages]) => {
    const items = pages!.map((page) => {
      const here = page === current ? ` aria-current="page"` : "";
      return `<li><a href="${ROOT}/${page.name}"${here}>${escaped(titleOf(page))}</a></li>`;
    });
    return `<h2>${escaped(name)}</h2><ul>${items.join("")}</ul>`;
  }).join("");
}

function neighbours(at: number): string {
  const link = (page: Page | undefined, rel: string, arrow: (title: string) => string) =>
    page
      ? `<a rel="${rel}" href="${ROOT}/${page.name}">${arrow(escaped(titleOf(page)))}</a>`
      : "<span></span>";
  return `<p class="neighbours">${link(PAGES[at - 1], "prev", (title) => `← ${title}`)}` +
    `${link(PAGES[at + 1], "next", (title) => `${title} →`)}</p>`;
}

function wrap(title: string, current: Page | undefined, main: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} · Sluice manual</title>
<link rel="stylesheet" href="${ROOT}/style.css">
<link rel="icon" href="data:,">
</head>
<body>
<header><a href="${ROOT}">Sluice manual</a><a class="jump" href="#pages">All pages</a></header>
<main>
${main}
</main>
<nav id="pages" aria-label="Pages">${navigation(current)}</nav>
</body>
</html>
`;
}
