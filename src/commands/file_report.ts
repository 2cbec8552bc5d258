/** The result of a scan of files: findings, and what was not scanned. It never contains a matched value. */
import type { Reported } from "../dlp/screen_body.ts";
import type { Region } from "./lines.ts";

export type ReportForm = "text" | "json" | "sarif";

export interface FileFinding extends Region, Pick<Reported, "category" | "entity_type" | "confidence"> {
  file: string;
  /** The text was extracted from a document: positions refer to it, not to the file. */
  extracted?: true;
  /** In UTF-16 units of the file's text. */
  start: number;
  end: number;
}

export interface UnscannedFile {
  file: string;
  why: string;
}

export interface FileReport {
  /** The mode of the policy; `block` for the default set of types. */
  mode: string;
  files: number;
  findings: FileFinding[];
  unscanned: UnscannedFile[];
}
