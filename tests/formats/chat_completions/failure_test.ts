import { assertEquals } from "@std/assert";
import { Failure, type FailureCode, FAILURES } from "../../../src/exchange/failure.ts";
import { chatCompletions } from "../../../src/formats/chat_completions/mod.ts";

Deno.test("encodeFailure() every code in the envelope of this format", () => {
  for (const code of Object.keys(FAILURES) as FailureCode[]) {
    const failure = new Failure(code, "Why", { operator: "never shown", cause: new Error("never shown") });
    // A validation_error always says in extra.errors what is wrong where.
    const extra = { errors: [{ type: "value_error", loc: [], msg: "Why" }] };
    assertEquals(chatCompletions.encodeFailure(failure, "gen_1"), {
      error: { code, message: "Why", ...(code === "validation_error" && { extra }) },
    });
  }
});

Deno.test("encodeFailure() lists the field to blame as a mistake where a failure names no mistakes", () => {
  const failure = new Failure("validation_error", "Why", { param: "messages[2].tool_calls[0].id" });
  assertEquals(chatCompletions.encodeFailure(failure, "gen_1"), {
    error: {
      code: "validation_error",
      message: "Why",
      extra: { errors: [{ type: "value_error", loc: ["messages", 2, "tool_calls", 0, "id"], msg: "Why" }] },
    },
  });
});

Deno.test("encodeFailure() mistakes and details stand in extra", () => {
  const errors = [{ type: "missing", loc: ["model"], msg: "expected a string, got nothing" }];
  const failure = new Failure("validation_error", "Why", {
    errors,
    details: { findings_count: 1 },
    param: "model",
  });
  assertEquals(chatCompletions.encodeFailure(failure, "gen_1"), {
    error: { code: "validation_error", message: "Why", extra: { errors, findings_count: 1 } },
  });
});
