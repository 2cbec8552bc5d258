/**
 * What a provider must not tell callers or the log: the credential and the headers that this gateway sends it. Its error may
 * repeat them, and so may the answer of a server that shows what it was asked.
 *
 * Providers' own abbreviations (`sk-...abcd`) stay where they show fewer than {@link PREFIX} characters of the beginning and
 * fewer than {@link SUFFIX} of the end: they tell an operator which key is meant, and nobody what it is.
 */
import { Buffer } from "node:buffer";
import { Failure } from "../exchange/failure.ts";
import { disguises } from "./disguises.ts";

const WITHHELD = "[withheld]";
/** A shorter value is a word that any answer may hold. */
const LEAST_SECRET = 8;
const PREFIX = 12;
const SUFFIX = 8;
/** A value that a part of can be recognised of. */
const LEAST_DIVISIBLE = 20;
/** In a longer text native search is quicker than a pattern. */
const LONG = 16_384;
/** ASCII that JSON need not escape, as an escape; a backslash that is escaped itself is passed over. */
const ESCAPED = /\\(?:\\|u00([2-7][\da-fA-F]))/g;

function unescaped(escape: string, code: string | undefined): string {
  const character = code === undefined ? escape : String.fromCharCode(parseInt(code, 16));
  return character === '"' || character === "\\" || character === "\x7f" ? escape : character;
}

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
  /** The credentials as they are. */
  readonly #values: readonly string[];
  /** Finds any of them in one go; null: there are none. */
  readonly #any: RegExp | null;

  /** @param headers as they are sent; names in lower case */
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

  /** Credentials in all forms in which they may be told. */
  get secrets(): readonly string[] {
    return this.#secrets;
  }

  /** A piece of an answer without them: text, or JSON whose values mean the same. */
  answer(text: string): string {
    if (text.includes("\\u00")) text = text.replace(ESCAPED, unescaped);
    if (text.length < LONG ? this.#any !== null && !this.#any.test(text) : !this.#includes(text)) return text;
    for (const secret of this.#secrets) text = text.replaceAll(secret, WITHHELD);
    return text;
  }

  #includes(text: string): boolean {
    return this.#secrets.some((secret) => text.includes(secret));
  }

  /** The same failure, in words without them. */
  failure(failure: Failure): Failure {
    const message = this.#told(failure.message);
    const operator = failure.operator && this.#told(failure.operator);
    if (message === failure.message && operator === failure.operator) return failure;
    return new Failure(failure.code, message, { ...failure, cause: failure.cause, operator });
  }

  /** Words without them; where they are disguised, nobody can tell which words they are. */
  #told(text: string): string {
    const said = this.#whole(text);
    return disguises(said, this.#values) ? WITHHELD : this.#parts(said);
  }

  /** A refusal without them, and without parts of them. */
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

/** A header's value without the word for its kind. */
function bare(value: string): string {
  return value.replace(/^(?:Bearer|Basic|Token|Key|ApiKey) +/i, "").trim();
}

/** What of a value in base64 does not depend on what stands around it, so many bytes behind a multiple of three. */
function inBase64(bytes: Buffer, before: number): string[] {
  const rest = (before + bytes.length) % 3;
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64").replace(/=+$/, "");
  // Of the first and the last character some bits belong to the neighbours.
  const core = text.slice(before === 0 ? 0 : before + 1, rest === 0 ? undefined : -1);
  return [core, core.replaceAll("+", "-").replaceAll("/", "_")];
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
      ...[0, 1, 2].flatMap((before) => inBase64(bytes, before)),
      bytes.toString("hex"),
      bytes.toString("hex").toUpperCase(),
    ];
  });
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}
