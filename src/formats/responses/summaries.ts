/**
 * Sealed summaries of compacted conversations in a later request: text again before anything else reads the request, so that it is
 * screened, counted and converted like every other text.
 */
import { Failure } from "../../exchange/failure.ts";
import { isObject, type Loose } from "../../exchange/json.ts";
import { isSealed, type Unseal } from "../../exchange/proof.ts";
import { SUMMARY_HEAD } from "../summary_head.ts";

/** Types of items that stand for a compacted conversation. */
export const COMPACTIONS: ReadonlySet<unknown> = new Set(["compaction", "compaction_summary"]);

/**
 * A request whose sealed summaries are messages; the same request where it has none. Throws `validation_error` for one that
 * was changed, or is another account's: to leave it out would lose the conversation without a word.
 */
export function withSummaries(body: unknown, unseal: Unseal): unknown {
  if (!isObject(body) || !Array.isArray(body.input)) return body;
  const { input } = body;
  if (!input.some(isSealedSummary)) return body;
  return {
    ...body,
    input: input.map((item, i) => isSealedSummary(item) ? openSummary(item, i, unseal) : item),
  };
}

function isSealedSummary(item: unknown): item is Loose & { encrypted_content: string } {
  return isObject(item) && COMPACTIONS.has(item.type) && typeof item.encrypted_content === "string" &&
    isSealed(item.encrypted_content);
}

function openSummary(
  { encrypted_content }: { encrypted_content: string },
  at: number,
  unseal: Unseal,
): Loose {
  const proof = unseal(encrypted_content);
  if (proof?.kind === "summary") {
    return {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: SUMMARY_HEAD + proof.data }],
    };
  }
  const message =
    `Cannot read input.${at}.encrypted_content: expected a compaction as it was given to this account.`;
  throw new Failure("validation_error", message, {
    param: "input",
    errors: [{ type: "value_error", loc: ["input", at, "encrypted_content"], msg: message }],
  });
}
