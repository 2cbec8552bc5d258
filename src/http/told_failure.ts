/**
 * Failures in the terms of the one client that reads no others. Codex knows an exceeded context by its code at
 * OpenAI, `context_length_exceeded`: it then shortens the conversation. A request that failed with another code or
 * with status 413 is repeated five times, and the conversation cannot go on.
 */
import { contextOverflow } from "../exchange/context_overflow.ts";
import type { Failure } from "../exchange/failure.ts";

/** Header by which Codex names itself: `codex_exec`, `codex_vscode`, `Codex Desktop`. */
const ORIGINATOR = "originator";

/** @param header reads a header of the request */
export function toldFailure(failure: Failure, header: (name: string) => string | null): Failure {
  if (failure.overflow === undefined || !/^codex/i.test(header(ORIGINATOR) ?? "")) return failure;
  return contextOverflow(failure.overflow, "context_length_exceeded").with(failure.headers ?? {});
}
