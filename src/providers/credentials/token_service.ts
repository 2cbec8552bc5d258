/**
 * Requests to token services. Their responses may contain secrets, so errors contain only the status and the
 * service's short error code.
 */
import { array, integer, isObject, type Loose, object, parse, string } from "../../exchange/json.ts";
import { type Answer, ask, withReason } from "../../outgoing/ask.ts";
import type { ServiceClock } from "./service_clock.ts";

/** No token could be obtained. The message is for the operator and contains no secret. */
export class TokenError extends Error {
  override readonly name = "TokenError";
  /** The service did not answer in time. */
  readonly late: boolean;

  constructor(message: string, { late = false }: { late?: boolean } = {}) {
    super(message);
    this.late = late;
  }
}

export interface TokenRequest {
  /** For messages: "the token service of Google". */
  service: string;
  method?: "GET" | "POST" | "PUT";
  headers?: Record<string, string>;
  body?: string | URLSearchParams;
  /** Timeout of the whole exchange, in milliseconds. */
  within?: number;
  /** Learns the service's time from the response. */
  clock?: ServiceClock;
}

const USUAL_MS = 5000;

const FORM = { "content-type": "application/x-www-form-urlencoded;charset=UTF-8" };

/** Tokens and key documents have a few kilobytes. */
const MOST_BYTES = 200_000;

/** The form of error codes; anything else may repeat parts of the request. */
const ERROR_CODE = /^[A-Za-z][\w.-]{2,63}$/;

/** The text of a successful response. Throws a TokenError otherwise. */
export async function askTokenService(url: string, request: TokenRequest): Promise<string> {
  const answer = await answerOf(url, request);
  const text = answer.text();
  const corrected = request.clock?.learn(answer.header("date")) === true;
  if (answer.status === 200) return text;
  const code = errorCode(text);
  const skew = corrected ? "; the clock of this machine differs from the service's" : "";
  throw new TokenError(`${request.service} answered ${answer.status}${code ? ` (${code})` : ""}${skew}`);
}

/** A response with any status. Throws a TokenError if there is none. */
export async function answerOf(url: string, request: TokenRequest): Promise<Answer> {
  const { service, method = "GET", headers, body, within = USUAL_MS } = request;
  try {
    return await ask(url, {
      method,
      headers: body instanceof URLSearchParams ? { ...FORM, ...headers } : headers,
      body: body?.toString(),
      most: MOST_BYTES,
      signal: AbortSignal.timeout(within),
    });
  } catch (cause) {
    if (cause instanceof RangeError) throw new TokenError(`${service}: ${cause.message}`);
    const late = cause instanceof DOMException && cause.name === "TimeoutError";
    const why = late ? `did not answer within ${within} ms` : withReason("cannot be reached", cause);
    throw new TokenError(`${service} ${why}`, { late });
  }
}

/** A successful response that must be a JSON object. */
export async function askForJson(url: string, request: TokenRequest): Promise<Loose> {
  const answer = parse(await askTokenService(url, request));
  if (isObject(answer)) return answer;
  throw new TokenError(`${request.service} answered no JSON object`);
}

/** A required field. */
export function needed(answer: Loose, field: string, service: string): string {
  const value = string(answer[field]);
  if (value !== undefined && value !== "") return value;
  throw new TokenError(`${service} answered without ${field}`);
}

/**
 * A secret that is sent in a header, without white space around it: files and variables may end with a line break. Throws a TokenError
 * if no header can have it.
 */
export function forHeader(secret: string, what: string): string {
  const trimmed = secret.trim();
  if (/^[ -~]+$/.test(trimmed)) return trimmed;
  throw new TokenError(`${what} is empty or has characters other than printable ASCII`);
}

/** OAuth's `error` with Entra's number, the status of Google's `error`, AWS's `<Code>`, `Code` or `__type`. */
function errorCode(text: string): string | undefined {
  const body = parse(text);
  if (!isObject(body)) return codeIn(/<Code>([^<]*)<\/Code>/.exec(text)?.[1]);
  const code = codeIn(
    string(body.error) ?? string(object(body.error).status) ?? string(body.code) ?? string(body.Code) ??
      string(body.__type),
  );
  const entra = integer(array(body.error_codes)[0]);
  return code !== undefined && entra !== undefined ? `${code}, AADSTS${entra}` : code;
}

function codeIn(found: string | undefined): string | undefined {
  return found !== undefined && ERROR_CODE.test(found) ? found : undefined;
}
