/**
 * All headers with a meaning for callers: those that Sluice reads in requests, and those that it adds to
 * answers. In code, names are written as literals; a test finds names missing here. The manual's page and the
 * CORS list of exposed headers are generated from these rows.
 */
export interface HeaderRow {
  name: string;
  /** Requests or answers in which it is used. */
  where: string;
  /** Description in Markdown. */
  meaning: string;
}

/** Headers in which Codex names its session. */
const CODEX_SESSION = ["session-id", "session_id", "conversation_id"];

/** Headers that belong to a caller's own credential: vendors use them to select an account, or to check the client of a subscription. */
export const COMPANIONS: readonly string[] = [
  ...("chatgpt-account-id openai-organization openai-project openai-beta originator version thread-id " +
    "x-client-request-id x-goog-user-project x-app user-agent").split(" "),
  ...CODEX_SESSION,
];

/**
 * The first characters of further ones. Codex names the form of its request in
 * `x-openai-internal-codex-responses-lite`, and its turn in `x-codex-turn-state`.
 */
export const COMPANION_FAMILIES: readonly string[] = ["x-codex-", "x-openai-"];

export const REQUEST_HEADERS: readonly HeaderRow[] = [
  {
    name: "authorization",
    where: "`/v1`, `/admin`, `/metrics`",
    meaning:
      "`Bearer KEY`. For `/v1`: an API key. For `/admin` and `/metrics`: the admin key or an administration token.",
  },
  {
    name: "x-api-key",
    where:
      "`/v1/messages`; with `anthropic-version` also `/v1/models`, `/v1/key`, `/v1/estimate` and `/v1/generations`",
    meaning:
      "The API key, as clients of the messages format send it. A request with two different keys is refused.",
  },
  {
    name: "x-svc-key",
    where: "`/v1`",
    meaning:
      "The API key, if the other headers contain the caller's own credential at a provider (`pass_credentials`). Only this header is then used as the API key; a different Sluice key in another header is refused.",
  },
  {
    name: "x-goog-api-key",
    where: "generations",
    meaning: "The caller's own credential at a provider of the Gemini API with `pass_credentials`.",
  },
  {
    name: "api-key",
    where: "generations",
    meaning: "The caller's own credential at an Azure provider with `pass_credentials`.",
  },
  {
    name: "originator",
    where: "generations",
    meaning:
      "If it begins with `codex`, refusals in the responses format have status 400 instead of 402, 403, 413 and 422, which Codex repeats. Sent to the provider together with the caller's own credential; without one, not sent.",
  },
  ...[
    ...COMPANIONS.filter((name) => name !== "originator" && !CODEX_SESSION.includes(name)),
    ...COMPANION_FAMILIES.map((start) => `${start}*`),
  ].map((name) => ({
    name,
    where: "generations",
    meaning: "Sent to the provider together with the caller's own credential; without one, not sent.",
  })),
  {
    name: "host",
    where: "everywhere",
    meaning:
      "Must be a host name, with or without a port; other values are refused with 422 `validation_error`.",
  },
  {
    name: "content-length",
    where: "routes with a body",
    meaning: "A body that is larger than `server.max_body_bytes` is refused before it is read.",
  },
  {
    name: "content-encoding",
    where: "routes with a body",
    meaning:
      "`gzip` (also as `x-gzip`), `deflate`, `br` and `zstd` are supported. The size limits apply to the decompressed body.",
  },
  {
    name: "anthropic-*",
    where: "`/v1/messages`",
    meaning:
      "Sent to providers of the messages API. The values of `anthropic-beta` are merged with those of the provider's `headers`. Names that contain `workspace`, `organization` or `account` are not sent, because they select the account that pays.",
  },
  {
    name: "x-svc-tags",
    where: "generations",
    meaning:
      "Tags of the call: `name=value, …`. At most 8; names consist of letters, digits and `_.:/-`, values of printable ASCII without commas; at most 64 characters each. They are stored in the record, and usage can be grouped by them. Without this header, `metadata` and `user` of the body are used.",
  },
  {
    name: "x-svc-repair",
    where: "generations",
    meaning:
      "`true`: arguments of tool calls that are not valid JSON, or that have other types than declared, are repaired. `false`, or no header: only if the key has `repair`. Other values are refused with 422.",
  },
  {
    name: "x-svc-resume",
    where: "generations",
    meaning:
      "`true`: the stream is stored, and every event has an `id:`. A client whose connection broke continues it with `GET /v1/generations/{id}/stream`, for some minutes after its end. `false`: the stream is not stored, whatever the key's `resume_seconds` is. Other values are refused with 422.",
  },
  {
    name: "idempotency-key",
    where: "generations with `x-svc-resume: true`, or whose key has `resume_seconds`",
    meaning:
      "1 to 255 characters. The same request with the same value joins the generation of the first request and is not billed again. A different request with the same value is refused with 422.",
  },
  {
    name: "last-event-id",
    where: "`/v1/generations/{id}/stream`",
    meaning: "Id of the last event that the client received; the stream continues after it.",
  },
  {
    name: "x-svc-join",
    where: "generations",
    meaning:
      "`true`, together with `x-svc-resume: true`: an identical request of the same session joins the earlier generation, unless that has failed. For agents that repeat a request after a broken connection without an `Idempotency-Key`. Values other than `true` and `false` are refused with 422.",
  },
  {
    name: "x-svc-hold",
    where: "streamed generations of the chat-completions format",
    meaning:
      "`true`: the whole stream is sent as one event when it is complete; until then, comments keep the connection alive. For clients that repeat a request only if nothing of its answer has arrived. Values other than `true` and `false` are refused with 422.",
  },
  {
    name: "x-svc-session",
    where: "generations",
    meaning:
      "Session of the call: 1 to 128 printable ASCII characters without spaces. Without this header, the headers of coding agents below are used, then the session in Claude Code's `metadata.user_id`, then `prompt_cache_key`.",
  },
  { name: "x-claude-code-session-id", where: "generations", meaning: "Session, as Claude Code sends it." },
  ...CODEX_SESSION.map((name) => ({
    name,
    where: "generations",
    meaning: "Session, as Codex sends it. Sent to the provider together with the caller's own credential.",
  })),
  { name: "x-session-id", where: "generations", meaning: "Session, as other clients send it." },
  ...["x-opencode-session", "x-session-affinity"].map((name) => ({
    name,
    where: "generations",
    meaning: "Session, as opencode sends it.",
  })),
  {
    name: "accept",
    where: "lists of keys, usage, generations and the audit log below `/admin`",
    meaning: "`text/csv`: the list as CSV. `application/x-ndjson`: as lines of JSON.",
  },
  {
    name: "if-none-match",
    where: "`/docs`, `/openapi.json`, `/config.schema.json`",
    meaning: "If the document still has this `etag`, the answer is 304 without a body.",
  },
  {
    name: "origin",
    where: "everywhere",
    meaning: "If the origin is one of `server.cors_origins`, the answer has CORS headers.",
  },
  {
    name: "access-control-request-method",
    where: "`OPTIONS`",
    meaning: "Identifies a preflight request of a browser.",
  },
  {
    name: "access-control-request-headers",
    where: "`OPTIONS`",
    meaning:
      "Headers that the page wants to send. All are permitted for the origins in `server.cors_origins`.",
  },
  {
    name: "cookie",
    where: "`/admin/…`, `/console/…`, `/metrics`",
    meaning:
      "`sluice_session`, over HTTPS `__Host-sluice_session`: the session that `POST /console/session` started.",
  },
  {
    name: "x-svc-csrf",
    where: "`/admin/…`, `/console/session`",
    meaning:
      "The value `csrf` of `GET /console/session`. Required for requests that change something with the cookie.",
  },
  {
    name: "sec-fetch-site",
    where: "`/admin/…`, `/console/session`",
    meaning: "Identifies requests of pages of other origins, which cannot use the session.",
  },
  {
    name: "origin",
    where: "`/admin/…`, `/console/session`",
    meaning: "The same for browsers that do not send `sec-fetch-site`, for example over plain HTTP.",
  },
  {
    name: "x-forwarded-proto",
    where: "`/console/…`, `/admin/…`",
    meaning:
      "`https`, from a proxy in `server.trusted_proxies`: the cookie of the session gets the attribute `Secure`.",
  },
  ...["forwarded", "x-forwarded-for", "x-real-ip"].map((name) => ({
    name,
    where: "`/metrics`",
    meaning:
      "Shows that the request came through a proxy. It is then not treated as a request from the same machine.",
  })),
  {
    name: "traceparent",
    where: "generations",
    meaning: "The caller's trace (W3C Trace Context). The trace of the generation continues it.",
  },
  {
    name: "tracestate",
    where: "generations with `traceparent`",
    meaning: "Vendor data of the trace, up to 512 characters. It is sent to providers with `trace_context`.",
  },
  ...["b3", "x-b3-traceid", "x-b3-spanid", "x-b3-sampled", "x-b3-flags"].map((name) => ({
    name,
    where: "generations, with `OTEL_PROPAGATORS`",
    meaning:
      "The caller's trace in the format of Zipkin (B3), if `OTEL_PROPAGATORS` contains `b3` or `b3multi`.",
  })),
  {
    name: "baggage",
    where: "generations, with `OTEL_PROPAGATORS`",
    meaning:
      "W3C Baggage, up to 8192 characters. It is sent to providers with `trace_context` if `OTEL_PROPAGATORS` contains `baggage`.",
  },
];

export const ANSWER_HEADERS: readonly HeaderRow[] = [
  {
    name: "set-cookie",
    where: "`/console/session`, `/admin/…`",
    meaning: "The cookie of the console session. It is renewed while the session is in use.",
  },
  {
    name: "x-svc-store",
    where: "`/admin/…`",
    meaning:
      "`up`, or `away` while the store is unavailable. Lists then contain only the data of this process.",
  },
  {
    name: "x-request-id",
    where: "every answer",
    meaning: "Id of the request. For a generation, it is the `id` of its record.",
  },
  {
    name: "request-id",
    where: "every answer",
    meaning: "The same id under the name that clients of the messages format use.",
  },
  {
    name: "x-svc-route",
    where: "answers of `svc/auto`",
    meaning: "The model that was chosen, and the reason.",
  },
  {
    name: "x-svc-model",
    where: "answers of `/v1/messages` to a short name",
    meaning: "Catalog id of the model that answered. For Claude Code, the body has the short name instead.",
  },
  {
    name: "x-svc-dropped",
    where: "generations",
    meaning:
      "Fields of the request that were not sent because the provider's API or the model does not support them, and numbers that were reduced to the supported maximum. A nested field has the names of both levels, without list indexes: `messages.name`. `tools.strict` and `….strict` of an answer schema: the schema was sent without `strict`, because the provider does not accept it in strict mode.",
  },
  { name: "x-svc-dlp-mode", where: "screened generations", meaning: "The mode: `alert`, `mask` or `block`." },
  { name: "x-svc-dlp-findings", where: "screened generations", meaning: "Number of findings." },
  {
    name: "x-svc-dlp-unscanned",
    where: "screened generations",
    meaning: "Number of parts of the request that could not be scanned. Absent: none.",
  },
  {
    name: "x-should-retry",
    where: "failures",
    meaning: "`false`: the same request would fail again. The vendors' SDKs obey this header.",
  },
  {
    name: "retry-after",
    where: "failures",
    meaning:
      "Time to wait before a retry, in whole seconds. [Error codes](errors.md) shows which codes have it.",
  },
  ...["requests", "tokens"].flatMap((kind) => [
    {
      name: `x-ratelimit-limit-${kind}`,
      where: "generations of keys with a rate limit",
      meaning: `The limit of the key, in ${kind} per minute.`,
    },
    {
      name: `x-ratelimit-remaining-${kind}`,
      where: "the same",
      meaning: `The remaining ${kind} of the limit.`,
    },
    {
      name: `x-ratelimit-reset-${kind}`,
      where: "the same",
      meaning: "Time until the whole limit is available again, such as `12s`.",
    },
  ]),
  ...["requests", "tokens"].flatMap((kind) => [
    {
      name: `anthropic-ratelimit-${kind}-limit`,
      where: "the same, on `/v1/messages`",
      meaning: `The limit of the key, in ${kind} per minute.`,
    },
    {
      name: `anthropic-ratelimit-${kind}-remaining`,
      where: "the same, on `/v1/messages`",
      meaning: `The remaining ${kind} of the limit.`,
    },
    {
      name: `anthropic-ratelimit-${kind}-reset`,
      where: "the same, on `/v1/messages`",
      meaning: "Time at which the whole limit is available again, in RFC 3339 format.",
    },
  ]),
  {
    name: "x-svc-repaired",
    where: "answers that are not streamed, to requests with repair",
    meaning: "Number of tool calls whose arguments were repaired. For streams, the record has it.",
  },
  {
    name: "x-svc-resume",
    where: "resumable streams",
    meaning:
      "Number of seconds after its end for which the stream can be resumed. `unavailable`: the request asked for it, but the stream cannot be stored at present.",
  },
  {
    name: "x-svc-joined",
    where: "generations with `Idempotency-Key` or `x-svc-join`",
    meaning: "`true`: the answer belongs to the generation of an earlier request.",
  },
  { name: "allow", where: "405, `OPTIONS`", meaning: "Methods that the route supports." },
  {
    name: "x-next-cursor",
    where: "lists as CSV",
    meaning: "The `cursor` of the next page. Absent: this is the last page.",
  },
  {
    name: "x-incomplete-before",
    where: "usage as CSV or lines of JSON",
    meaning:
      "Records before this time may be missing, like `incomplete_before` in JSON. Absent: the list is complete.",
  },
  {
    name: "x-accel-buffering",
    where: "streams",
    meaning: "`no`: tells nginx not to buffer the stream.",
  },
  {
    name: "etag",
    where: "`/docs`, `/openapi.json`, `/config.schema.json`",
    meaning: "Version of the document, for `if-none-match`.",
  },
  {
    name: "content-security-policy",
    where: "`/docs`, `/console`",
    meaning: "Content that the page may load and run.",
  },
  { name: "x-content-type-options", where: "`/docs`, `/console`", meaning: "`nosniff`." },
  { name: "x-frame-options", where: "`/console`", meaning: "`DENY`: other pages cannot show it in a frame." },
  ...["allow-origin", "expose-headers", "allow-methods", "allow-headers", "max-age"].map((name) => ({
    name: `access-control-${name}`,
    where: "answers to origins of `server.cors_origins`",
    meaning: "See [CORS](https://fetch.spec.whatwg.org/#http-cors-protocol).",
  })),
  { name: "vary", where: "the same", meaning: "`origin`." },
];

/** Headers of webhook requests. */
export const WEBHOOK_HEADERS: readonly HeaderRow[] = [
  {
    name: "x-svc-signature",
    where: "events",
    meaning: "`sha256=` and the HMAC-SHA256 of the body with the webhook's `secret`, in hexadecimal digits.",
  },
  { name: "x-svc-event", where: "events", meaning: "Type of the event, such as `budget.80`." },
  { name: "x-svc-delivery", where: "events", meaning: "Id of the event. A retry has the same id." },
];

/** Headers exposed to pages of other origins (CORS), in addition to those that browsers always expose. */
export const EXPOSED_HEADERS: readonly string[] = ANSWER_HEADERS.map((row) => row.name)
  .filter((name) =>
    /^(?:x-(?:svc|request|ratelimit|should)|request-id|anthropic-ratelimit|retry-after)/.test(name)
  );
