/** What a scan of files found, and what it did not look at. It never holds a value. */
import type { Reported } from "../dlp/screen_body.ts";
import type { Region } from "./lines.ts";

export type ReportForm = "text" | "json" | "sarif";

export interface FileFinding extends Region, Pick<Reported, "category" | "entity_type" | "confidence"> {
  file: string;
  /** The text was taken out of a document: positions count in it, not in the file. */
  extracted?: true;
  /** UTF-16 units of the file's text. */
  start: number;
  end: number;
}

export interface UnscannedFile {
  file: string;
  why: string;
}

export interface FileReport {
  /** Of the policy; `block` for the default set. */
  mode: string;
  files: number;
  findings: FileFinding[];
  unscanned: UnscannedFile[];
}
