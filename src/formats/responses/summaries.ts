/**
 * Decrypts sealed summaries of compacted conversations in later requests, before anything else reads the
 * request, so that they are screened, counted and converted like other text.
 */
import { Failure } from "../../exchange/failure.ts";
import { isObject, type Loose } from "../../exchange/json.ts";
import { isSealed, type Unseal } from "../../exchange/proof.ts";
import { SUMMARY_HEAD } from "../summary_head.ts";

/** Item types of compacted conversations. */
export const COMPACTIONS: ReadonlySet<unknown> = new Set(["compaction", "compaction_summary"]);

/**
 * The request with sealed summaries replaced by messages; the same object if there are none. Throws a
 * `validation_error` for one that was modified, or belongs to another account: ignoring it would lose the
 * conversation.
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
