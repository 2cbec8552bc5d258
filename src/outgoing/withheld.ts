/**
 * Removes secrets from what a provider sends: the credential and the headers that this gateway sends to it.
 * Error messages may repeat them, and so may the answer of a server that echoes requests.
 *
 * Abbreviations by providers (`sk-...abcd`) are kept if they show fewer than {@link PREFIX} characters of the
 * beginning and fewer than {@link SUFFIX} of the end: they show an operator which key is meant without
 * disclosing it.
 */
import { Buffer } from "node:buffer";
import { Failure } from "../exchange/failure.ts";
import { disguises } from "./disguises.ts";
import { withoutEscapes } from "./json_escapes.ts";

/** Stands in place of a secret. */
export const WITHHELD = "[withheld]";
/** Shorter values are words that may occur in any answer. */
const LEAST_SECRET = 8;
const PREFIX = 12;
const SUFFIX = 8;
/** Minimum length of values of which parts are recognised. */
const LEAST_DIVISIBLE = 20;
/** In longer texts native search is faster than a regular expression. */
const LONG = 16_384;
/** Headers with secret values, whatever the credential. */
const SECRET_NAME = /auth|key|token|secret|password|cookie|credential|signature/i;
/** Headers that are the same for every gateway, or set by the caller. */
const KNOWN_NAME = /^(?:content-type|accept|user-agent|anthropic-.*|openai-beta|host)$/i;

export class Withheld {
  /** Credentials: searched for in everything that a provider sends. */
  readonly #secrets: readonly string[];
  /** These and all header values: searched for in error responses. */
  readonly #all: readonly string[];
  readonly #abbreviated: readonly RegExp[];
  /** The credentials without encodings. */
  readonly #values: readonly string[];
  /** Matches any of them; null: none. */
  readonly #any: RegExp | null;

  /** @param headers as sent, lower-case names */
  constructor(headers: Readonly<Record<string, string>>) {
    const entries = Object.entries(headers);
    const secrets = entries.filter(([name]) => SECRET_NAME.test(name)).map(([, value]) => bare(value));
    const others = entries.filter(([name]) => !SECRET_NAME.test(name) && !KNOWN_NAME.test(name))
      .map(([, value]) => value);
    this.#values = secrets.filter((value) => value.length >= LEAST_SECRET);
    this.#secrets = formsOf(secrets);
    this.#any = this.#secrets.length === 0
      ? null
      : new RegExp(this.#secrets.map((secret) => RegExp.escape(secret)).join("|"));
    this.#all = formsOf([...secrets, ...others]);
    this.#abbreviated = secrets.filter((value) => value.length >= LEAST_DIVISIBLE).flatMap((value) => [
      new RegExp(`${RegExp.escape(value.slice(0, PREFIX))}[\\w.*…+/=~-]*`, "g"),
      new RegExp(`[\\w.*…+/=~-]{0,200}${RegExp.escape(value.slice(-SUFFIX))}`, "g"),
    ]);
  }

  /** Credentials in all encodings that are searched for. */
  get secrets(): readonly string[] {
    return this.#secrets;
  }

  /** A piece of an answer without secrets: text, or JSON with the same structure. */
  answer(text: string): string {
    if (text.includes("\\u00")) text = withoutEscapes(text);
    if (text.length < LONG ? this.#any !== null && !this.#any.test(text) : !this.#includes(text)) return text;
    for (const secret of this.#secrets) text = text.replaceAll(secret, WITHHELD);
    return text;
  }

  #includes(text: string): boolean {
    return this.#secrets.some((secret) => text.includes(secret));
  }

  /** The same failure without secrets in its message. */
  failure(failure: Failure): Failure {
    const message = this.#withoutSecrets(failure.message);
    const operator = failure.operator && this.#withoutSecrets(failure.operator);
    if (message === failure.message && operator === failure.operator) return failure;
    return new Failure(failure.code, message, { ...failure, cause: failure.cause, operator });
  }

  /** The text without secrets; if a disguised form is detected, the whole text is replaced. */
  #withoutSecrets(text: string): string {
    const whole = this.#whole(text);
    return disguises(whole, this.#values) ? WITHHELD : this.#parts(whole);
  }

  /** An error response without secrets and without parts of them. */
  refusal(text: string): string {
    return this.#parts(this.#whole(text));
  }

  #whole(text: string): string {
    for (const secret of this.#all) text = text.replaceAll(secret, WITHHELD);
    return text;
  }

  #parts(text: string): string {
    for (const pattern of this.#abbreviated) text = text.replace(pattern, WITHHELD);
    return text;
  }
}

/** A header's value without the authentication scheme. */
function bare(value: string): string {
  return value.replace(/^(?:Bearer|Basic|Token|Key|ApiKey) +/i, "").trim();
}

/**
 * The part of a value's base64 encoding that does not depend on the surrounding bytes, for a given offset
 * modulo three.
 */
function inBase64(bytes: Buffer, before: number): string[] {
  const rest = (before + bytes.length) % 3;
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64").replace(/=+$/, "");
  // The first and the last character contain bits of neighbouring bytes.
  const core = text.slice(before === 0 ? 0 : before + 1, rest === 0 ? undefined : -1);
  return [core, core.replaceAll("+", "-").replaceAll("/", "_")];
}

/** The encodings of values, longest first. */
function formsOf(values: readonly string[]): string[] {
  const forms = values.filter((value) => value.length >= LEAST_SECRET).flatMap((value) => {
    const bytes = Buffer.from(value, "latin1");
    return [
      value,
      JSON.stringify(value).slice(1, -1),
      value.replaceAll("/", "\\/"),
      encodeURIComponent(value),
      ...[0, 1, 2].flatMap((before) => inBase64(bytes, before)),
      bytes.toString("hex"),
      bytes.toString("hex").toUpperCase(),
    ];
  });
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}
