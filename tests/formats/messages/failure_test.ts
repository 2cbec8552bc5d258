import { assertEquals } from "@std/assert";
import { Failure, type FailureCode, FAILURES } from "../../../src/exchange/failure.ts";
import { type Loose, object } from "../../../src/exchange/json.ts";
import { encodeFailure } from "../../../src/formats/messages/failure.ts";

Deno.test("encodeFailure() has the type that the format gives each status", () => {
  const kinds: Record<number, string> = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "rate_limit_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    408: "api_error",
    413: "invalid_request_error",
    422: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    502: "overloaded_error",
    503: "api_error",
  };
  for (const [code, row] of Object.entries(FAILURES)) {
    const body = encodeFailure(new Failure(code as FailureCode, "Why."), "gen_1");
    const type = code === "dlp_unavailable" ? "invalid_request_error" : kinds[row.status];
    // A validation_error always says what is wrong where.
    const details = { errors: [{ type: "value_error", loc: [], msg: "Why." }] };
    const error = { type, code, message: "Why.", ...(code === "validation_error" && { details }) };
    assertEquals(body, { type: "error", error, request_id: "gen_1" });
  }
});

Deno.test("encodeFailure() keeps details, the field to blame and all mistakes", () => {
  const errors = [{ type: "missing", loc: ["model"], msg: "expected a string, got nothing" }];
  const blamed = encodeFailure(new Failure("validation_error", "x", { param: "model", errors }), "r");
  assertEquals(object(blamed.error).details, { param: "model", errors });
  const dlp = [{ category: "pii" }];
  const blocked = encodeFailure(
    new Failure("dlp_violation", "x", { details: { dlp, findings_count: 1 } }),
    "r",
  );
  assertEquals((object(blocked.error).details as Loose).dlp, dlp);
});

Deno.test("encodeFailure() never shows what is for the operator", () => {
  const failure = new Failure("provider_unavailable", "x", {
    operator: "our key",
    cause: new Error("inner"),
  });
  assertEquals(/our key|inner/.test(JSON.stringify(encodeFailure(failure, "r"))), false);
});
