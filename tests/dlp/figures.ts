/**
 * The figures of the manual's page on data-loss prevention, as Markdown:
 *
 *     deno run -A tests/dlp/figures.ts [FOLDER] [--types] [--others]
 *
 * FOLDER holds the labelled rows (`dev.jsonl.gz`, `evasion.jsonl.gz`, `aliases.json`; by default `../shared/dlp`). `--types`
 * adds a line for each type. `--others` runs Presidio, gitleaks and detect-secrets on the same rows, those that are installed.
 */
import process from "node:process";
import { DEFAULT_TYPES, resolveEntityTypes } from "../../src/dlp/entities.ts";
import { RECOGNIZERS } from "../../src/dlp/recognizers/list.ts";
import { detector } from "../../src/dlp/scan.ts";
import { KINDS } from "./figures_kinds.ts";
import { others } from "./figures_others.ts";

export interface Row {
  entity_type: string;
  group: string;
  canonical?: string;
  text: string;
  spans: [number, number][] | null;
  count?: number;
  expect: "match" | "no_match";
  strength: string;
  variant: string;
}

/** What a scanner reports; the type is one of ours. */
export interface Report {
  type: string;
  start: number;
  end: number;
}

interface Aliases {
  core: string[];
  accept: Record<string, string[]>;
  request: Record<string, string>;
  secret_family: string[];
}

interface Tally {
  right: number;
  wrong: number;
  missed: number;
}

const EVERY = new Set(RECOGNIZERS.map(({ type }) => type));

async function rowsOf(path: string): Promise<Row[]> {
  const file = await Deno.open(path);
  const text = await new Response(file.readable.pipeThrough(new DecompressionStream("gzip"))).text();
  return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

const keyOf = (row: Row) => row.group === "SECRET" ? "SECRET" : row.entity_type;

function wantedBy(row: Row, aliases: Aliases): ReadonlySet<string> {
  return resolveEntityTypes([
    row.group === "SECRET" ? "SECRET" : aliases.request[row.entity_type] ?? row.entity_type,
  ])
    .types;
}

function accepted(row: Row, aliases: Aliases): ReadonlySet<string> {
  const named = row.group === "SECRET"
    ? ["SECRET", row.entity_type, row.canonical ?? "", ...aliases.secret_family]
    : [row.entity_type, ...aliases.accept[row.entity_type] ?? []];
  return new Set([...named, ...wantedBy(row, aliases)]);
}

/** Half of the value must be covered, and half of what is reported must be the value. */
function hits([from, to]: [number, number], { start, end }: Report): boolean {
  const common = Math.min(to, end) - Math.max(from, start);
  return common > 0 && common >= (to - from) / 2 && common >= (end - start) / 2;
}

export function score(
  rows: readonly Row[],
  aliases: Aliases,
  find: (row: Row) => readonly Report[],
): Map<string, Tally> {
  const tallies = new Map<string, Tally>();
  for (const row of rows) {
    const tally = tallies.get(keyOf(row)) ?? { right: 0, wrong: 0, missed: 0 };
    tallies.set(keyOf(row), tally);
    const types = accepted(row, aliases);
    const found = find(row).filter(({ type }) => types.has(type));
    if (row.expect === "no_match") tally.wrong += found.length;
    else if (row.spans) {
      for (const span of row.spans) found.some((one) => hits(span, one)) ? tally.right++ : tally.missed++;
      // Of a secret's row only one is marked; others in it are no mistakes.
      if (row.group === "SECRET") continue;
      tally.wrong += found.filter(({ start, end }) =>
        !row.spans!.some(([from, to]) => start < to && from < end)
      ).length;
    } else found.length > 0 ? tally.right++ : tally.missed++;
  }
  return tallies;
}

function f1({ right, wrong, missed }: Tally): number {
  return right === 0 ? 0 : 2 * right / (2 * right + wrong + missed);
}

export function line(name: string, tallies: ReadonlyMap<string, Tally>): string {
  const sum = { right: 0, wrong: 0, missed: 0 };
  for (const { right, wrong, missed } of tallies.values()) {
    sum.right += right;
    sum.wrong += wrong;
    sum.missed += missed;
  }
  const held = [...tallies.values()].filter(({ right, missed }) => right + missed > 0);
  const macro = held.reduce((total, tally) => total + f1(tally), 0) / held.length;
  const shown = [sum.right / (sum.right + sum.wrong), sum.right / (sum.right + sum.missed), f1(sum), macro];
  return `| ${name} | ${shown.map((figure) => (figure || 0).toFixed(3)).join(" | ")} |`;
}

function ours(types: ReadonlySet<string>): (row: Row) => Report[] {
  const { scan } = detector(types);
  return ({ text }) => scan(text).map(({ entityType, start, end }) => ({ type: entityType, start, end }));
}

/** The first of them compile. */
const SCANS = 30;

function speeds(): string[] {
  const lines: string[] = [];
  let findings = 0;
  let units = 0;
  for (const { name, text } of KINDS) {
    const best = [DEFAULT_TYPES, EVERY].map((types) => {
      const { scan } = detector(types);
      scan(text);
      let fastest = Infinity;
      for (let i = 0; i < SCANS; i++) {
        const since = process.cpuUsage();
        scan(text);
        const { user, system } = process.cpuUsage(since);
        fastest = Math.min(fastest, user + system);
      }
      return (text.length / fastest).toFixed(1);
    });
    findings += detector(DEFAULT_TYPES).scan(text).length;
    units += text.length;
    lines.push(`| ${name} | ${best.join(" | ")} |`);
  }
  lines.push("", `${findings} findings in ${(units / 1e6).toFixed(1)} million characters of generated data.`);
  return lines;
}

if (import.meta.main) {
  const folder = Deno.args.find((arg) => !arg.startsWith("--")) ??
    new URL("../../../shared/dlp", import.meta.url).pathname;
  const aliases: Aliases = JSON.parse(await Deno.readTextFile(`${folder}/aliases.json`));
  const core = new Set(aliases.core);
  const strong = (rows: Row[]) => rows.filter((row) => row.strength !== "weak" && row.strength !== "encoded");
  const rows = strong(await rowsOf(`${folder}/dev.jsonl.gz`)).filter((row) => core.has(keyOf(row)));
  const evaded = strong(await rowsOf(`${folder}/evasion.jsonl.gz`));
  const byDefault = rows.filter((row) => !wantedBy(row, aliases).isDisjointFrom(DEFAULT_TYPES));
  const each = (row: Row) => ours(wantedBy(row, aliases))(row);
  const all = score(rows, aliases, ours(EVERY));
  console.log("| Rows | precision | recall | micro F1 | macro F1 |\n| --- | --: | --: | --: | --: |");
  console.log(line("all types at once", all));
  console.log(line("default set at once", score(byDefault, aliases, ours(DEFAULT_TYPES))));
  console.log(line("one type at a time", score(rows, aliases, each)));
  console.log(line("disguised and encoded, all types at once", score(evaded, aliases, ours(EVERY))));
  console.log(line("disguised and encoded, one at a time", score(evaded, aliases, each)));
  if (Deno.args.includes("--others")) {
    for await (const { name, find } of others(rows)) console.log(line(name, score(rows, aliases, find)));
  }
  if (Deno.args.includes("--types")) {
    const alone = score(rows, aliases, each);
    console.log("\n| Type | all at once: F1 | alone: F1 | rows |\n| --- | --: | --: | --: |");
    for (const [type, tally] of [...all].sort(([a], [b]) => a < b ? -1 : 1)) {
      const count = rows.filter((row) => keyOf(row) === type).length;
      console.log(`| ${type} | ${f1(tally).toFixed(3)} | ${f1(alone.get(type)!).toFixed(3)} | ${count} |`);
    }
  }
  console.log("\n| Text | default set, MB a CPU second | all types |\n| --- | --: | --: |");
  console.log(speeds().join("\n"));
}
