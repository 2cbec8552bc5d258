/**
 * What a provider must not tell callers or the log: the credential and the headers that this gateway sends it. Its error may
 * repeat them, and so may the answer of a server that shows what it was asked.
 *
 * Providers' own abbreviations (`sk-...abcd`) stay where they show fewer than {@link PREFIX} characters of the beginning and
 * fewer than {@link SUFFIX} of the end: they tell an operator which key is meant, and nobody what it is.
 */
import { Buffer } from "node:buffer";
import { Failure } from "../exchange/failure.ts";

const WITHHELD = "[withheld]";
/** A shorter value is a word that any answer may hold. */
const LEAST_SECRET = 8;
const PREFIX = 12;
const SUFFIX = 8;
/** A value that a part of can be recognised of. */
const LEAST_DIVISIBLE = 20;

/** Headers whose values are secrets, whatever the credential is. */
const SECRET_NAME = /auth|key|token|secret|password|cookie|credential|signature/i;
/** Headers that are the same for every gateway, or that the caller chose. */
const KNOWN_NAME = /^(?:content-type|accept|user-agent|anthropic-.*|openai-beta|host)$/i;

export class Withheld {
  /** Of credentials: looked for in all that a provider says. */
  readonly #secrets: readonly string[];
  /** Those, and of all headers: looked for in what it says when it refuses. */
  readonly #all: readonly string[];
  readonly #abbreviated: readonly RegExp[];

  /** @param headers as they are sent; names in lower case */
  constructor(headers: Readonly<Record<string, string>>) {
    const entries = Object.entries(headers);
    const secrets = entries.filter(([name]) => SECRET_NAME.test(name)).map(([, value]) => bare(value));
    const others = entries.filter(([name]) => !SECRET_NAME.test(name) && !KNOWN_NAME.test(name))
      .map(([, value]) => value);
    this.#secrets = formsOf(secrets);
    this.#all = formsOf([...secrets, ...others]);
    this.#abbreviated = secrets.filter((value) => value.length >= LEAST_DIVISIBLE).flatMap((value) => [
      new RegExp(`${RegExp.escape(value.slice(0, PREFIX))}[\\w.*…+/=~-]*`, "g"),
      new RegExp(`[\\w.*…+/=~-]{0,200}${RegExp.escape(value.slice(-SUFFIX))}`, "g"),
    ]);
  }

  /** Credentials in all forms in which they may be told. */
  get secrets(): readonly string[] {
    return this.#secrets;
  }

  /** A piece of an answer without them. */
  answer(text: string): string {
    for (const secret of this.#secrets) if (text.includes(secret)) text = text.replaceAll(secret, WITHHELD);
    return text;
  }

  /** The same failure, in words without them. */
  failure(failure: Failure): Failure {
    const message = this.refusal(failure.message);
    const operator = failure.operator && this.refusal(failure.operator);
    if (message === failure.message && operator === failure.operator) return failure;
    return new Failure(failure.code, message, { ...failure, cause: failure.cause, operator });
  }

  /** A refusal without them, and without parts of them. */
  refusal(text: string): string {
    for (const secret of this.#all) text = text.replaceAll(secret, WITHHELD);
    for (const pattern of this.#abbreviated) text = text.replace(pattern, WITHHELD);
    return text;
  }
}

/** A header's value without the word for its kind. */
function bare(value: string): string {
  return value.replace(/^(?:Bearer|Basic|Token|Key|ApiKey) +/i, "").trim();
}

/** Values as they may stand in a text, the longest first. */
function formsOf(values: readonly string[]): string[] {
  const forms = values.filter((value) => value.length >= LEAST_SECRET).flatMap((value) => {
    const bytes = Buffer.from(value, "latin1");
    return [
      value,
      JSON.stringify(value).slice(1, -1),
      value.replaceAll("/", "\\/"),
      encodeURIComponent(value),
      bytes.toString("base64").replace(/=+$/, ""),
      bytes.toString("base64url"),
      bytes.toString("hex"),
    ];
  });
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}
