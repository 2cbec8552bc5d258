import { assertEquals } from "@std/assert";
import { decodeRequest } from "../../../src/formats/messages/decode_request.ts";

Deno.test("decodeRequest() passes on no header by which a caller would choose whom the provider bills", () => {
  const sent: Record<string, string> = {
    "anthropic-beta": "user-profiles-2026-03-24",
    "anthropic-version": "2023-06-01",
    "anthropic-user-profile-id": "uprof_1",
    "anthropic-workspace-id": "wrkspc_1",
    "anthropic-organization-id": "org_1",
  };
  const body = {
    model: "a/b",
    max_tokens: 1,
    billing_policy: { type: "billing_policy", bill_to: "user_profile" },
    messages: [{ role: "user", content: "hi" }],
  };
  const { headers } = decodeRequest(body, { unseal: () => null, headers: () => ({ ...sent }) });
  assertEquals(headers, {
    "anthropic-beta": "user-profiles-2026-03-24",
    "anthropic-version": "2023-06-01",
  });
});
