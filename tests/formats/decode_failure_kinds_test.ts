/** Errors that are about the address, the proxy, the account or the time to wait, and not about the request. */
import { assertEquals } from "@std/assert";
import { decodeFailure, decodeLateFailure } from "../../src/formats/failures/decode_failure.ts";

const decode = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  decodeFailure({
    status,
    header: (name) => headers[name] ?? null,
    text: typeof body === "string" ? body : JSON.stringify(body),
  });

Deno.test("a redirect is named to operators, whatever its page says, and no route is retried for it", () => {
  for (const status of [300, 301, 302, 303, 304, 307, 308]) {
    for (const body of ["", "<html>moved: content policy</html>", { message: "model not found" }]) {
      const { code, lasting, operator } = decode(status, body);
      assertEquals([code, lasting, operator], [
        "provider_unavailable",
        true,
        `the provider redirects, which is not followed: look at its base_url (status ${status})`,
      ]);
    }
  }
});

Deno.test("an address that has nothing for POST, and a model that was removed, are no fault of the request", () => {
  const { code, lasting, operator } = decode(405, { detail: "Method Not Allowed" });
  assertEquals([code, lasting], ["provider_model_down", true]);
  assertEquals(
    operator,
    "the provider has nothing at this address: look at its base_url and at the model (status 405)",
  );
  const gone = decode(410, { error: "The requested model is deprecated and no longer supported." });
  assertEquals([gone.code, gone.lasting], ["provider_model_down", true]);
  assertEquals(gone.operator, "the provider does not know the model (status 410)");
});

Deno.test("what a proxy, an account or a place is refused for is not the caller's to mend", () => {
  const cases: [string, ReturnType<typeof decode>][] = [
    ["a proxy that wants credentials", decode(407, "<html>Proxy Authentication Required</html>")],
    [
      "Gemini in a country without it",
      decode(400, {
        error: {
          code: 400,
          status: "FAILED_PRECONDITION",
          message: "User location is not supported for the API use.",
        },
      }),
    ],
    [
      "an AWS account that is not enabled",
      decode(400, { message: "Operation not allowed" }, {
        "x-amzn-errortype": "ValidationException:http://internal.amazon.com/coral/",
      }),
    ],
    [
      "a permission, in a stream",
      decodeLateFailure({
        type: "error",
        error: { type: "permission_error", message: "Your API key may not use this model." },
      }),
    ],
  ];
  for (const [name, { code, lasting }] of cases) {
    assertEquals([name, code, lasting], [name, "provider_unavailable", true]);
  }
  assertEquals(
    decode(400, { error: { message: "user_location is not supported", type: "invalid_request_error" } }).code,
    "provider_bad_request",
  );
});

Deno.test("a request that the provider cancelled, or that Cloudflare waited for in vain, may be tried again", () => {
  const cancelled = { code: 499, status: "CANCELLED", message: "The operation was cancelled." };
  for (const failure of [decode(499, { error: cancelled }), decodeLateFailure({ error: cancelled })]) {
    assertEquals([failure.code, failure.lasting], ["provider_unavailable", false]);
  }
  assertEquals(decode(524, "<html>A timeout occurred</html>").code, "provider_timeout");
});

Deno.test("the time to wait is read from Azure's header and from messages, and has a bound", () => {
  const wait = (headers: Record<string, string>, message = "") =>
    decode(429, { error: { message } }, headers).retryAfter;
  assertEquals(wait({ "x-ms-retry-after-ms": "2500" }), 3);
  assertEquals(wait({ "retry-after-ms": " 1500 " }), 2);
  assertEquals(wait({ "retry-after": "999999999" }), 2_147_483);
  assertEquals(
    wait({ "retry-after": "Wed, 21 Oct 2099 07:28:00 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT" }),
    2_147_483,
  );
  const told: [string, number | undefined][] = [
    ["Rate limit reached. Please try again in 1.898s. Visit the page for more.", 2],
    ["Please try again in 457ms.", 1],
    ["Please try again in 6m0s.", 360],
    ["Please try again in 7h12m3.5s", 25_924],
    ["Please retry after 26 seconds. To increase your limit", 26],
    ["Please retry in 34.4s.", 35],
    ["Try again in 2 minutes", 120],
    ["Try again in 999999999 hours", 2_147_483],
    ["Please try again later", undefined],
    ["Please retry after 20 tokens", undefined],
    ["Please try again in 5 months", undefined],
  ];
  for (const [message, seconds] of told) {
    assertEquals([message, wait({}, message)], [message, seconds]);
    const late = decodeLateFailure({ error: { code: "rate_limit_exceeded", message } });
    assertEquals([message, late.code, late.retryAfter], [message, "provider_rate_limited", seconds]);
  }
  assertEquals(wait({ "retry-after": "5" }, "Please try again in 20s"), 5);
});
