import { assert, assertEquals } from "@std/assert";
import type { FailureCode } from "../../src/exchange/failure.ts";
import { clean, decodeFailure, decodeLateFailure } from "../../src/formats/failures/decode_failure.ts";
import { readRecordings } from "../support/recordings.ts";
import { sharedTest } from "../support/shared.ts";

interface Refusal {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

function decode({ status, body, headers = {} }: Refusal) {
  return decodeFailure({
    status,
    header: (name) => headers[name] ?? null,
    text: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** What each recorded error means. */
const RECORDED: Partial<Record<FailureCode, string>> = {
  provider_bad_request:
    "anthropic.msgs.39b2f103.0 anthropic.msgs.c48fc064.0 deepseek.resp.52800c78.0 google-vertex.gem.1819be4f.0 google-vertex.gem.b74d427f.1 google-vertex.gem.cd9243d8.0 groq.chat.02afbfc3.0 groq.chat.5fc27b83.0 openai.chat.02aca337.3 openai.chat.18436a06.1 openai.chat.4b1824a5.2 openai.chat.52ba3452.2 openai.chat.588d37b2.0 openai.chat.6364b89d.2 openai.chat.82219597.0 openai.chat.8af4f8f8.2 openai.chat.8fe28356.2 openai.chat.91a48ca0.0 openai.chat.91a48ca0.1 openai.chat.91a48ca0.2 openai.chat.978653ab.1 openai.chat.9f526359.0 openai.chat.bc33605b.0 openai.chat.dbc2f0c7.3 openai.chat.fbca1928.0 openai.resp.26bd3caf.2 openai.resp.3ad343aa.0 openai.resp.50047aca.1 openai.resp.6a28c466.2 openai.resp.cfc822b8.0",
  provider_model_down:
    "anthropic.msgs.0034a3db.1 anthropic.msgs.4d923851.12 anthropic.msgs.dbc61337.13 anthropic.msgs.f6f8bf30.24 azure.chat.11ec83f0.1 azure.chat.11ec83f0.2 azure.chat.11ec83f0.3 azure.chat.6b8450aa.0 azure.chat.6b8450aa.1 azure.chat.6b8450aa.2 google.gem.25650856.0 google.gem.579287d0.0 google.gem.da7f332f.0 google.gem.da7f332f.1 google.gem.da7f332f.2 groq.chat.d0212772.0 openai.chat.06fba80b.0 openai.chat.0fb42c95.0 openai.chat.3f36e0f5.2 openai.chat.5732828c.0 openai.chat.60c58720.0 openai.chat.a8a69e89.0 openai.chat.b88f7a0b.0 openai.chat.c3bf2943.0 openai.chat.d9399b78.0 openai.resp.34ced086.0 openai.resp.7692b4b8.0",
  provider_payload_too_large:
    "anthropic.msgs.900e7ac1.0 deepseek.chat.3b35dc57.0 ollama.chat.7cd9df49.0 openai.resp.11724eaa.0",
  provider_rate_limited:
    "azure.chat.8a13f8dd.0 google.gem.60644063.0 google.gem.62d9fe38.0 google.gem.9c9a6511.1 google.gem.cfa1e3f4.0 openrouter.chat.fe7a7c14.0 openrouter.chat.fe7a7c14.1 openrouter.chat.fe7a7c14.2",
  provider_unavailable:
    "anthropic.msgs.608aec8b.0 anthropic.msgs.67c4ec5d.0 anthropic.msgs.9b25654f.0 anthropic.msgs.d2d94d46.0 azure.chat.25c20469.0 deepseek.chat.9d1b35f9.0 google.gem.124ddb06.0 google.gem.124ddb06.1 google.gem.124ddb06.2 google.gem.1ea31360.0 google.gem.2c2d1f36.0 mistral.chat.ee25d80b.0 openai.chat.01c372f1.11 openai.chat.720a89c7.1 openai.chat.ef299426.0 openai.resp.022c0776.0 openai.resp.54d845df.0 openai.resp.7943ef50.0 openai.resp.90138c60.0 openai.resp.b5856eb2.0 perplexity.chat.04f63159.0",
};

const ERRORS = readRecordings().filter((r) => r.status !== 200);

sharedTest("corpus/", "decodeFailure() says what each recorded error means", () => {
  const codes = new Map(
    Object.entries(RECORDED).flatMap(([code, ids]) => ids.split(" ").map((id) => [id, code])),
  );
  for (const r of ERRORS) {
    const failure = decode({ status: r.status, body: r.response, headers: r.response_headers ?? {} });
    assertEquals(failure.code, codes.get(r.id), r.id);
    const told = failure.code === "provider_bad_request" || failure.code === "provider_payload_too_large";
    assertEquals(failure.operator === undefined, told, r.id);
    assert(failure.message.length > 0 && failure.message.length <= 501, r.id);
    for (const shown of [failure.message, failure.operator ?? ""]) {
      assert(!/https?:|\.com\b|\.dev\b|googleapis|sk-\w{6}|@/.test(shown), `${r.id}: ${shown}`);
    }
  }
  assert(ERRORS.length >= 90);
});

Deno.test("decodeLateFailure() says what errors behind a good status mean", async (t) => {
  const cases: [string, unknown, FailureCode][] = [
    [
      "Azure's filter as a whole body",
      {
        error: {
          message: "The response was filtered due to the prompt triggering Azure Content management policy.",
          type: null,
          param: "prompt",
          code: "content_filter",
          status: 400,
          innererror: { code: "ResponsibleAIPolicyViolation" },
        },
      },
      "provider_forbidden",
    ],
    [
      "Groq's tool call that broke",
      {
        error: {
          message: "Failed to parse tool call",
          type: "invalid_request_error",
          code: "tool_use_failed",
          status_code: 400,
        },
      },
      "provider_bad_request",
    ],
    ["Anthropic overloaded", {
      type: "error",
      error: { details: null, type: "overloaded_error", message: "Overloaded" },
    }, "provider_model_down"],
    ["Anthropic's rate", {
      type: "error",
      error: { type: "rate_limit_error", message: "This request would exceed" },
    }, "provider_rate_limited"],
    ["OpenRouter's number", {
      error: { code: 502, message: "x", metadata: { error_type: "provider_unavailable" } },
    }, "provider_model_down"],
    ["OpenRouter's rate", { error: { code: 429, message: "x" } }, "provider_rate_limited"],
    [
      "a failed response",
      { response: { error: { code: "server_is_overloaded", message: "x" } } },
      "provider_model_down",
    ],
    ["a failed response, slow down", { error: { code: "slow_down", message: "x" } }, "provider_model_down"],
    [
      "a response too long",
      { error: { code: "context_length_exceeded", message: "x" } },
      "provider_payload_too_large",
    ],
    [
      "Google in an array",
      [{ error: { code: 503, status: "UNAVAILABLE", message: "overloaded" } }],
      "provider_model_down",
    ],
    [
      "Google's deadline",
      { error: { code: 504, status: "DEADLINE_EXCEEDED", message: "x" } },
      "provider_timeout",
    ],
    ["Google's argument", { error: { status: "INVALID_ARGUMENT", message: "x" } }, "provider_bad_request"],
    ["a string", { error: "stream timeout" }, "provider_timeout"],
    ["a bare string", "boom", "provider_unavailable"],
    ["nothing", null, "provider_unavailable"],
    [
      "a key that stopped working",
      { error: { type: "authentication_error", message: "x" } },
      "provider_unavailable",
    ],
  ];
  for (const [name, error, code] of cases) {
    await t.step(name, () => assertEquals(decodeLateFailure(error).code, code));
  }
});

Deno.test("decodeFailure() judges by meaning", async (t) => {
  const html = "<html><head><title>413 Request Entity Too Large</title></head></html>";
  const cases: [string, Refusal, FailureCode][] = [
    [
      "overload as 529",
      { status: 529, body: { error: { type: "overloaded_error", message: "Overloaded" } } },
      "provider_model_down",
    ],
    [
      "overload as 500",
      { status: 500, body: { error: { type: "api_error", message: "Overloaded" } } },
      "provider_model_down",
    ],
    ["a 500", { status: 500, body: { error: { message: "Internal error" } } }, "provider_unavailable"],
    ["a 502 of HTML", { status: 502, body: "<html>Bad Gateway</html>" }, "provider_unavailable"],
    ["a 413 of HTML", { status: 413, body: html }, "provider_payload_too_large"],
    ["an empty 504", { status: 504, body: "" }, "provider_timeout"],
    ["a 408", { status: 408, body: "" }, "provider_timeout"],
    [
      "no credit",
      { status: 402, body: { error: { message: "Insufficient credits" } } },
      "provider_unavailable",
    ],
    [
      "no credit at Anthropic",
      {
        status: 400,
        body: { error: { type: "invalid_request_error", message: "Your credit balance is too low" } },
      },
      "provider_unavailable",
    ],
    [
      "no quota at OpenAI",
      {
        status: 429,
        body: { error: { code: "insufficient_quota", message: "check your plan and billing details" } },
      },
      "provider_unavailable",
    ],
    [
      "a rate at Google, which speaks of billing too",
      {
        status: 429,
        body: {
          error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "check your plan and billing details" },
        },
      },
      "provider_rate_limited",
    ],
    [
      "moderation as 403",
      { status: 403, body: { error: { code: 403, message: "Your input was flagged" } } },
      "provider_forbidden",
    ],
    [
      "a region as 403",
      { status: 403, body: { error: { message: "Country not supported" } } },
      "provider_unavailable",
    ],
    [
      "a filter as 400",
      {
        status: 400,
        body: {
          error: { type: "invalid_request_error", message: "Output blocked by content filtering policy" },
        },
      },
      "provider_forbidden",
    ],
    [
      "OpenAI's safety system",
      {
        status: 400,
        body: { error: { code: "moderation_blocked", message: "rejected as a result of our safety system" } },
      },
      "provider_forbidden",
    ],
    [
      "a field that is named like a filter",
      {
        status: 400,
        body: {
          error: {
            code: "unknown_parameter",
            message: "Unknown parameter: 'moderation'.",
            param: "moderation",
          },
        },
      },
      "provider_bad_request",
    ],
    [
      "a field of Google's that is named like a filter",
      {
        status: 400,
        body: {
          error: { code: 400, status: "INVALID_ARGUMENT", message: 'Unknown name "safety_identifier"' },
        },
      },
      "provider_bad_request",
    ],
    [
      "a file that is gone is not the model",
      { status: 404, body: { error: { type: "not_found_error", message: "File not found: file_1" } } },
      "provider_bad_request",
    ],
    ["Not JSON at all", { status: 400, body: "nope" }, "provider_bad_request"],
    ["a number for a body", { status: 422, body: 3 }, "provider_bad_request"],
    [
      "FastAPI's list",
      { status: 422, body: { detail: [{ loc: ["body"], msg: "bad" }] } },
      "provider_bad_request",
    ],
    [
      "a lock",
      { status: 409, body: { error: { type: "conflict_error", message: "try again" } } },
      "provider_unavailable",
    ],
    ["a request that came too early", { status: 425, body: "" }, "provider_unavailable"],
    ["a request on a wrong connection", { status: 421, body: "Misdirected Request" }, "provider_unavailable"],
    ["a teapot", { status: 418, body: {} }, "provider_bad_request"],
    ["a redirect", { status: 302, body: "" }, "provider_unavailable"],
  ];
  for (const [name, refusal, code] of cases) {
    await t.step(name, () => assertEquals(decode(refusal).code, code));
  }
});

Deno.test("decodeFailure() tells the field to blame and when to come back", () => {
  const bad = decode({
    status: 400,
    body: { error: { message: "Unsupported: 'stop'", param: "stop", code: null } },
  });
  assertEquals([bad.message, bad.param, bad.retryAfter], ["Unsupported: 'stop'", "stop", undefined]);
  const rate = (headers: Record<string, string>, error: unknown = {}) =>
    decode({ status: 429, headers, body: { error } }).retryAfter;
  assertEquals(rate({ "retry-after": "17" }), 17);
  assertEquals(rate({ "retry-after": "0.4" }), 1);
  assertEquals(rate({ "retry-after-ms": "494" }), 1);
  assertEquals(rate({ "retry-after-ms": "1500.5" }), 2);
  // As a number it would be written with an exponent.
  assertEquals(rate({ "retry-after": "9".repeat(25) }), undefined);
  // A date says nothing without the time of the clock that it is meant for.
  const at = (date: string) => rate({ "retry-after": date, date: "Wed, 21 Oct 2026 07:28:00 GMT" });
  assertEquals(rate({ "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" }), undefined);
  assertEquals(at("Wed, 21 Oct 2026 07:28:17 GMT"), 17);
  assertEquals(at("Wednesday, 21-Oct-26 07:29:00 GMT"), 60);
  assertEquals(at("Wed Oct 21 07:28:01 2026 GMT"), 1);
  assertEquals(at("Wed, 21 Oct 2026 07:27:00 GMT"), 0);
  assertEquals([at("soon"), at("never, 12"), at("-5"), at("")], new Array(4).fill(undefined));
  assertEquals(rate({}, { details: [{ "@type": "x" }, { retryDelay: "34.4s" }] }), 35);
});

Deno.test("decodeFailure() keeps what is the service's own affair from the caller", () => {
  const secret = "Rate limit reached for org-AbC123def on key sk-abcdef123456 at 10.0.0.7:8000";
  for (const status of [401, 403, 404, 429, 500, 503, 529]) {
    const failure = decode({ status, body: { error: { message: secret, param: "x" } } });
    assert(!/limit reached for|org|sk-|10\.0/.test(failure.message), failure.message);
    assertEquals(failure.param, undefined);
    assert(failure.operator && !/AbC123|abcdef123|10\.0/.test(failure.operator), failure.operator);
  }
});

Deno.test("clean() withholds addresses and credentials, and little else", () => {
  const withheld = [
    "https://api.openai.com/v1",
    "http://localhost:11434/api/chat",
    "localhost:8000",
    "127.0.0.1:11434",
    "[::1]:8080",
    "upstream.prod.internal:9000/v1",
    "generativelanguage.googleapis.com/generate_content",
    "sk-proj-abcdef123456",
    "sk_live_0123456789",
    "gsk_abcdef0123456",
    "AIzaSyA1234567890abcdef",
    "org-AbCdEf123456",
    "user_2xyzABC123",
    "Bearer abc.def.ghi",
    "jane.doe+x@example.org",
  ];
  for (const secret of withheld) assertEquals(clean(`see ${secret} now`), "see [withheld] now", secret);
  const kept = [
    "Unsupported parameter: 'user_location' with 'key_points'",
    "messages.0.content.1: expected base64, got task-runner or skateboarding",
    "Model gpt-4.1-nano takes temperature from 0.0 to 2.0",
    "item rs_68c42de0 needs its following item; messages[3].content[0]",
  ];
  for (const text of kept) assertEquals(clean(text), text);
  assertEquals(clean("<html>x</html>"), "");
  assertEquals(clean("x".repeat(600)), `${"x".repeat(500)}…`);
});

Deno.test("decodeLateFailure() reads a huge message in no time", () => {
  for (const piece of ["a.", "[:", "a@", "model ", "sk-", "http://"]) {
    const failure = decodeLateFailure({
      error: { message: piece.repeat(4_000_000), code: piece.repeat(1_000_000) },
    });
    assert(failure.message.length <= 501);
  }
});

Deno.test("decodeFailure() tells operators of a 404 that names no model to look at the address", () => {
  const told = (body: unknown) => decode({ status: 404, body } as never).operator;
  const address =
    "the provider has nothing at this address: look at its base_url and at the model (status 404)";
  assertEquals(told("404 page not found"), address);
  assertEquals(told("<html><title>404 Not Found</title></html>"), address);
  const invalid = { message: "Invalid URL (POST /responses)", type: "invalid_request_error" };
  assertEquals(told({ error: invalid }), `${address}: invalid_request_error`);
  const model = "the provider does not know the model (status 404)";
  assertEquals(told({ error: "model 'llama9' not found" }), model);
  assertEquals(
    told({ type: "error", error: { type: "not_found_error", message: "model: claude-9" } }),
    `${model}: not_found_error`,
  );
});

Deno.test("decodeFailure() marks as lasting what asking again cannot mend", () => {
  const lasting = (status: number, message: string, code?: string) =>
    decode({ status, body: { error: { message, code } } }).lasting;
  assertEquals(lasting(401, "Incorrect API key provided"), true);
  assertEquals(lasting(403, "not allowed"), true);
  assertEquals(lasting(429, "You exceeded your current quota", "insufficient_quota"), true);
  assertEquals(lasting(404, "The model does not exist", "model_not_found"), true);
  assertEquals(lasting(429, "Rate limit reached"), false);
  assertEquals(lasting(500, "boom"), false);
  assertEquals(lasting(529, "Overloaded"), false);
});

Deno.test("decodeFailure() reads the lists in which Cloudflare and FastAPI tell what is wrong, and Databricks' code", () => {
  const said = (status: number, body: unknown) => {
    const { code, message } = decode({ status, body });
    return [code, message];
  };
  assertEquals(
    said(400, {
      success: false,
      errors: [{ code: 5006, message: "Error: required properties at '/' are 'prompt'" }],
    }),
    ["provider_bad_request", "Error: required properties at '/' are 'prompt'"],
  );
  assertEquals(
    said(422, {
      detail: [
        { type: "missing", loc: ["body", "messages", 0, "content"], msg: "Field required", input: {} },
        { type: "x", loc: ["body"], msg: "Wrong" },
      ],
    }),
    ["provider_bad_request", "messages.0.content: Field required; Wrong"],
  );
  assertEquals(said(422, { detail: [] }), ["provider_bad_request", "The provider refused the request."]);
  assertEquals(
    decodeLateFailure({ error_code: "BAD_REQUEST", message: "No such field" }).code,
    "provider_bad_request",
  );
});
