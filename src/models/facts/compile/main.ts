/**
 * Writes `table.json`, the table of known models and prices, from models.dev and the price package.
 *
 * deno task catalog ../shared/catalog/models-dev.json
 *
 * The output is deterministic.
 */
import { compile } from "./merge.ts";
import type { Table } from "../row.ts";

/** One model per line, so that diffs are readable. */
export function tableText({ sources, presets }: Table): string {
  const texts = Object.entries(presets).map(([name, rows]) =>
    `${JSON.stringify(name)}: ${JSON.stringify(rows.map((row) => JSON.stringify(row)), null, 1)}`
  );
  return `{"sources": ${JSON.stringify(sources)}, "presets": {\n${texts.join(",\n")}\n}}\n`;
}

if (import.meta.main) {
  const [facts = "../shared/catalog/models-dev.json"] = Deno.args;
  const today = new Date().toISOString().slice(0, 10);
  const { table, disagreements } = compile(JSON.parse(await Deno.readTextFile(facts)), today);
  const text = tableText(table);
  await Deno.writeTextFile(new URL("../table.json", import.meta.url), text);
  const count = Object.values(table.presets).reduce((sum, rows) => sum + rows.length, 0);
  console.log(
    `wrote ${count} models, ${text.length} bytes; the sources disagree on ${disagreements.length} prices`,
  );
}
