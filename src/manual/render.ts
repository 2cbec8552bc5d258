/**
 * One page of the manual: Markdown to HTML.
 *
 * Pages are part of the program, so their text is trusted. Headings get the anchors that repository browsers give them,
 * so that one link works in both places.
 */
import GithubSlugger from "github-slugger";
import { Marked, type Token } from "marked";

export interface Heading {
  depth: number;
  id: string;
  /** Markup of its text. */
  html: string;
}

export interface Rendered {
  html: string;
  headings: Heading[];
}

export interface Targets {
  /** The address of a link in the served manual. Null: it leads to a file that is not served, and only its text is shown. */
  link(href: string): string | null;
  /** The markup of a picture, which becomes part of the page. */
  picture(href: string): string;
}

export function render(markdown: string, targets: Targets): Rendered {
  const slugger = new GithubSlugger();
  const headings: Heading[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens);
        const id = slugger.slug(unescaped(this.parser.parseInline(tokens, this.parser.textRenderer)));
        headings.push({ depth, id, html });
        if (depth === 1) return `<h1 id="${id}">${html}</h1>\n`;
        return `<h${depth} id="${id}"><a href="#${id}">${html}</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const address = targets.link(href);
        return address === null ? text : `<a href="${escaped(address)}">${text}</a>`;
      },
      image({ href, text }) {
        return `<figure role="img" aria-label="${escaped(text)}" tabindex="0">${
          targets.picture(href)
        }</figure>`;
      },
      // A wide table scrolls by itself, also with the keyboard, and the page does not.
      table(token) {
        const plain = (tokens: Token[]) =>
          unescaped(this.parser.parseInline(tokens, this.parser.textRenderer));
        const row = (cells: typeof token.header, name: "th" | "td") =>
          `<tr>${
            cells.map((cell, i) => {
              const align = cell.align ? ` align="${cell.align}"` : "";
              // On a narrow screen each cell stands below the other, with its column's title.
              const title = plain(token.header[i].tokens);
              const told = name === "th" ? ` scope="col"` : title && ` data-title="${escaped(title)}"`;
              return `<${name}${align}${told}>${this.parser.parseInline(cell.tokens)}</${name}>`;
            }).join("")
          }</tr>\n`;
        const body = token.rows.map((cells) => row(cells, "td")).join("");
        return `<div class="wide" tabindex="0"><table>\n<thead>\n${row(token.header, "th")}</thead>\n` +
          `<tbody>\n${body}</tbody>\n</table></div>\n`;
      },
    },
  });
  return { html: marked.parse(markdown, { async: false }), headings };
}

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** The characters that marked escapes in plain text. */
function unescaped(text: string): string {
  const characters: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => characters[name]);
}
