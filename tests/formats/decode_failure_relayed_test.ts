/** Errors whose status says something else than their content: a limit or an overload as 400, a provider's error inside another. */
import { assert, assertEquals } from "@std/assert";
import type { Failure } from "../../src/exchange/failure.ts";
import { decodeFailure, decodeLateFailure } from "../../src/formats/failures/decode_failure.ts";

const decode = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  decodeFailure({
    status,
    header: (name) => headers[name] ?? null,
    text: typeof body === "string" ? body : JSON.stringify(body),
  });

/** Failures of the same error before the stream and in it. */
const both = (status: number, body: unknown): [string, Failure][] => [
  [`${status}`, decode(status, body)],
  ["in a stream", decodeLateFailure(body)],
];

Deno.test("an error that OpenRouter passes on is judged by what the provider behind it said", () => {
  const inner = {
    error: {
      message:
        "This model's maximum context length is 262144 tokens. However, your messages resulted in 262897 tokens. Please reduce the length of the messages.",
      type: "Bad Request",
      code: 400,
    },
  };
  const raws = [JSON.stringify(inner), inner, JSON.stringify(inner.error), inner.error.message];
  for (const raw of raws) {
    const metadata = { raw, provider_name: "Nvidia", is_byok: false, provider_error_code: "400" };
    const body = { error: { message: "Provider returned error", code: 400, metadata } };
    for (const [where, failure] of both(400, body)) {
      assertEquals([where, failure.code, failure.overflow], [where, "provider_payload_too_large", {
        tokens: 262897,
        limit: 262144,
      }]);
    }
  }
  const refused = (raw: unknown) =>
    decode(400, { error: { message: "Provider returned error", code: 400, metadata: { raw } } });
  const field = { error: { message: "tools[0].name is too long", param: "tools[0].name" } };
  const { code, message, param } = refused(JSON.stringify(field));
  assertEquals([code, message, param], [
    "provider_bad_request",
    "tools[0].name is too long",
    "tools[0].name",
  ]);
  for (const raw of ["", null, {}, "{}", [], 7]) {
    assertEquals([raw, refused(raw).message], [raw, "Provider returned error"]);
  }
  let deep: unknown = "x";
  for (let i = 0; i < 100_000; i++) {
    const error = { message: "x", metadata: { raw: [deep] } };
    deep = i % 2 === 0 ? { error } : { response: { error } };
  }
  assertEquals(decodeLateFailure(deep).code, "provider_unavailable");
});

Deno.test("a rate limit is one whatever its status, and no context overflow", () => {
  const cases: [number, unknown][] = [
    [400, { __type: "ThrottlingException", message: "Too many tokens, please wait before trying again." }],
    [400, { message: "Too many tokens, please wait before trying again." }],
    [400, { message: "Too many requests, please wait before trying again." }],
    [400, { error: { type: "throttlingException", message: "Too many tokens per day, please wait" } }],
    [400, { error: { code: "rate_limit_exceeded", message: "Slow down" } }],
    [400, { code: "Throttling.RateQuota", message: "Requests rate limit exceeded, please try again later." }],
    [422, { error: { type: "too_many_requests", message: "x" } }],
    [429, {
      message: "Tokens per minute limit exceeded - too many tokens processed.",
      type: "too_many_tokens_error",
      code: "token_quota_exceeded",
    }],
  ];
  for (const [status, body] of cases) {
    for (const [where, failure] of both(status, body)) {
      assertEquals([where, body, failure.code], [where, body, "provider_rate_limited"]);
      assert(!failure.lasting);
    }
  }
  const named = decode(400, { message: "Too many tokens, please wait before trying again." }, {
    "x-amzn-errortype": "ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/",
  });
  assertEquals(named.code, "provider_rate_limited");
});

Deno.test("an overload is one whatever its status", () => {
  const cases: [number, unknown][] = [
    [400, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }],
    [400, { error: { type: "engine_overloaded_error", message: "The engine is currently overloaded" } }],
    [400, {
      error: {
        code: 400,
        status: "UNAVAILABLE",
        message: "The model is overloaded. Please try again later.",
      },
    }],
    [400, { error: { message: "The model is overloaded. Please try again later." } }],
    [498, { error: { message: "`flex` tier capacity exceeded, please try again later" } }],
    [422, { error: { code: "capacity_exceeded", message: "Flex tier capacity exceeded" } }],
  ];
  for (const [status, body] of cases) {
    const failure = decode(status, body);
    assertEquals([body, failure.code, failure.lasting], [body, "provider_model_down", false]);
  }
  const words = [
    { error: { code: "invalid_value", message: "overloaded is not one of: low, high", param: "overloaded" } },
    {
      error: { type: "invalid_request_error", message: "tool `capacity_planner`: unknown field rate_limit" },
    },
    { error: { code: "feature_unavailable", message: "x" } },
  ];
  for (const body of words) assertEquals([body, decode(400, body).code], [body, "provider_bad_request"]);
});

Deno.test("a model that the provider does not serve under our account is no fault of the request", () => {
  const cases = [
    {
      error: {
        message: "The requested model 'acme/one' is not supported by any provider you have enabled.",
        type: "invalid_request_error",
        param: "model",
        code: "model_not_supported",
      },
    },
    { error: { message: "The requested model is not supported.", code: "model_not_supported" } },
    {
      error: {
        message:
          "Unable to access non-serverless model acme/one. Please visit https://api.together.ai/models/acme/one to create and start a new dedicated endpoint for the model.",
        type: "invalid_request_error",
        param: null,
        code: "model_not_available",
      },
    },
    {
      error: {
        message: "The model `one` has been decommissioned and is no longer supported.",
        type: "invalid_request_error",
        code: "model_decommissioned",
      },
    },
    {
      error: {
        message: "The model `one` requires terms acceptance. Please have the org admin accept the terms",
        type: "invalid_request_error",
        code: "model_terms_required",
      },
    },
    { error: { code: "unavailable_model", message: "Unavailable model: one" } },
    { error: { message: "acme/one is not a valid model ID", code: 400 } },
    {
      error: {
        code: "OperationNotSupported",
        message:
          "The chatCompletion operation does not work with the specified model, one. Please choose different model and try again.",
      },
    },
    { error: { code: "validation_error", message: "The model 'acme.one' isn't supported on this route" } },
    {
      error: {
        message:
          'Failed to load model "one". Error: Model loading was stopped due to insufficient system resources.',
      },
    },
  ];
  for (const body of cases) {
    const { code, lasting } = decode(400, body);
    assertEquals([code, lasting], ["provider_model_down", true]);
  }
});

Deno.test("a country that the vendor does not serve is our account's affair", () => {
  const message =
    "Access to Anthropic models is not allowed from unsupported countries, regions, or territories.";
  const cases: [number, unknown][] = [
    [400, { message }],
    [400, { type: "error", error: { type: "unsupported_country_region_territory", message: "no" } }],
    [403, { error: { code: "unsupported_country_region_territory", message: "Country not supported" } }],
  ];
  for (const [status, body] of cases) {
    const { code, lasting } = decode(status, body);
    assertEquals([body, code, lasting], [body, "provider_unavailable", true]);
  }
});

Deno.test("a suspended or unpaid account is the operator's affair, whatever the status", () => {
  const cases: [number, unknown][] = [
    [400, {
      type: "error",
      error: { type: "invalid_request_error", message: "This organization has been disabled." },
    }],
    [400, {
      error: {
        message:
          "Organization has been restricted. Please reach out to support if you believe this was in error.",
        type: "invalid_request_error",
        code: "organization_restricted",
      },
    }],
    [400, { error: { message: "Your API access has been blocked", code: "blocked_api_access" } }],
    [400, {
      error: { message: "Your organization has reached its spend limit", type: "invalid_request_error" },
    }],
    [412, {
      error: {
        message:
          "Account acme-1b2c is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices.",
        code: "PRECONDITION_FAILED",
      },
    }],
    [429, {
      error: {
        message:
          "Your account acme is suspended due to insufficient balance, please recharge your account or check your plan and billing details",
        type: "exceeded_current_quota_error",
      },
    }],
  ];
  for (const [status, body] of cases) {
    const { code, lasting, message } = decode(status, body);
    assertEquals([body, code, lasting], [body, "provider_unavailable", true]);
    assert(!/acme|organization/i.test(message), message);
  }
  const limited = { error: { message: "check your plan and billing details", status: "RESOURCE_EXHAUSTED" } };
  assertEquals(decode(429, limited).code, "provider_rate_limited");
});

Deno.test("a moderation is the request's, whatever the provider calls it, and says nothing about our key", () => {
  const cases: [number, unknown][] = [
    [403, {
      code: "The caller does not have permission to execute the specified operation",
      error:
        "Content violates usage guidelines. Team: 1b2c, API key ID: 9d8e, Model: grok-4-0709, Failed check: SAFETY_CHECK_TYPE_BIO",
    }],
    [400, {
      error: { code: "data_inspection_failed", message: "Input data may contain inappropriate content." },
    }],
    [400, { code: "DataInspectionFailed", message: "Output data may contain inappropriate content." }],
    [400, { error: { type: "invalid_request_error", message: "Content Exists Risk" } }],
    [400, { error: { code: "InputTextSensitiveContentDetected", message: "The request failed" } }],
    [400, { error: { code: "SensitiveContentDetected.Violence", message: "The request failed" } }],
  ];
  for (const [status, body] of cases) {
    const { code, lasting } = decode(status, body);
    assertEquals([body, code, lasting], [body, "provider_forbidden", false]);
  }
});

Deno.test("a moderation names neither team nor key of ours", () => {
  const [team, key] = ["0b2c77aa-1234-4abc-9def-0123456789ab", "9d8e66bb-4321-4cba-8fed-ba9876543210"];
  const error = `Content violates usage guidelines. Team: ${team}, API key ID: ${key}, Model: grok-4`;
  const { message } = decode(403, { code: "no permission", error });
  assertEquals(message, "Content violates usage guidelines. [withheld], [withheld], Model: grok-4");
  const field = decode(400, { error: { message: "Team: marketing is no value" } });
  assertEquals(field.message, "Team: marketing is no value");
});

Deno.test("without a time to wait, the time at which a used-up limit is whole again is used", () => {
  const date = "Wed, 21 Oct 2026 07:28:00 GMT";
  const at = Date.parse(date);
  const wait = (headers: Record<string, string>, error: unknown = {}) =>
    decode(429, { error }, { date, ...headers }).retryAfter;
  const limits: [Record<string, string>, number | undefined][] = [
    [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0.5s" }, 361],
    [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "20ms" }, 1],
    // Not this one was reached.
    [{ "x-ratelimit-remaining-requests": "12", "x-ratelimit-reset-requests": "6m0s" }, undefined],
    [{ "x-ratelimit-reset-requests": "6m0s" }, undefined],
    [{
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "1s",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "7.66s",
    }, 8],
    [{ "x-ratelimit-remaining-tokens-minute": "0.0", "x-ratelimit-reset-tokens-minute": "11.38" }, 12],
    [{
      "anthropic-ratelimit-input-tokens-remaining": "0",
      "anthropic-ratelimit-input-tokens-reset": "2026-10-21T07:28:42Z",
    }, 42],
    [{ "x-ratelimit-limit": "20", "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(at + 9500) }, 10],
    [{ "x-ratelimit-reset": String(at / 1000 + 30) }, 30],
    [{ "ratelimit-remaining": "0", "ratelimit-reset": "50" }, 50],
    [{ "ratelimit-remaining": "3", "ratelimit-reset": "50" }, undefined],
    [{ "x-ratelimit-reset": String(at - 5000) }, 0],
    [{ "x-ratelimit-reset": "soon" }, undefined],
    [{ "x-ratelimit-reset": "9".repeat(15) }, 2_147_483],
    [{ "retry-after": "3", "x-ratelimit-reset": "50" }, 3],
  ];
  for (const [headers, seconds] of limits) assertEquals([headers, wait(headers)], [headers, seconds]);
  const headers = {
    "X-RateLimit-Limit": "20",
    "X-RateLimit-Remaining": "0",
    "X-RateLimit-Reset": `${at + 4000}`,
  };
  assertEquals(wait({}, { code: 429, message: "Rate limit exceeded", metadata: { headers } }), 4);
  assertEquals(wait({ "x-ratelimit-reset": "9" }, { message: "Please try again in 2s" }), 2);
  // An overload has no limit.
  assertEquals(
    decode(503, {}, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "50" }).retryAfter,
    undefined,
  );
});
