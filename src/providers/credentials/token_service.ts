/**
 * Requests to the services that give out tokens. What they answer may hold secrets, so nothing of it gets into an error but
 * the status and the service's own short error code.
 */
import { isObject, type Loose, parse, string } from "../../exchange/json.ts";
import { type Answer, ask, withReason } from "../../outgoing/ask.ts";
import type { ServiceClock } from "./service_clock.ts";

/** A token cannot be had. The message is for the operator: no secret is in it. */
export class TokenError extends Error {
  override readonly name = "TokenError";
}

export interface TokenRequest {
  /** For messages: "the token service of Google". */
  service: string;
  method?: "GET" | "POST" | "PUT";
  headers?: Record<string, string>;
  body?: string | URLSearchParams;
  /** Milliseconds for the whole exchange. */
  within?: number;
  /** Learns the service's time from its answer. */
  clock?: ServiceClock;
}

const USUAL_MS = 5000;

const FORM = { "content-type": "application/x-www-form-urlencoded;charset=UTF-8" };

/** Tokens and key documents have a few kilobytes. */
const MOST_BYTES = 200_000;

/** An error code is a word; anything else may repeat what was sent. */
const ERROR_CODE = /^[A-Za-z][\w.-]{2,63}$/;

/** The text of a good answer. Throws a TokenError for any other. */
export async function askTokenService(url: string, request: TokenRequest): Promise<string> {
  const { service, method = "GET", headers, body, within = USUAL_MS, clock } = request;
  let answer: Answer;
  try {
    answer = await ask(url, {
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
    throw new TokenError(`${service} ${why}`);
  }
  const text = answer.text();
  const corrected = clock?.learn(answer.header("date")) === true;
  if (answer.status === 200) return text;
  const code = errorCode(text);
  const skew = corrected ? "; the clock of this machine differs from the service's" : "";
  throw new TokenError(`${service} answered ${answer.status}${code ? ` (${code})` : ""}${skew}`);
}

/** A good answer that must be a JSON object. */
export async function askForJson(url: string, request: TokenRequest): Promise<Loose> {
  const answer = parse(await askTokenService(url, request));
  if (isObject(answer)) return answer;
  throw new TokenError(`${request.service} answered no JSON object`);
}

/** A field that must be there. */
export function needed(answer: Loose, field: string, service: string): string {
  const value = string(answer[field]);
  if (value !== undefined && value !== "") return value;
  throw new TokenError(`${service} answered without ${field}`);
}

/** OAuth's `error`, AWS's `<Code>` or `Code`. */
function errorCode(text: string): string | undefined {
  const body = parse(text);
  const found = isObject(body)
    ? string(body.error) ?? string(body.code) ?? string(body.Code)
    : /<Code>([^<]*)<\/Code>/.exec(text)?.[1];
  return found !== undefined && ERROR_CODE.test(found) ? found : undefined;
}
