/**
 * Everything that can go wrong with a call, as one table.
 *
 * A row per code of the API's error overview. The three envelopes read the row; nothing else decides a status or a
 * type, so an exception to a rule (`dlp_unavailable` is a 503 that must not look retryable) is just another row.
 *
 * Anyone throws a {@link Failure}. Only a format's `encodeFailure` and the edge read it. Any other thrown value becomes
 * `internal_service_error`, with its own text withheld.
 */

/** `type` of the messages envelope. The responses envelope lacks `overloaded_error` and says `api_error` there. */
export type FailureKind =
  | "invalid_request_error"
  | "authentication_error"
  | "rate_limit_error"
  | "permission_error"
  | "not_found_error"
  | "api_error"
  | "overloaded_error";

export interface FailureRow {
  /** HTTP status when the failure comes before the first byte. */
  status: number;
  kind: FailureKind;
  /** False: repeating the same request cannot help, and `x-should-retry: false` says so. */
  retryable: boolean;
}

const row = (status: number, kind: FailureKind, retryable = false): FailureRow => ({
  status,
  kind,
  retryable,
});

export const FAILURES = {
  invalid_model: row(400, "invalid_request_error"),
  feature_not_supported: row(400, "invalid_request_error"),
  provider_bad_request: row(400, "invalid_request_error"),
  authentication_required: row(401, "authentication_error"),
  invalid_api_key: row(401, "authentication_error"),
  insufficient_funds: row(402, "rate_limit_error"),
  policy_violation: row(403, "permission_error"),
  dlp_violation: row(403, "permission_error"),
  provider_forbidden: row(403, "permission_error"),
  model_not_found: row(404, "not_found_error"),
  not_found: row(404, "not_found_error"),
  method_not_allowed: row(405, "invalid_request_error"),
  provider_timeout: row(408, "api_error", true),
  payload_too_large: row(413, "invalid_request_error"),
  file_too_large: row(413, "invalid_request_error"),
  text_content_too_large: row(413, "invalid_request_error"),
  provider_payload_too_large: row(413, "invalid_request_error"),
  validation_error: row(422, "invalid_request_error"),
  auto_routing_no_match: row(422, "invalid_request_error"),
  auto_routing_request_too_large: row(422, "invalid_request_error"),
  auto_routing_caching_unavailable: row(422, "invalid_request_error"),
  auto_routing_missing_context: row(422, "invalid_request_error"),
  provider_rate_limited: row(429, "rate_limit_error", true),
  api_key_limit_exceeded: row(429, "rate_limit_error"),
  internal_service_error: row(500, "api_error", true),
  provider_unavailable: row(502, "overloaded_error", true),
  provider_model_down: row(502, "overloaded_error", true),
  service_unavailable: row(503, "api_error", true),
  circuit_breaker_open: row(503, "api_error", true),
  dlp_policy_unavailable: row(503, "api_error", true),
  dlp_unavailable: row(503, "invalid_request_error"),
} as const satisfies Record<string, FailureRow>;

export type FailureCode = keyof typeof FAILURES;

/** One mistake in a request, as `extra.errors` lists it. `loc` is the path: names and indices. */
export interface Mistake {
  type: string;
  loc: (string | number)[];
  msg: string;
}

export interface FailureOptions {
  /** The field to blame, as the caller sent it: `messages[2].content`. */
  param?: string;
  /** All mistakes of a `validation_error`. */
  errors?: readonly Mistake[];
  /** More for the caller: `extra` on chat-completions, `details` on messages and responses. Plain JSON. */
  details?: Record<string, unknown>;
  /** Whole seconds for `Retry-After`. */
  retryAfter?: number;
  /** Headers of the answer beside those that every failure has. */
  headers?: Readonly<Record<string, string>>;
  /** For the operator's log, never for a caller: what to mend at the provider's account or in the configuration. */
  operator?: string;
  /** The provider will say the same again until somebody mends its account, its key or its list of models. */
  lasting?: boolean;
  /** The provider had begun to answer: asked again, it might give, and bill, the answer twice. */
  begun?: boolean;
  /** What was underneath. Never shown to a caller. */
  cause?: unknown;
}

/** A failure with a code of the API. The message is shown to callers: no secrets, no addresses, no conversation text. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly code: FailureCode;
  readonly param?: string;
  readonly errors?: readonly Mistake[];
  readonly details?: Record<string, unknown>;
  readonly retryAfter?: number;
  headers?: Readonly<Record<string, string>>;
  readonly operator?: string;
  readonly lasting: boolean;
  readonly begun: boolean;

  constructor(code: FailureCode, message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.param = options.param;
    this.errors = options.errors;
    this.details = options.details;
    this.retryAfter = options.retryAfter;
    this.headers = options.headers;
    this.operator = options.operator;
    this.lasting = options.lasting ?? false;
    this.begun = options.begun ?? false;
  }

  get row(): FailureRow {
    return FAILURES[this.code];
  }

  /** The same failure, whose answer also has these headers. */
  with(headers: Readonly<Record<string, string>>): this {
    this.headers = { ...headers, ...this.headers };
    return this;
  }

  /** Any thrown value as a Failure. What is not one already keeps its text to itself. */
  static from(thrown: unknown): Failure {
    if (thrown instanceof Failure) return thrown;
    return new Failure("internal_service_error", "The service met an internal fault.", { cause: thrown });
  }
}
