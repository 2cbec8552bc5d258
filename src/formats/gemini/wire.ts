/** Types of `generateContent` requests as encoded by this gateway. */
import type { Loose } from "../../exchange/json.ts";

export interface Blob {
  mimeType: string;
  data: string;
}

export interface WirePart {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  inlineData?: Blob;
  fileData?: { mimeType: string; fileUri: string };
  functionCall?: { id: string; name: string; args: Loose };
  functionResponse?: { id: string; name: string; response: Loose; parts?: { inlineData: Blob }[] };
}

export interface WireContent {
  role: "user" | "model";
  parts: WirePart[];
}

/**
 * The version in a model's name: 2.5 for `gemini-2.5-pro`. An alias without one (`gemini-flash-latest`) is
 * the newest; null for other models (`gemma-3`, a tuned model's endpoint). Rules differ by version, and the
 * API does not report it, so the name decides.
 */
export function versionOf(model: string): number | null {
  const version = /gemini-(\d+(?:\.\d+)?)/i.exec(model)?.[1];
  if (version !== undefined) return Number(version);
  return /gemini-/i.test(model) ? Infinity : null;
}
