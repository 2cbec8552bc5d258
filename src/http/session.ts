/**
 * Sessions of the console. All there is of one is its cookie, sealed under a key that follows from the store's pepper: any node
 * can read it, nobody can make or change it. What ends before its time is on a list that the nodes share.
 *
 * A session ends an hour after it was last used, and twelve hours after it began, whatever happens.
 */
import { base64url, hmacSha256, nodeCrypto, randomBytes } from "../exchange/hashes.ts";
import { Buffer } from "node:buffer";
import { LONGEST_SESSION_MS as LONGEST_MS, type Principal } from "../accounts/mod.ts";

export interface Session {
  id: string;
  principal: Principal;
  /** How it was signed in. */
  way: "admin_key" | "token" | "oidc";
  /** What has to hold as long as it lasts: the id of a token, a fingerprint of the admin key or of the provider's section. */
  source: string;
  /** Milliseconds since the epoch. */
  began: number;
  /** When its cookie was made. */
  renewed: number;
}

export interface SessionsOptions {
  /** 32 bytes that are the same on every node, of their own for each purpose. Throws while they are not known. */
  key(purpose: string): Uint8Array;
  now(): number;
  /** Sessions that have been ended before their time. */
  ended: EndedSessions;
}

export interface EndedSessions {
  has(id: string): boolean;
  /** @param until after which the session has ended anyhow */
  add(id: string, until: number): Promise<void>;
}

const COOKIE = "sluice_session";
const IDLE_MS = 3_600_000;
/** A cookie older than this is made anew. */
const RENEW_MS = 300_000;
/** Clocks of nodes may differ by so much. */
const SKEW_MS = 60_000;
const MOST_FINGERPRINTS = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Browsers keep none that is longer. */
const MOST_COOKIE = 4096;

export class Sessions {
  readonly #options: SessionsOptions;
  /** By secret: each watcher of calls is asked every second whether its session still holds. */
  readonly #fingerprints = new Map<string, string>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** A new one, whatever the browser had before. */
  begin(session: Omit<Session, "id" | "began" | "renewed">): Session {
    const now = this.#options.now();
    const id = `ses_${base64url(randomBytes(18))}`;
    return {
      ...session,
      principal: { ...session.principal, by: "session", credential: id },
      id,
      began: now,
      renewed: now,
    };
  }

  /** The session of a request's header; null: there is none, or it has ended. */
  read(header: string | null, { secure }: { secure: boolean }): Session | null {
    const values = new Set(header === null ? [] : cookies(header, COOKIE, { secure }));
    // Of two, one may have been planted by a neighbour of the same domain.
    if (values.size !== 1) return null;
    const session = this.unseal<Session>("session", [...values][0]);
    if (session === null) return null;
    const now = this.#options.now();
    const { began, renewed, id } = session;
    const lives = renewed <= now + SKEW_MS && now < renewed + IDLE_MS && now < began + LONGEST_MS;
    return lives && !this.#options.ended.has(id) ? session : null;
  }

  /** Whether it is still one. */
  lasts({ id, began }: Session): boolean {
    return this.#options.now() < began + LONGEST_MS && !this.#options.ended.has(id);
  }

  expiresAt({ began, renewed }: Session): number {
    return Math.min(renewed + IDLE_MS, began + LONGEST_MS);
  }

  /** When it ends that is used now. */
  renewedUntil(session: Session): number {
    return this.expiresAt({ ...session, renewed: this.#options.now() });
  }

  /** The header that makes a browser keep it longer; null: it need not yet. */
  renewal(session: Session, options: { secure: boolean }): string | null {
    const now = this.#options.now();
    return now - session.renewed < RENEW_MS ? null : this.cookie({ ...session, renewed: now }, options);
  }

  /** The header `set-cookie` that gives a browser the session. */
  cookie(session: Session, { secure }: { secure: boolean }): string {
    const seconds = Math.max(0, Math.floor((this.expiresAt(session) - this.#options.now()) / 1000));
    return setCookie(COOKIE, this.seal("session", session), { secure, seconds });
  }

  /** The header that takes it away again. */
  noCookie({ secure }: { secure: boolean }): string {
    return setCookie(COOKIE, "", { secure, seconds: 0 });
  }

  /** Ends what has this id, a session or anything else that counts once. */
  async endId(id: string, until: number): Promise<void> {
    await this.#options.ended.add(id, until);
  }

  isEnded(id: string): boolean {
    return this.#options.ended.has(id);
  }

  async end({ id, began }: Session): Promise<void> {
    await this.endId(id, began + LONGEST_MS);
  }

  /** What a page has to send along with whatever it changes: another site's page cannot know it. */
  csrf({ id }: Session): string {
    return base64url(hmacSha256(this.#options.key("csrf"), id));
  }

  isCsrf(session: Session, given: string | null): boolean {
    const expected = Buffer.from(this.csrf(session));
    const found = Buffer.from(given ?? "");
    return found.length === expected.length && nodeCrypto().timingSafeEqual(found, expected);
  }

  /** Tells configured secrets apart, and nothing of what they are to whoever has not the key. */
  fingerprint(secret: string): string {
    const known = this.#fingerprints.get(secret);
    if (known !== undefined) return known;
    const made = base64url(hmacSha256(this.#options.key("fingerprint"), secret));
    // Those of configurations that were reloaded are of no use any more.
    if (this.#fingerprints.size >= MOST_FINGERPRINTS) this.#fingerprints.clear();
    this.#fingerprints.set(secret, made);
    return made;
  }

  /** Seals a value that this gateway gives to a browser; one that was sealed for another purpose is not read. */
  seal(purpose: string, value: unknown): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = nodeCrypto().createCipheriv("aes-256-gcm", this.#options.key(purpose), nonce);
    const sealed = Buffer.concat([cipher.update(JSON.stringify(value)), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url");
  }

  /** Null: this gateway has not sealed it. */
  unseal<T>(purpose: string, text: string): T | null {
    if (text.length > MOST_COOKIE) return null;
    const bytes = Buffer.from(text, "base64url");
    if (bytes.length <= NONCE_BYTES + TAG_BYTES) return null;
    const decipher = nodeCrypto().createDecipheriv(
      "aes-256-gcm",
      this.#options.key(purpose),
      bytes.subarray(0, NONCE_BYTES),
    );
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      const open = Buffer.concat([
        decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)),
        decipher.final(),
      ]);
      return JSON.parse(open.toString()) as T;
    } catch {
      return null;
    }
  }
}

/**
 * What browsers take over HTTPS alone, for all paths, and of no other host: pages of a neighbouring domain cannot plant a cookie
 * of such a name.
 */
const HOST_PREFIX = "__Host-";

export interface CookieOptions {
  secure: boolean;
  seconds: number;
  /** By default, and where it is secure, `/`. */
  path?: string;
  /** By default `Strict`. */
  sameSite?: "Strict" | "Lax";
}

/**
 * The value of a `set-cookie` field.
 *
 * @param value of the cookie; `seconds` 0 removes it
 */
export function setCookie(
  name: string,
  value: string,
  { secure, seconds, path = "/", sameSite = "Strict" }: CookieOptions,
): string {
  const rules = `Max-Age=${seconds}; HttpOnly; SameSite=${sameSite}`;
  return secure
    ? `${HOST_PREFIX}${name}=${value}; Path=/; ${rules}; Secure`
    : `${name}=${value}; Path=${path}; ${rules}`;
}

/** The values of all cookies of a name. */
export function cookies(header: string, name: string, { secure }: { secure: boolean }): string[] {
  const begin = `${secure ? HOST_PREFIX : ""}${name}=`;
  return header.split(";").map((pair) => pair.trim()).filter((pair) => pair.startsWith(begin))
    .map((pair) => pair.slice(begin.length));
}
