/** Markdown tables of the generated pages. */

/** A table; cells are Markdown. */
export function markdownTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(titles), line(titles.map(() => "---")), ...rows.map(line)].join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

export function code(text: string): string {
  return `\`${text}\``;
}

/** The first lines of a generated page. */
export function head(title: string, source: string, text: string): string {
  return `# ${title}\n\n<!-- Written by \`deno task docs\` from ${source}. -->\n\n${text}`;
}
