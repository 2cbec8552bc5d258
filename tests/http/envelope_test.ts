/** Every failure in every envelope: status, type, code, param, details, and the headers about trying again. */
import { assertEquals } from "@std/assert";
import { Failure, type FailureCode, FAILURES } from "../../src/exchange/failure.ts";
import { CALLER_FORMATS } from "../../src/formats/mod.ts";
import { type Envelope, failureResponse } from "../../src/http/envelope.ts";

const SURFACES: Record<string, Envelope> = {
  chat: { format: CALLER_FORMATS.chat_completions, shortUnauthorized: true },
  models: { format: CALLER_FORMATS.chat_completions, shortUnauthorized: false },
  messages: { format: CALLER_FORMATS.messages, shortUnauthorized: true },
  responses: { format: CALLER_FORMATS.responses, shortUnauthorized: false },
};

/** SPEC 7.2, by hand: what the table in the source must say. */
const STATUS: Record<FailureCode, number> = {
  invalid_model: 400,
  feature_not_supported: 400,
  provider_bad_request: 400,
  context_length_exceeded: 400,
  authentication_required: 401,
  invalid_api_key: 401,
  insufficient_funds: 402,
  policy_violation: 403,
  permission_denied: 403,
  dlp_violation: 403,
  provider_forbidden: 403,
  model_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  provider_timeout: 408,
  payload_too_large: 413,
  file_too_large: 413,
  text_content_too_large: 413,
  provider_payload_too_large: 413,
  validation_error: 422,
  auto_routing_no_match: 422,
  auto_routing_request_too_large: 422,
  auto_routing_caching_unavailable: 422,
  auto_routing_missing_context: 422,
  provider_rate_limited: 429,
  api_key_limit_exceeded: 429,
  internal_service_error: 500,
  provider_unavailable: 502,
  provider_model_down: 502,
  service_unavailable: 503,
  circuit_breaker_open: 503,
  dlp_policy_unavailable: 503,
  dlp_unavailable: 503,
};

/** SPEC 7.4. */
function messagesType(code: FailureCode): string {
  if (code === "dlp_unavailable") return "invalid_request_error";
  switch (STATUS[code]) {
    case 401:
      return "authentication_error";
    case 402:
    case 429:
      return "rate_limit_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 408:
    case 500:
    case 503:
      return "api_error";
    case 502:
      return "overloaded_error";
    default:
      return "invalid_request_error";
  }
}

/** Those that a client of the official kits would try again by itself, and should. */
const RETRY: FailureCode[] = [
  "provider_timeout",
  "provider_rate_limited",
  "internal_service_error",
  "provider_unavailable",
  "provider_model_down",
  "service_unavailable",
  "circuit_breaker_open",
  "dlp_policy_unavailable",
];

const ERRORS = [{ type: "missing", loc: ["messages", 2, "content"], msg: "expected a string" }];

for (const code of Object.keys(FAILURES) as FailureCode[]) {
  Deno.test(`failureResponse() ${code} in every envelope`, async () => {
    const failure = new Failure(code, "What happened.", {
      param: "model",
      details: { reset_at: "2030-01-01T00:00:00.000Z" },
      errors: code === "validation_error" ? ERRORS : undefined,
    });
    const details = failure.details;
    const type = messagesType(code);
    const expected: Record<string, unknown> = {
      chat: {
        error: {
          code,
          message: "What happened.",
          extra: { ...(code === "validation_error" && { errors: ERRORS }), ...details },
        },
      },
      messages: {
        type: "error",
        error: {
          type,
          code,
          message: "What happened.",
          details: { ...details, param: "model", ...(code === "validation_error" && { errors: ERRORS }) },
        },
        request_id: "gen_1",
      },
      responses: {
        error: {
          type: type === "overloaded_error" ? "api_error" : type,
          code,
          message: "What happened.",
          param: "model",
          details: { ...details, ...(code === "validation_error" && { errors: ERRORS }) },
        },
      },
    };
    expected.models = expected.chat;
    for (const [name, surface] of Object.entries(SURFACES)) {
      const response = failureResponse(failure, surface, "gen_1", 0);
      assertEquals(response.status, STATUS[code], name);
      assertEquals(response.headers.get("content-type"), "application/json");
      assertEquals(response.headers.get("x-request-id"), "gen_1");
      assertEquals(response.headers.get("request-id"), "gen_1");
      const short = STATUS[code] === 401 && (name === "chat" || name === "messages");
      assertEquals(await response.json(), short ? { error: "unauthorized" } : expected[name], name);
      // No client tries these again by itself, and what they say of a path or a key may soon be otherwise.
      const silent = [401, 404, 405].includes(STATUS[code]) || RETRY.includes(code);
      assertEquals(response.headers.get("x-should-retry"), silent ? null : "false", name);
      const standing = code === "service_unavailable" || code === "dlp_policy_unavailable";
      assertEquals(/^[1-9]\d*$/.test(response.headers.get("retry-after") ?? ""), standing, name);
    }
  });
}

Deno.test("failureResponse() says when to try again, except where that would be wrong", () => {
  const after = (code: FailureCode) =>
    failureResponse(new Failure(code, "x", { retryAfter: 17 }), SURFACES.chat, "g", 0).headers.get(
      "retry-after",
    );
  assertEquals(after("provider_rate_limited"), "17");
  assertEquals(after("service_unavailable"), "17");
  assertEquals(after("circuit_breaker_open"), null);
  assertEquals(after("dlp_unavailable"), null);
});

Deno.test("failureResponse() leaves out what there is nothing to say of", async () => {
  const failure = new Failure("provider_unavailable", "x", {
    operator: "our key",
    cause: new Error("secret"),
  });
  for (const [name, surface] of Object.entries(SURFACES)) {
    const { error } = await failureResponse(failure, surface, "g", 0).json();
    assertEquals(
      Object.keys(error).sort(),
      name === "chat" || name === "models" ? ["code", "message"] : ["code", "message", "type"],
    );
  }
});

Deno.test("Failure.from() withholds the text of what was not meant for callers", async () => {
  const failure = Failure.from(new Error("password=hunter2"));
  const text = await failureResponse(failure, SURFACES.responses, "g", 0).text();
  assertEquals(text.includes("hunter2"), false);
  assertEquals(failure.code, "internal_service_error");
});
