/**
 * Failures in the terms of Codex. It repeats a request five times after most statuses that OpenAI does not use for
 * a refusal, among them 402, 403, 413 and 422. It knows an exceeded context only by its code at OpenAI,
 * `context_length_exceeded`: it then shortens the conversation, which otherwise cannot go on.
 */
import { contextOverflow } from "../exchange/context_overflow.ts";
import type { Failure } from "../exchange/failure.ts";

/** Header by which Codex names itself: `codex_exec`, `codex_vscode`, `Codex Desktop`. */
const ORIGINATOR = "originator";

/** Statuses of a refusal that Codex does not repeat. */
const FINAL: ReadonlySet<number> = new Set([400, 401, 404, 429]);

/** @param header reads a header of the request */
export function isCodex(header: (name: string) => string | null): boolean {
  return /^codex/i.test(header(ORIGINATOR) ?? "");
}

/** The failure for Codex, and its status. */
export function toldToCodex(failure: Failure): { failure: Failure; status: number } {
  if (failure.overflow !== undefined) {
    const told = contextOverflow(failure.overflow, "context_length_exceeded").with(failure.headers ?? {});
    return { failure: told, status: told.row.status };
  }
  const { status, retryable } = failure.row;
  return { failure, status: retryable || FINAL.has(status) || status >= 500 ? status : 400 };
}
