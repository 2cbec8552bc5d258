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

export const REQUEST_HEADERS: readonly HeaderRow[] = [
  {
    name: "authorization",
    where: "`/v1`, `/admin`, `/metrics`",
    meaning: "`Bearer KEY`: an API key for `/v1`, the admin key for the others.",
  },
  {
    name: "x-api-key",
    where: "`/v1/messages`",
    meaning:
      "The API key, as clients of the messages format send it. Two different keys in one request are refused.",
  },
  {
    name: "x-svc-key",
    where: "`/v1`",
    meaning:
      "The API key, where the other headers carry the caller's own credential at a vendor (`pass_credentials` of a provider). " +
      "It counts alone; another key of Sluice beside it is refused.",
  },
  {
    name: "x-goog-api-key",
    where: "generations",
    meaning: "The caller's own credential at a provider of the Gemini API with `pass_credentials`.",
  },
  ...[
    "chatgpt-account-id",
    "openai-organization",
    "openai-project",
    "openai-beta",
    "originator",
    "version",
    "x-goog-user-project",
    "x-app",
    "user-agent",
  ].map((name) => ({
    name,
    where: "generations",
    meaning: "Passed on together with the caller's own credential, and otherwise left out.",
  })),
  {
    name: "host",
    where: "everywhere",
    meaning: "A host name and a port; anything else is refused with 422 `validation_error`.",
  },
  {
    name: "content-length",
    where: "routes with a body",
    meaning: "A length over `server.max_body_bytes` is refused before the body is read.",
  },
  {
    name: "content-encoding",
    where: "routes with a body",
    meaning: "`gzip` and `deflate` are read; bounds hold for the body as it was before.",
  },
  {
    name: "anthropic-*",
    where: "`/v1/messages`",
    meaning:
      "Passed on to providers of the messages API. A list in `anthropic-beta` is joined with that of the provider's " +
      "`headers`; names with `workspace`, `organization` or `account` are left out, because they choose who pays.",
  },
  {
    name: "x-svc-tags",
    where: "generations",
    meaning:
      "Tags of the call: `name=value, …`, at most 8, names of letters, digits and `_.:/-`, values of printable ASCII without " +
      "commas, 64 characters each. They stand in the record, and usage can be summed by them. Without it `metadata` and " +
      "`user` of the body count.",
  },
  {
    name: "x-svc-repair",
    where: "generations",
    meaning:
      "`true`: arguments of tool calls that do not parse, or are of other kinds than declared, are mended.",
  },
  {
    name: "x-svc-resume",
    where: "generations",
    meaning:
      "`true`: the stream is kept for some minutes after its end, and every event has an `id:`, so that a client whose connection broke goes on with `GET /v1/generations/{id}/stream`. `false`: it is not, whatever the key's `resume_seconds` says. Anything else is refused with 422.",
  },
  {
    name: "idempotency-key",
    where: "generations with `x-svc-resume: true`, or whose key has `resume_seconds`",
    meaning:
      "1 to 255 characters: the same request with the same value joins the generation that the first one began, and is not billed again. Another request with it is refused with 422.",
  },
  {
    name: "last-event-id",
    where: "`/v1/generations/{id}/stream`",
    meaning: "Id of the last event that was received; the stream goes on behind it.",
  },
  {
    name: "x-svc-join",
    where: "generations",
    meaning:
      "`true` beside `x-svc-resume: true`: the same request of the same session joins the generation that it began before, unless that " +
      "has failed. For agents that repeat a request when a connection broke and send no `Idempotency-Key`.",
  },
  {
    name: "x-svc-hold",
    where: "streamed generations of the chat-completions format",
    meaning:
      "`true`: the stream is held back until all of it is there, and then is one event; meanwhile comments keep it alive. " +
      "For clients that give up an answer whose connection breaks once it has begun, and ask again where nothing has come.",
  },
  {
    name: "x-svc-session",
    where: "generations",
    meaning:
      "Session that the call belongs to, 1 to 128 printable ASCII characters without spaces. Without it the headers of coding agents below count, " +
      "then the session in Claude Code's `metadata.user_id`, then `prompt_cache_key`.",
  },
  { name: "x-claude-code-session-id", where: "generations", meaning: "Session of Claude Code." },
  ...["session-id", "session_id", "conversation_id"].map((name) => ({
    name,
    where: "generations",
    meaning: "Session of Codex.",
  })),
  { name: "x-session-id", where: "generations", meaning: "Session of other clients." },
  ...["x-opencode-session", "x-session-affinity"].map((name) => ({
    name,
    where: "generations",
    meaning: "Session of opencode.",
  })),
  {
    name: "accept",
    where: "`/admin/usage`, `/admin/generations`",
    meaning: "`text/csv` asks for CSV instead of JSON.",
  },
  {
    name: "if-none-match",
    where: "`/docs`, `/openapi.json`, `/config.schema.json`",
    meaning: "Answered with 304 if nothing has changed.",
  },
  {
    name: "origin",
    where: "everywhere",
    meaning: "Gets CORS headers back if `server.cors_origins` has it.",
  },
  {
    name: "access-control-request-method",
    where: "`OPTIONS`",
    meaning: "Marks a browser's preflight request.",
  },
  {
    name: "access-control-request-headers",
    where: "`OPTIONS`",
    meaning:
      "Headers that a browser's page wants to send; all are allowed to origins of `server.cors_origins`.",
  },
  {
    name: "cookie",
    where: "`/admin/…`, `/console/…`, `/metrics`",
    meaning:
      "`sluice_session`, over HTTPS `__Host-sluice_session`: the session that `POST /console/session` began.",
  },
  {
    name: "x-svc-csrf",
    where: "`/admin/…`, `/console/session`",
    meaning: "Value `csrf` of `GET /console/session`; requests that change something by cookie must have it.",
  },
  {
    name: "sec-fetch-site",
    where: "`/admin/…`, `/console/session`",
    meaning: "Tells a browser's requests of other origins, which cannot use the session.",
  },
  {
    name: "origin",
    where: "`/admin/…`, `/console/session`",
    meaning: "The same of browsers that do not send `sec-fetch-site`, as over plain HTTP.",
  },
  {
    name: "x-forwarded-proto",
    where: "`/console/…`, `/admin/…`",
    meaning: "`https` of a proxy of `server.trusted_proxies`: the session's cookie is for HTTPS alone.",
  },
  ...["forwarded", "x-forwarded-for", "x-real-ip"].map((name) => ({
    name,
    where: "`/metrics`",
    meaning:
      "Says that the request came through a proxy, so that it is not from the own machine, whatever its address is.",
  })),
  {
    name: "traceparent",
    where: "generations",
    meaning: "The caller's trace (W3C Trace Context), which that of the generation continues.",
  },
  {
    name: "tracestate",
    where: "generations with `traceparent`",
    meaning:
      "What vendors keep in the trace: handed on to providers with `trace_context`, up to 512 characters.",
  },
];

export const ANSWER_HEADERS: readonly HeaderRow[] = [
  {
    name: "set-cookie",
    where: "`/console/session`, `/admin/…`",
    meaning: "The console's session, and its renewal while it is used.",
  },
  {
    name: "x-svc-store",
    where: "`/admin/…`",
    meaning:
      "`up`, or `away` while the store cannot be asked: lists then hold what the process knows by itself.",
  },
  {
    name: "x-request-id",
    where: "every answer",
    meaning: "Id of the request; for a generation the `id` of its record.",
  },
  {
    name: "request-id",
    where: "every answer",
    meaning: "The same id, under the name that clients of the messages format read.",
  },
  { name: "x-svc-route", where: "answers of `svc/auto`", meaning: "The model that was chosen, and why." },
  {
    name: "x-svc-model",
    where: "answers of `/v1/messages` to a short name",
    meaning: "Catalog id of the model that answers. Claude Code has the short name in the answer itself.",
  },
  {
    name: "x-svc-dropped",
    where: "generations",
    meaning:
      "Fields of the request that the provider's API or model has no place for and that were left out, and numbers that were " +
      "cut to what it takes. A field inside of another has the names of both, without places in lists: `messages.name`. " +
      "`tools.strict` and `….strict` of the answer's schema: it was sent without `strict`, because the provider does not take the schema so.",
  },
  { name: "x-svc-dlp-mode", where: "screened generations", meaning: "`alert`, `mask` or `block`." },
  { name: "x-svc-dlp-findings", where: "screened generations", meaning: "How many findings there were." },
  {
    name: "x-svc-dlp-unscanned",
    where: "screened generations",
    meaning: "How many parts of the request could not be looked at. Absent: none.",
  },
  {
    name: "x-should-retry",
    where: "failures",
    meaning: "`false`: the same request will fail again. Official clients obey it.",
  },
  {
    name: "retry-after",
    where: "failures",
    meaning: "Whole seconds to wait before another try. Which codes have it is in [Error codes](errors.md).",
  },
  ...["requests", "tokens"].flatMap((kind) => [
    {
      name: `x-ratelimit-limit-${kind}`,
      where: "generations of keys with a rate limit",
      meaning: `The key's ${kind} a minute.`,
    },
    { name: `x-ratelimit-remaining-${kind}`, where: "the same", meaning: `The ${kind} left of them.` },
    {
      name: `x-ratelimit-reset-${kind}`,
      where: "the same",
      meaning: "Seconds until all are there again, as `12s`.",
    },
  ]),
  ...["requests", "tokens"].flatMap((kind) => [
    {
      name: `anthropic-ratelimit-${kind}-limit`,
      where: "the same, on `/v1/messages`",
      meaning: `The key's ${kind} a minute.`,
    },
    {
      name: `anthropic-ratelimit-${kind}-remaining`,
      where: "the same, on `/v1/messages`",
      meaning: `The ${kind} left of them.`,
    },
    {
      name: `anthropic-ratelimit-${kind}-reset`,
      where: "the same, on `/v1/messages`",
      meaning: "When all are there again, as RFC 3339 time.",
    },
  ]),
  {
    name: "x-svc-repaired",
    where: "whole answers to requests with `x-svc-repair`",
    meaning: "How many calls have arguments that were mended. Of streams, the record says it.",
  },
  {
    name: "x-svc-resume",
    where: "streams that are kept",
    meaning:
      "For how many seconds after its end the stream can be resumed. `unavailable`: it was asked for, and cannot be kept now.",
  },
  {
    name: "x-svc-joined",
    where: "generations with `Idempotency-Key`",
    meaning: "`true`: the answer is that of the generation that an earlier request began.",
  },
  { name: "allow", where: "405, `OPTIONS`", meaning: "Methods that the address takes." },
  {
    name: "x-next-cursor",
    where: "lists as CSV",
    meaning: "The `cursor` of the next page. Absent: there is none.",
  },
  {
    name: "x-incomplete-before",
    where: "usage as CSV or lines of JSON",
    meaning:
      "Records before this time may be missing, as `incomplete_before` of the JSON says. Absent: none is.",
  },
  {
    name: "x-accel-buffering",
    where: "streams",
    meaning: "`no`: tells nginx not to hold the stream back.",
  },
  {
    name: "etag",
    where: "`/docs`, `/openapi.json`, `/config.schema.json`",
    meaning: "Version of the document, for `if-none-match`.",
  },
  {
    name: "content-security-policy",
    where: "`/docs`, `/console`",
    meaning: "What the page may load and run.",
  },
  { name: "x-content-type-options", where: "`/docs`, `/console`", meaning: "`nosniff`." },
  { name: "x-frame-options", where: "`/console`", meaning: "`DENY`: no other page may show it in a frame." },
  ...["allow-origin", "expose-headers", "allow-methods", "allow-headers", "max-age"].map((name) => ({
    name: `access-control-${name}`,
    where: "answers to origins of `server.cors_origins`",
    meaning: "As [CORS](https://fetch.spec.whatwg.org/#http-cors-protocol) has it.",
  })),
  { name: "vary", where: "the same", meaning: "`origin`." },
];

/** Headers of webhook requests. */
export const WEBHOOK_HEADERS: readonly HeaderRow[] = [
  {
    name: "x-svc-signature",
    where: "events",
    meaning: "`sha256=` and the HMAC-SHA256 of the body under the webhook's `secret`, in hexadecimal digits.",
  },
  { name: "x-svc-event", where: "events", meaning: "Type of the event, like `budget.80`." },
  { name: "x-svc-delivery", where: "events", meaning: "Id of the event; the same when it is told again." },
];

/** Headers exposed to pages of other origins (CORS), in addition to those that browsers always expose. */
export const EXPOSED_HEADERS: readonly string[] = ANSWER_HEADERS.map((row) => row.name)
  .filter((name) =>
    /^(?:x-(?:svc|request|ratelimit|should)|request-id|anthropic-ratelimit|retry-after)/.test(name)
  );
