/**
 * All failures of a call, in one table.
 *
 * There is one row per error code of the API. The three error envelopes read the row; nothing else determines
 * a status or type, so an exception to a rule (`dlp_unavailable` is a 503 that must not be retried) is just
 * another row.
 *
 * Any code may throw a {@link Failure}. Only a format's `encodeFailure` and the HTTP layer read it. Any other
 * thrown value becomes `internal_service_error`, and its message is withheld.
 */

/**
 * `type` in the messages envelope. The responses envelope has no `overloaded_error` and uses `api_error`
 * instead.
 */
export type FailureKind =
  | "invalid_request_error"
  | "authentication_error"
  | "rate_limit_error"
  | "permission_error"
  | "not_found_error"
  | "api_error"
  | "overloaded_error";

export interface FailureRow {
  /** HTTP status, if the failure occurs before the first byte of the answer. */
  status: number;
  kind: FailureKind;
  /** Absent: retrying the same request is useless, and the answer has `x-should-retry: false`. */
  retryable?: true;
  /** The failure does not depend on the request: another attempt, or another provider, may succeed. */
  transient?: true;
  /** Default `Retry-After` in whole seconds; "never": no such header. */
  retryAfter?: number | "never";
  /** Description in Markdown, for the reference page. */
  when: string;
}

export const FAILURES = {
  invalid_model: {
    status: 400,
    kind: "invalid_request_error",
    when:
      "The model name is not valid. Currently not used: unknown names get `model_not_found` or `validation_error`.",
  },
  feature_not_supported: {
    status: 400,
    kind: "invalid_request_error",
    when:
      "The request uses a feature that the gateway does not offer, or that cannot be translated to the provider's API. `param` names the field.",
  },
  provider_bad_request: {
    status: 400,
    kind: "invalid_request_error",
    when: "The provider refused the request. The message is that of the provider.",
  },
  authentication_required: {
    status: 401,
    kind: "authentication_error",
    when: "The request has no key.",
  },
  invalid_api_key: {
    status: 401,
    kind: "authentication_error",
    when: "The key is unknown, revoked or expired.",
  },
  insufficient_funds: {
    status: 402,
    kind: "rate_limit_error",
    when: "The account's credits do not cover the highest possible cost of the call.",
  },
  policy_violation: {
    status: 403,
    kind: "permission_error",
    when: "The access policy of the key or its team forbids the model, or does not exist.",
  },
  dlp_violation: {
    status: 403,
    kind: "permission_error",
    when: "Data-loss prevention refused the request. `dlp` lists the findings.",
  },
  provider_forbidden: {
    status: 403,
    kind: "permission_error",
    when: "The provider's moderation refused the content.",
  },
  permission_denied: {
    status: 403,
    kind: "permission_error",
    when:
      "The role does not permit this administration request, or a request with the session cookie has no header `x-svc-csrf`. The message says what is required.",
  },
  model_not_found: {
    status: 404,
    kind: "not_found_error",
    when: "The model is not in the catalog that is visible to the key.",
  },
  not_found: {
    status: 404,
    kind: "not_found_error",
    when: "The route, or the named key, record or other object, does not exist.",
  },
  method_not_allowed: {
    status: 405,
    kind: "invalid_request_error",
    when: "The route supports other methods, which the header `allow` lists.",
  },
  provider_timeout: {
    status: 408,
    kind: "api_error",
    retryable: true,
    transient: true,
    when: "The provider exceeded `first_byte_seconds` or `idle_seconds`.",
  },
  payload_too_large: {
    status: 413,
    kind: "invalid_request_error",
    when: "The body is larger than `server.max_body_bytes`.",
  },
  file_too_large: {
    status: 413,
    kind: "invalid_request_error",
    when: "An attachment is larger than `server.max_file_bytes`.",
  },
  text_content_too_large: {
    status: 413,
    kind: "invalid_request_error",
    when: "The total length of all text is greater than `server.max_text_chars`.",
  },
  provider_payload_too_large: {
    status: 413,
    kind: "invalid_request_error",
    when: "The request exceeds the context length of the model, or is larger than the provider accepts.",
  },
  context_length_exceeded: {
    status: 400,
    kind: "invalid_request_error",
    when:
      "The request exceeds the context length of the model, in the responses format for Codex. All others get `provider_payload_too_large` or `auto_routing_request_too_large`.",
  },
  validation_error: {
    status: 422,
    kind: "invalid_request_error",
    when:
      "A field is missing or invalid. The message and `errors` name the field, the value found and what is allowed.",
  },
  auto_routing_no_match: {
    status: 422,
    kind: "invalid_request_error",
    when: "`svc/auto`: no available model of the key supports what the request needs.",
  },
  auto_routing_request_too_large: {
    status: 422,
    kind: "invalid_request_error",
    when: "`svc/auto`: the request exceeds the context length of all suitable models.",
  },
  auto_routing_caching_unavailable: {
    status: 422,
    kind: "invalid_request_error",
    when: "`svc/auto`: the request uses `cache_control`, and no suitable model supports prompt caching.",
  },
  auto_routing_missing_context: {
    status: 422,
    kind: "invalid_request_error",
    when: "`svc/auto`: the request contains no user text from which a model could be chosen.",
  },
  provider_rate_limited: {
    status: 429,
    kind: "rate_limit_error",
    retryable: true,
    transient: true,
    when:
      "A rate limit is reached: that of the key (requests or tokens per minute) or that of the provider. Or the missing budget is only reserved by calls in progress (`reserved`).",
  },
  api_key_limit_exceeded: {
    status: 429,
    kind: "rate_limit_error",
    when:
      "The remaining spend limit does not cover the highest possible cost of the call. `reset_at` is the end of the period.",
  },
  internal_service_error: {
    status: 500,
    kind: "api_error",
    retryable: true,
    when: "Internal error of the gateway. The log has details under the id of the request.",
  },
  provider_unavailable: {
    status: 502,
    kind: "overloaded_error",
    retryable: true,
    transient: true,
    when:
      "The provider cannot be reached, failed, ended its answer early, or refused the gateway's own key or account.",
  },
  provider_model_down: {
    status: 502,
    kind: "overloaded_error",
    retryable: true,
    transient: true,
    when: "The provider does not serve the model at present, or is overloaded.",
  },
  service_unavailable: {
    status: 503,
    kind: "api_error",
    retryable: true,
    retryAfter: 1,
    when: "The gateway is overloaded or shutting down, or the database is needed and unavailable.",
  },
  circuit_breaker_open: {
    status: 503,
    kind: "api_error",
    retryable: true,
    retryAfter: "never",
    when: "All routes of the model failed too often recently.",
  },
  dlp_policy_unavailable: {
    status: 503,
    kind: "api_error",
    retryable: true,
    retryAfter: 5,
    when: "The DLP policy of the key or its team does not exist. The request was not executed.",
  },
  dlp_unavailable: {
    status: 503,
    kind: "invalid_request_error",
    retryAfter: "never",
    when: "The request has `plugins.dlp`, but data-loss prevention is disabled.",
  },
} as const satisfies Record<string, FailureRow>;

export type FailureCode = keyof typeof FAILURES;

/*
 * The beginning of messages about temporary failures. In a stream the status is 200, so agents decide by
 * words in the message whether to retry or to stop: `server error`, `premature end`, `connection error`,
 * `timed out`, `overloaded`, `rate limit`.
 */
export const NOT_AVAILABLE = "Server error: the provider of this model is not available.";
export const UNREACHABLE = "Connection error: the provider of this model cannot be reached.";
export const BROKE_OFF = "Server error, premature end: the provider's answer broke off";
export const TIMED_OUT = "The request timed out, the model did not answer in time";
const INTERNAL_FAULT = "Internal server error: the service met a fault of its own.";

/** One error in a request, as in `extra.errors`. `loc` is the path: names and indices. */
export interface Mistake {
  type: string;
  loc: (string | number)[];
  msg: string;
}

export interface FailureOptions {
  /** The invalid field as sent by the caller: `messages[2].content`. */
  param?: string;
  /** All errors of a `validation_error`; absent: one error, of the body field `param`. */
  errors?: readonly Mistake[];
  /** Further data for the caller: `extra` on chat-completions, `details` on messages and responses. Plain JSON. */
  details?: Record<string, unknown>;
  /** `Retry-After` in whole seconds. */
  retryAfter?: number;
  /** Response headers, in addition to those of every failure. */
  headers?: Readonly<Record<string, string>>;
  /**
   * For the operator's log, never sent to a caller: what to correct at the provider's account or in the
   * configuration.
   */
  operator?: string;
  /** The provider will repeat the failure until its account, key or model list is corrected. */
  lasting?: boolean;
  /** The cause is in this process, as if it can open no more files: it says nothing about the provider. */
  local?: boolean;
  /** The request exceeds a limit of this provider: another one may accept it, and this one never will. */
  elsewhere?: boolean;
  /** The provider had started to answer: a retry could produce, and bill, the answer twice. */
  begun?: boolean;
  /** The provider cannot read the proofs of earlier reasoning in the request. */
  refusesReasoning?: boolean;
  /** The request exceeds the model's context: token counts, as far as known. */
  overflow?: { tokens?: number; limit?: number };
  /** The underlying error. Never sent to a caller. */
  cause?: unknown;
}

/**
 * The single error of a request.
 * @param param such as `messages[2].content`; undefined: the whole body
 */
function alone(msg: string, param = ""): Mistake {
  const loc = param.split(/[.[\]]+/).filter(Boolean).map((step) => /^\d+$/.test(step) ? Number(step) : step);
  return { type: "value_error", loc, msg };
}

/**
 * A failure with an error code of the API. The message is sent to callers: it contains no secrets, addresses
 * or conversation text.
 */
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
  readonly local: boolean;
  readonly elsewhere: boolean;
  readonly begun: boolean;
  readonly refusesReasoning: boolean;
  readonly overflow?: { tokens?: number; limit?: number };

  constructor(code: FailureCode, message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.param = options.param;
    this.errors = options.errors ??
      (code === "validation_error" ? [alone(message, options.param)] : undefined);
    this.details = options.details;
    this.retryAfter = options.retryAfter;
    this.headers = options.headers;
    this.operator = options.operator;
    this.lasting = options.lasting ?? false;
    this.local = options.local ?? false;
    this.elsewhere = options.elsewhere ?? false;
    this.begun = options.begun ?? false;
    this.refusesReasoning = options.refusesReasoning ?? false;
    this.overflow = options.overflow;
  }

  get row(): FailureRow {
    return FAILURES[this.code];
  }

  /** The same failure with additional response headers. */
  with(headers: Readonly<Record<string, string>>): this {
    this.headers = { ...headers, ...this.headers };
    return this;
  }

  /** Converts any thrown value to a Failure. The message of other errors is withheld. */
  static from(thrown: unknown): Failure {
    if (thrown instanceof Failure) return thrown;
    return new Failure("internal_service_error", INTERNAL_FAULT, { cause: thrown });
  }
}
