/**
 * Converts a provider's error response to a Failure, by its content and not by provider.
 *
 * One function serves all APIs, because compatible providers mix the forms: `error` is an object or a string,
 * `code` a string, number or null, there is only `detail`, an array around it, or HTML of a proxy. If a
 * provider rejects our key or account, callers get an unavailable provider, and the operator a log line.
 */
import { contextOverflow } from "../../exchange/context_overflow.ts";
import { BROKE_OFF, Failure, type FailureCode, NOT_AVAILABLE, TIMED_OUT } from "../../exchange/failure.ts";
import { array, isObject, type Loose, number, object, parse, string } from "../../exchange/json.ts";
import { decodeOverflow } from "./decode_overflow.ts";
import { delaySeconds, hintedSeconds, resetSeconds, retrySeconds } from "./decode_retry_after.ts";

interface FailedReply {
  status: number;
  header(name: string): string | null;
  /** The body's text, possibly truncated. */
  text: string;
}

/** The information in a provider's error. Empty strings if missing. */
interface Complaint {
  message: string;
  /** Code, type, status and reason, lower case, separated by spaces. */
  codes: string;
  param?: string;
  /** From the body, in seconds. */
  retryAfter?: number;
  /** Headers that the body repeats; names in lower case. */
  headers?: Loose;
  /** The status in the body, if the HTTP status is 200. */
  status?: number;
  /** AWS: the status of the model's server, which the error passes on. */
  original?: number;
}

const OUR_KEY =
  /invalid[_ -]api[_ -]key|incorrect api key|api[_ ]key[_ ](?:not[_ ]valid|invalid)|no api key|invalid x-api-key|authentication_error|unauthenticated|permission_denied|permission_error|access denied|account_deactivated/;
/** Not the word "billing" alone: Gemini mentions billing details whenever a per-minute rate is exceeded. */
const OUR_ACCOUNT =
  /insufficient_quota|insufficient balance|servicequotaexceeded|billing_\w|billing (?:hard limit|not active)|credit balance|payment required|quota exceeded for this account|user location is not supported|unsupported_country|not allowed from unsupported countries|exceeded_current_quota|blocked_api_access|organization_restricted|organization has been (?:disabled|restricted)|\baccount\b.{0,80} (?:is|has been) (?:suspended|disabled|deactivated)|spend(?:ing)? limit|validationexception operation not allowed$/;
/** Codes for an invalid field, whose name may match the patterns below (`safety_identifier`). */
const BAD_FIELD =
  /\b(?:string_above_max_length|unsupported_parameter|unsupported_value|unknown_parameter|invalid_value|invalid_type|missing_required_parameter)\b/;
const MODERATION =
  /content[_ ]?(?:policy|filter)|moderation|flagged|safety (?:system|filter|polic|reason)|safety_check|usage guidelines|unsafe|prohibited_content|responsibleaipolicy|content management policy|blocked by|data_?inspection_?failed|content exists risk|sensitivecontentdetected/;
/** One request needs more tokens than the account may use in a minute: OpenAI (429), Groq (413). */
const ABOVE_RATE = /request too large\b.{0,300}\btokens per (?:min|hour|day)/s;
/** Too large for a reason other than tokens. */
const TOO_LARGE = /request_too_large|payload size exceeds/;
/** A text with too many characters. May also concern a user name. */
const LONG_TEXT = /string_above_max_length/;
const CONVERSATION = /^(?:messages|input|instructions|system)\b/;
/**
 * The error type of llama.cpp and LM Studio for context overflows; errors of other servers may mention a
 * context too.
 */
const CONTEXT_AS_FAULT =
  /context size has been exceeded|available context size|greater than the context length/;
const NO_MODEL =
  /model_not_found|model_not_supported|model_not_available|model_not_active|model_decommissioned|model_terms_required|unavailable_model|not supported by any provider|not supported on this route|isn't supported on this route|does not work with the specified model|not a valid model id|non-serverless model|failed to load model|deploymentnotfound|model .{0,80}(?:does not exist|not found|is not found|not supported for)|not_found_error|unknown model|invalid model|model identifier is invalid|could not resolve the foundation model|with on-demand throughput/;
/** Nothing, nothing for POST, or a model that was removed. */
const NOT_THERE: ReadonlySet<number> = new Set([404, 405, 410]);
/** A referenced object is missing, not the model. */
const NO_SUCH_THING = /\b(?:file|item|image|container|previous response)\b.{0,100}\bnot found\b/;
const OVERLOADED =
  /overloaded|server_is_overloaded|slow_down|capacity|model_unavailable|currently unavailable|unavailable/;
const RATE = /rate[_ ]?limit|resource_exhausted|too_many_requests|too many requests/;
/** Codes that mean a rate limit or an overload whatever the status: some servers send all of their errors as 400. */
const RATE_CODE =
  /throttl|rate_?limit(?:ed|_exceeded|_error|_reached)?\b|too_?many_?requests|token_quota_exceeded/;
const OVERLOAD_CODE =
  /overloaded|slow_down|capacity_exceeded|\b(?:service_?|model_|server_)?unavailable(?:_error|exception)?\b/;
/** The same without a code. AWS speaks of too many tokens when it limits their rate. */
const RATE_WORDS = /too many (?:requests|tokens)(?: per \w+)?, please wait|too many tokens processed/;
const OVERLOAD_WORDS =
  /\b(?:model|engine|server|service) is (?:currently |temporarily )?(?:overloaded|at capacity|too busy)/;
/** Groq's status when `flex` has no capacity. Other providers use it for other errors. */
const NO_FLEX = 498;
/** A signature or encrypted text of another vendor, account or region, or without what belonged to it. */
const UNREADABLE_REASONING =
  /invalid_encrypted_content|thinking_signature_invalid|encrypted.?content.{0,200}(?:could not be|cannot be|invalid|decrypt)|decrypt.{0,60}encrypted.?content|invalid `?signature`?.{0,20}thinking|invalid `?data`? in `?redacted_thinking|thinking.{0,80}cannot be modified|thought.?signature.{0,40}(?:not valid|invalid|corrupt)|corrupted thought.?signature|of type 'reasoning' was provided without|item with id 'rs_[^']{0,120}' not found/;
const TIMEOUT = /timeout|timed out|deadline/;

/** The Failure of a response with a status other than 2xx. */
export function decodeFailure(reply: FailedReply): Failure {
  const complaint = readComplaint(parse(reply.text));
  // AWS puts the error type in a header, `ThrottlingException:http://…`.
  const named = reply.header("x-amzn-errortype")?.split(":", 1)[0];
  if (named) complaint.codes = words(complaint.codes, named);
  const status = complaint.original ?? reply.status;
  const retryAfter = retrySeconds(reply.header) ?? complaint.retryAfter ??
    (status === 429 ? resetOf(complaint, reply.header) : undefined);
  return classify(status, complaint, retryAfter);
}

/** The Failure of an error after a successful status: in a stream, or as the whole body. */
export function decodeLateFailure(error: unknown): Failure {
  const complaint = readComplaint(error);
  const status = complaint.original ?? complaint.status ?? 0;
  const retryAfter = complaint.retryAfter ?? (status === 429 ? resetOf(complaint) : undefined);
  return classify(status, complaint, retryAfter);
}

/** The time at which a rate limit is whole again. */
function resetOf({ headers }: Complaint, header: FailedReply["header"] = () => null): number | undefined {
  return resetSeconds((name) => header(name) ?? text(headers?.[name]), Date.now());
}

function text(value: unknown): string | null {
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}

/** Maximum number of choices in an answer; APIs return at most some hundred. */
export const MOST_CHOICES = 1024;

/** The failure for an answer with more choices than could have been requested. */
export function tooManyChoices(): Failure {
  return brokenAnswer(`it holds more than ${MOST_CHOICES} choices`);
}

/** A stream that ended without its end marker, or an invalid body. */
export function brokenAnswer(what: string): Failure {
  return new Failure("provider_unavailable", `${BROKE_OFF}: ${what}.`, { begun: true });
}

/**
 * An answer that the provider ended because of a mistake of the model, such as a tool call that cannot be
 * parsed. Another attempt usually succeeds.
 * @param word the provider's finish reason
 */
export function unusableAnswer(word: string): Failure {
  return new Failure("provider_model_down", "Server error: the model's answer cannot be used.", {
    operator: `the model's answer cannot be used: ${word.toLowerCase().slice(0, 60)}`,
  });
}

/** Tool input that arrived as a value, as JSON text. Throws {@link brokenAnswer}. */
export function inputText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // V8 parses any depth, but JSON.stringify is recursive.
    throw brokenAnswer("a tool's input is nested too deeply");
  }
}

/** A call's arguments: some servers write an object where their API has a text of JSON, or a text where it has an object. */
export function argumentText(value: unknown): string | undefined {
  return typeof value === "string" ? value : isObject(value) ? inputText(value) : undefined;
}

/** Errors about the request keep the provider's message; others get ours. */
function classify(status: number, c: Complaint, retryAfter: number | undefined): Failure {
  const lowerCase = `${c.codes} ${c.message}`.toLowerCase();
  const withMessage = (code: FailureCode, fallback: string) =>
    new Failure(code, clean(c.message.replace(ARNS, "[withheld]")) || fallback, {
      param: code === "provider_bad_request" ? c.param : undefined,
      elsewhere: code === "provider_payload_too_large",
    });
  const tooLarge = () =>
    withMessage("provider_payload_too_large", "The request is larger than the provider accepts.");
  const withoutMessage = (
    code: FailureCode,
    message: string,
    why: string,
    { lasting = false, elsewhere = false } = {},
  ) =>
    new Failure(code, message, {
      retryAfter,
      // Without the message: some providers repeat the request in it.
      operator: `${why} (status ${status})${codeWords(c.codes)}`,
      lasting,
      elsewhere,
    });
  const unavailable = (why: string, lasting = false) =>
    withoutMessage("provider_unavailable", NOT_AVAILABLE, why, { lasting });

  const mayBeRequest = status === 0 || status === 400 || status === 413 || status === 422;
  if (status >= 300 && status < 400) {
    return unavailable("the provider redirects, which is not followed: look at its base_url", true);
  }
  const isAboveRate = (mayBeRequest || status === 429) && ABOVE_RATE.test(lowerCase);
  if (isAboveRate && status === 413) return tooLarge();
  const isRate = mayBeRequest && (isAboveRate || RATE_CODE.test(c.codes) || RATE_WORDS.test(lowerCase));
  const overflow = (mayBeRequest && !isRate) || (status === 500 && CONTEXT_AS_FAULT.test(lowerCase))
    ? decodeOverflow(lowerCase)
    : undefined;
  if (overflow) return contextOverflow(overflow);
  const longText = LONG_TEXT.test(lowerCase) && CONVERSATION.test(c.param ?? "messages");
  if (mayBeRequest && (longText || TOO_LARGE.test(lowerCase))) {
    return tooLarge();
  }
  if (status === 413) {
    return tooLarge();
  }
  if (OUR_ACCOUNT.test(lowerCase) || status === 402) {
    return unavailable("the provider refuses our account", true);
  }
  if (status === 401) return unavailable("the provider refuses our key", true);
  if (status === 407) return unavailable("the proxy refuses the credentials", true);
  if (status === 403) {
    return MODERATION.test(lowerCase)
      ? withMessage("provider_forbidden", "The provider refused the content.")
      : unavailable("the provider refuses our key", true);
  }
  if ((mayBeRequest || status === 404) && UNREADABLE_REASONING.test(lowerCase)) {
    return new Failure("provider_bad_request", clean(c.message) || "The provider refused the request.", {
      param: c.param,
      refusesReasoning: true,
    });
  }
  if (OUR_KEY.test(lowerCase)) return unavailable("the provider refuses our key", true);
  if ((mayBeRequest && BAD_FIELD.test(lowerCase)) || (status === 404 && NO_SUCH_THING.test(lowerCase))) {
    return withMessage("provider_bad_request", "The provider refused the request.");
  }
  if (NOT_THERE.has(status) || NO_MODEL.test(lowerCase)) {
    return withoutMessage(
      "provider_model_down",
      "The provider does not serve this model now.",
      // Also the status for a wrong base URL, for example without /v1.
      !NOT_THERE.has(status) || /model|deployment/.test(lowerCase)
        ? "the provider does not know the model"
        : "the provider has nothing at this address: look at its base_url and at the model",
      { lasting: true },
    );
  }
  // AWS: the model failed during generation.
  if (status === 424) return unavailable("the model failed");
  // A conflict with another operation, such as a lock: the vendors' libraries retry; so does RFC 8470 for
  // 425.
  if (status === 409 || status === 425) return unavailable("the provider cannot take the request now");
  // The status of nginx and Google for a request that was cancelled, which the gateway has not done.
  if (status === 499) return unavailable("the provider cancelled the request");
  if (status === 421) return unavailable("the provider does not serve this host on this connection");
  if (status === 429 || isRate || (status === 0 && RATE.test(lowerCase))) {
    return withoutMessage(
      "provider_rate_limited",
      "The provider's rate limit is reached.",
      "the provider limits our rate",
      { elsewhere: isAboveRate },
    );
  }
  // 524: Cloudflare waited for the provider in vain.
  if (status === 408 || status === 504 || status === 524 || (status === 0 && TIMEOUT.test(lowerCase))) {
    return withoutMessage("provider_timeout", `${TIMED_OUT}.`, "the provider timed out");
  }
  if (
    status === 529 || ((status === 0 || status >= 500) && OVERLOADED.test(lowerCase)) ||
    (mayBeRequest && (OVERLOAD_CODE.test(c.codes) || OVERLOAD_WORDS.test(lowerCase))) ||
    (status === NO_FLEX && OVERLOADED.test(lowerCase))
  ) {
    return withoutMessage("provider_model_down", "The model is overloaded.", "the provider is overloaded");
  }
  if ((status === 0 || status < 500) && MODERATION.test(lowerCase)) {
    return withMessage("provider_forbidden", "The provider refused the content.");
  }
  if (status >= 400 && status < 500) {
    return withMessage("provider_bad_request", "The provider refused the request.");
  }
  if (status === 0 && /invalid_request|invalid_argument|bad_request|validation/.test(lowerCase)) {
    return withMessage("provider_bad_request", "The provider refused the request.");
  }
  return unavailable("the provider failed");
}

/** @param within it is inside of another error */
function readComplaint(body: unknown, within = false): Complaint {
  if (Array.isArray(body)) return readComplaint(isObject(body[0]) ? body[0] : undefined, within);
  if (typeof body === "string") return { message: head(body), codes: "" };
  if (!isObject(body)) return { message: "", codes: "" };
  const error = body.error ?? (isObject(body.response) ? object(body.response).error : undefined) ??
    array(body.errors).find(isObject) ?? body;
  if (typeof error === "string") return { message: head(error), codes: words(body.code, body.type) };
  const e = object(error);
  const metadata = object(e.metadata);
  const details = array(e.details).filter(isObject);
  const code = number(e.code) ?? number(e.status_code) ?? digits(e.code);
  const message = head(
    (string(e.originalMessage) || string(e.message)) ?? string(e.Message) ?? string(body.detail) ??
      string(e.detail) ??
      string(body.message) ?? string(object(body.base_resp).status_msg) ?? wrongFields(body.detail),
  );
  const complaint: Complaint = {
    message,
    codes: words(
      e.code,
      e.error_code,
      e.type,
      e.status,
      e.__type,
      object(e.innererror).code,
      metadata.error_type,
      ...details.map((d) => d.reason),
      // llama.cpp
      ...["n_prompt_tokens", "n_ctx"].map((name) => number(e[name]) && `${name} ${e[name]}`),
    ),
    param: string(e.param),
    retryAfter: details.map((d) => delaySeconds(d.retryDelay)).find((s) => s !== undefined) ??
      hintedSeconds(message),
    status: code !== undefined && code >= 400 && code < 600 ? code : undefined,
    original: originalStatus(e.originalStatusCode),
    headers: lowered(object(metadata.headers)),
  };
  return within ? complaint : passedOn(complaint, metadata.raw);
}

/**
 * OpenRouter: what the provider behind it said of the request. A rate limit or an outage behind it is its own affair, and so is its
 * account there.
 */
function passedOn(complaint: Complaint, raw: unknown): Complaint {
  const { status = 400, codes } = complaint;
  if (status >= 500 || status === 429) return complaint;
  const said = typeof raw === "string" ? parse(raw) ?? raw : raw;
  const { message, codes: more, param } = readComplaint(said, true);
  if (message === "") return complaint;
  return { ...complaint, message, codes: words(codes, more), param: param ?? complaint.param };
}

function lowered(headers: Loose): Loose {
  return Object.fromEntries(
    Object.entries(headers).slice(0, MOST_HEADERS).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

const MOST_HEADERS = 50;

/** What FastAPI, which many servers are made with, says of a request: `[{loc: ["body", "stop"], msg: "…"}]`. */
function wrongFields(detail: unknown): string {
  return array(detail).filter(isObject).slice(0, MOST_FIELDS).map(({ loc, msg }) => {
    const place = array(loc).filter((step) => step !== "body").join(".");
    return `${place === "" ? "" : `${place}: `}${string(msg) ?? ""}`;
  }).filter((line) => line !== "").join("; ");
}

const MOST_FIELDS = 5;

/** Statuses about a key or an address are about AWS's own at its model's server, not about ours. */
function originalStatus(value: unknown): number | undefined {
  const status = number(value) ?? digits(value) ?? 0;
  return (status >= 400 && status < 600 && !NOT_OURS.has(status)) ? status : undefined;
}

const NOT_OURS: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 407]);

/** The part of a message that is examined: the patterns do not run in linear time. */
function head(message: string): string {
  return message.slice(0, 4000);
}

function words(...values: unknown[]): string {
  return values.filter((v) => typeof v === "string" || typeof v === "number").join(" ").slice(0, 1000)
    .toLowerCase();
}

function digits(value: unknown): number | undefined {
  return typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : undefined;
}

/** Names like `user_location` are fields; account names and keys contain digits, capitals or asterisks. */
const SECRETS =
  /\b(?:[sprx]k|gsk|xai)[-_][A-Za-z0-9_*-]{6,}|\bAIza[\w-]{10,}|\b(?:org|proj|key|user|acct|req)[-_](?=[A-Za-z0-9_*-]*[A-Z0-9*])[A-Za-z0-9_*-]{6,}|\bBearer\s+\S+|\b(?:Team|API key ID): [\da-f]{8}-[\da-f-]{27}|[\w.+-]{1,64}@[\w-]+\.[\w.-]+/g;
const ADDRESSES =
  /\b(?:https?|wss?):\/\/[^\s"'<>)]+|\blocalhost(?::\d+)?(?:\/\S*)?|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b|\[[0-9a-f:]*:[0-9a-f:]*\](?::\d+)?|\b(?:[a-z0-9-]{1,63}\.){1,8}(?:com|net|org|io|ai|dev|cloud|local|internal|cn|co|eu|app|svc)\b(?::\d+)?(?:\/\S*)?/gi;

/** They identify the account. Shown to operators only. */
const ARNS = /\barn:[\w-]+:\S+/g;

/** `: insufficient_quota`; "" without a code. */
function codeWords(codes: string): string {
  const words = new Set(codes.split(" ").filter((word) => CODE.test(word) && clean(word) === word));
  return words.size === 0 ? "" : `: ${[...words].slice(0, MOST_CODES).join(" ")}`;
}

const CODE = /^[a-z][\w.-]{2,60}$/;
const MOST_CODES = 4;

/** A provider's message without URLs, credentials and account names, at most 500 characters; "" for markup. */
export function clean(message: string): string {
  if (/^\s*</.test(message)) return "";
  const text = message.replace(SECRETS, "[withheld]").replace(ADDRESSES, "[withheld]").trim();
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}
