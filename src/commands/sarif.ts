/** Findings as SARIF 2.1.0, which code hosts and editors show at the lines concerned. */
import { STDIN } from "./find_files.ts";
import type { FileFinding, FileReport, UnscannedFile } from "./file_report.ts";

const SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/** @param version of the program */
export function sarif({ findings, unscanned, mode }: FileReport, version: string): unknown {
  const ids = [...new Set(findings.map(({ entity_type }) => entity_type))].sort();
  const level = mode === "alert" ? "warning" : "error";
  return {
    $schema: SCHEMA,
    version: "2.1.0",
    runs: [{
      tool: {
        driver: {
          name: "sluice",
          version,
          rules: ids.map((id) => {
            const { category } = findings.find(({ entity_type }) => entity_type === id)!;
            return {
              id,
              shortDescription: { text: `${wordsOf(id)} in a file` },
              defaultConfiguration: { level },
              properties: { tags: ["security", category] },
            };
          }),
        },
      },
      columnKind: "utf16CodeUnits",
      results: findings.map((finding) => ({
        ruleId: finding.entity_type,
        ruleIndex: ids.indexOf(finding.entity_type),
        level,
        message: { text: `This looks like sensitive data: ${wordsOf(finding.entity_type)}.` },
        locations: [{
          physicalLocation: {
            artifactLocation: { uri: uriOf(finding.file) },
            // Text extracted from a document has no lines in the file.
            ...!finding.extracted && { region: regionOf(finding) },
          },
        }],
        properties: { confidence: finding.confidence, category: finding.category },
      })),
      invocations: [{
        executionSuccessful: true,
        toolExecutionNotifications: unscanned.map(notification),
      }],
    }],
  };
}

function regionOf({ line, column, end_line, end_column }: FileFinding): unknown {
  return { startLine: line, startColumn: column, endLine: end_line, endColumn: end_column };
}

function notification({ file, why }: UnscannedFile): unknown {
  return {
    level: "warning",
    message: { text: `Not scanned: ${why}.` },
    locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(file) } } }],
  };
}

/** Relative to the working directory, as code hosts require, or a `file:` URL. */
function uriOf(path: string): string {
  if (path === STDIN) return "stdin";
  const encoded = path.replace(/^(?:\.\/)+/, "").split("/").map(encodeURIComponent).join("/");
  return path.startsWith("/") ? `file://${encoded}` : encoded;
}

/** Converts `CREDIT_CARD` to `credit card`. */
function wordsOf(type: string): string {
  return type.toLowerCase().replaceAll("_", " ");
}
