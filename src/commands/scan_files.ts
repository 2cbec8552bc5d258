/**
 * `sluice dlp scan`: scans files with a DLP policy and reports each finding with its line and column. Returns
 * the text to print and the exit status. The report never contains a matched value.
 */
import type { Dlp } from "../pipeline/dlp.ts";
import { openModel } from "../dlp/model/mod.ts";
import { openRe2 } from "../dlp/re2.ts";
import { countOf, printable } from "../exchange/printable.ts";
import { type Documents, openDocuments } from "../documents/mod.ts";
import { type DryRules, dryRules, dryScanText } from "../pipeline/screening/dry_scan.ts";
import type { Tools } from "../pipeline/screening/screen.ts";
import { Slices } from "../timing/slices.ts";
import type { FileReport, ReportForm } from "./file_report.ts";
import { contentOf, Unreadable } from "./file_content.ts";
import { filesUnder } from "./find_files.ts";
import { Lines } from "./lines.ts";
import { sarif } from "./sarif.ts";

export interface ScanOutput {
  /** For standard output. */
  text: string;
  /** For standard error. */
  notes: string[];
  /**
   * 0: nothing was found. 1: something was found, or the policy refuses content that cannot be scanned. 2: a
   * file cannot be read.
   */
  status: 0 | 1 | 2;
}

/** Milliseconds within which one document must be read. */
const DOCUMENT_MS = 60_000;

export interface ScanCommand {
  files: readonly string[];
  form: ReportForm;
  /** Default: the default set of types. */
  policy?: string;
}

/** @param version of the program, for SARIF */
export async function scanFiles(
  { files, form, policy }: ScanCommand,
  settings: Pick<Dlp, "dlp" | "dlpPolicies">,
  version: string,
): Promise<ScanOutput> {
  const re2 = openRe2();
  const documents = openDocuments({ limitMs: DOCUMENT_MS });
  const model = settings.dlp.model === undefined ? null : openModel(settings.dlp.model);
  try {
    const rules = dryRules(policy, undefined, {
      dlp: settings.dlp,
      dlpPolicies: settings.dlpPolicies,
      re2,
      documents,
      model,
      secrets: [],
    });
    // Nothing else waits in this process, so a file may take long.
    const tools: Tools = {
      re2,
      model,
      slices: new Slices(),
      metrics: { holding: (_, work) => work() },
      key: "files",
      budgetMs: Infinity,
    };
    const report: FileReport = { mode: rules.check.mode, files: 0, findings: [], unscanned: [] };
    let unread = 0;
    for await (const { path, problem } of filesUnder(files)) {
      const outcome = problem === undefined
        ? await scanFile(path, report, { rules, tools, documents })
        : new Unreadable(problem);
      if (outcome instanceof Unreadable) unread++;
      else report.files++;
      const why = outcome instanceof Unreadable ? outcome.message : outcome;
      if (why !== null) report.unscanned.push({ file: path, why });
    }
    const { mode, unscannable } = rules.check;
    const refused = mode === "block" && unscannable === "block" && report.unscanned.length > 0;
    return {
      text: written(report, form, version),
      notes: [
        ...report.unscanned.map(({ file, why }) => `${printable(file)}: not scanned, ${printable(why)}`),
        ...form === "text" ? [summaryOf(report)] : [],
      ],
      status: unread > 0 ? 2 : report.findings.length > 0 || refused ? 1 : 0,
    };
  } finally {
    re2.close();
    documents.close();
    model?.close();
  }
}

interface Scanner {
  rules: DryRules;
  tools: Tools;
  documents: Documents;
}

/** Resolves with why the file, or a part of it, was not scanned; null: all of it was. */
async function scanFile(
  path: string,
  report: FileReport,
  { rules, tools, documents }: Scanner,
): Promise<string | Unreadable | null> {
  const content = await contentOf(path, documents).catch((error) => {
    if (error instanceof Unreadable) return error;
    throw error;
  });
  if (typeof content === "string" || content instanceof Unreadable) return content;
  const { text, extracted, shown, missing } = content;
  const scan = async (text: string, extracted: boolean, known: ReadonlySet<string>) => {
    const lines = new Lines(text);
    const values = new Set<string>();
    const scanned = await dryScanText(text, rules, tools);
    for (const { category, entity_type, confidence, start, end } of scanned.findings) {
      const value = `${entity_type} ${text.slice(start, end)}`;
      values.add(value);
      if (known.has(value)) continue;
      report.findings.push({
        file: path,
        ...lines.region(start, end),
        ...extracted && { extracted: true as const },
        category,
        entity_type,
        confidence,
        start,
        end,
      });
    }
    return { values, whole: scanned.unscanned === 0 };
  };
  const own = await scan(text, extracted, new Set());
  // In the rendered text, report only values that the file's own text does not contain.
  const more = shown === undefined ? own : await scan(shown, true, own.values);
  return own.whole && more.whole
    ? missing
    : "a part of it, because it holds too many findings or patterns took too long";
}

function written(report: FileReport, form: ReportForm, version: string): string {
  if (form === "sarif") return JSON.stringify(sarif(report, version), null, 2);
  if (form === "json") {
    return JSON.stringify({ ...report, findings_count: report.findings.length }, null, 2);
  }
  return report.findings.map(({ file, line, column, entity_type, category, confidence }) =>
    `${printable(file)}:${line}:${column}: ${entity_type} (${category}, confidence ${confidence.toFixed(2)})`
  ).join("\n");
}

function summaryOf({ files, findings, unscanned }: FileReport): string {
  const holders = new Set(findings.map(({ file }) => file)).size;
  const rest = unscanned.length > 0 ? `, ${unscanned.length} not scanned` : "";
  return findings.length === 0
    ? `Nothing found in ${countOf(files, "file")}${rest}.`
    : `${findings.length} found in ${holders} of ${countOf(files, "file")}${rest}.`;
}
