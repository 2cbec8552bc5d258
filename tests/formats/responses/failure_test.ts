/** Errors in the envelope of the responses format. */
import { assertEquals } from "@std/assert";
import { Failure, type FailureCode, FAILURES } from "../../../src/exchange/failure.ts";
import { encodeFailure } from "../../../src/formats/responses/failure.ts";

Deno.test("encodeFailure() gives every code a type that the format has", () => {
  const types = new Set(
    Object.keys(FAILURES).map((code) => {
      const { error } = encodeFailure(new Failure(code as FailureCode, "m")) as {
        error: Record<string, unknown>;
      };
      assertEquals([error.code, error.message], [code, "m"]);
      return error.type;
    }),
  );
  assertEquals([...types].sort(), [
    "api_error",
    "authentication_error",
    "invalid_request_error",
    "not_found_error",
    "permission_error",
    "rate_limit_error",
  ]);
  assertEquals(encodeFailure(new Failure("dlp_violation", "m", { details: { dlp: [] }, param: "input" })), {
    error: {
      type: "permission_error",
      code: "dlp_violation",
      message: "m",
      param: "input",
      details: { dlp: [] },
    },
  });
});
