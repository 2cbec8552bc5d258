/** Decodes a provider's complete answer, with the same reader as a stream. */
import { Failure } from "../../exchange/failure.ts";
import { isObject, string } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import { brokenAnswer, decodeLateFailure } from "../failures/decode_failure.ts";
import { ItemReader } from "./decode_blocks.ts";
import { finishParts, modelOf, reportOf } from "./finish.ts";

/**
 * All parts of a provider's complete answer. A queued or running response is an error, since none was
 * requested.
 */
export function decodeAnswer(body: unknown): Part[] {
  if (!isObject(body)) throw brokenAnswer("it is not a JSON object");
  const status = string(body.status);
  if (status === "failed" || (!Array.isArray(body.output) && body.error)) throw decodeLateFailure(body);
  if (!Array.isArray(body.output)) throw brokenAnswer("it holds no output");
  if (status !== undefined && status !== "completed" && status !== "incomplete") {
    throw new Failure("provider_unavailable", "The provider put the request off instead of answering it.", {
      operator: `the provider's answer has the status ${status.slice(0, 20)}`,
    });
  }
  const extra = reportOf(body);
  const parts: Part[] = [{ type: "start", ...modelOf(body), ...(extra && { extra }) }];
  const items = new ItemReader((part) => parts.push(part));
  items.whole(body.output);
  finishParts(body, status === "incomplete", items, parts);
  return parts;
}
