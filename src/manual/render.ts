/**
 * Renders a page of the manual from Markdown to HTML.
 *
 * Pages are part of the program, so their text is trusted. Headings get the same anchors as in repository
 * browsers, so that a link works in both.
 */
import GithubSlugger from "github-slugger";
import { Marked, type Token } from "marked";

export interface Heading {
  depth: number;
  id: string;
  /** The HTML of its text. */
  html: string;
}

export interface Rendered {
  html: string;
  headings: Heading[];
}

export interface Targets {
  /**
   * The address of a link in the served manual. Null: the target is not served, and only the text of the link
   * is shown.
   */
  link(href: string): string | null;
  /** The markup of a picture, which is inlined in the page. */
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
      // A block that scrolls sideways can be scrolled by the keyboard, too.
      code({ text, lang }) {
        const language = lang ? ` class="language-${escaped(lang)}"` : "";
        return `<pre tabindex="0"><code${language}>${escaped(text)}\n</code></pre>\n`;
      },
      // A wide table gets its own scroll area, which the keyboard can scroll too.
      table(token) {
        const plain = (tokens: Token[]) =>
          unescaped(this.parser.parseInline(tokens, this.parser.textRenderer));
        const row = (cells: typeof token.header, name: "th" | "td") =>
          `<tr>${
            cells.map((cell, i) => {
              const align = cell.align ? ` align="${cell.align}"` : "";
              // On a narrow screen cells are shown below each other, each with the title of its column.
              const title = plain(token.header[i].tokens);
              // Above a column of names there may be no title, and an empty header cell would be read as one.
              if (name === "th" && title === "") return "<td></td>";
              const attribute = name === "th" ? ` scope="col"` : title && ` data-title="${escaped(title)}"`;
              return `<${name}${align}${attribute}>${this.parser.parseInline(cell.tokens)}</${name}>`;
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

/** Reverses marked's escaping of plain text. */
function unescaped(text: string): string {
  const characters: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => characters[name]);
}
