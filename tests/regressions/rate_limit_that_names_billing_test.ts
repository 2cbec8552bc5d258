/** Gemini's answer to a used-up rate per minute tells to check "plan and billing details": still only a rate limit. */
import { assertEquals } from "@std/assert";
import { decodeFailure } from "../../src/formats/failures/decode_failure.ts";

const BODY = `{
  "error": {
    "code": 429,
    "message": "You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.",
    "status": "RESOURCE_EXHAUSTED",
    "details": [
      {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},
      {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.4s"}
    ]
  }
}`;

Deno.test("decodeFailure() a rate limit whose message speaks of billing", () => {
  const failure = decodeFailure({ status: 429, header: () => null, text: BODY });
  assertEquals(failure.code, "provider_rate_limited");
  assertEquals(failure.retryAfter, 35);
});

Deno.test("decodeFailure() an account without money is the operator's matter", () => {
  const says = (error: unknown) =>
    decodeFailure({ status: 400, header: () => null, text: JSON.stringify({ error }) }).code;
  assertEquals(says({ code: "insufficient_quota", message: "Check your billing." }), "provider_unavailable");
  assertEquals(says({ code: "billing_hard_limit_reached", message: "…" }), "provider_unavailable");
  assertEquals(says({ message: "Your credit balance is too low." }), "provider_unavailable");
});
