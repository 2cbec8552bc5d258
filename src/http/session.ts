/**
 * Console sessions. A session exists only as its cookie, encrypted and authenticated under a key derived from
 * the store's pepper: all nodes can read it, nobody else can create or change it. Sessions ended early are on
 * a list shared by all nodes.
 *
 * A session expires one hour after its last use, and twelve hours after its start at the latest.
 */
import { base64url, hmacSha256, nodeCrypto, randomBytes } from "../exchange/hashes.ts";
import { Buffer } from "node:buffer";
import { LONGEST_SESSION_MS as LONGEST_MS, type Principal } from "../accounts/mod.ts";

export interface Session {
  id: string;
  principal: Principal;
  /** Sign-in method. */
  way: "admin_key" | "token" | "oidc";
  /**
   * The credential that must stay valid: id of a token, fingerprint of the admin key, or of the configuration
   * of the identity provider.
   */
  source: string;
  /** Milliseconds since the epoch. */
  began: number;
  /** When its cookie was issued. */
  renewed: number;
}

export interface SessionsOptions {
  /** A 32-byte key per purpose, the same on all nodes. Throws while it is not available. */
  key(purpose: string): Uint8Array;
  now(): number;
  /** Sessions that were ended before they expired. */
  ended: EndedSessions;
}

export interface EndedSessions {
  has(id: string): boolean;
  /** @param until when the session would have expired */
  add(id: string, until: number): Promise<void>;
}

const COOKIE = "sluice_session";
const IDLE_MS = 3_600_000;
/** Age above which a cookie is reissued, in milliseconds. */
const RENEW_MS = 300_000;
/** Tolerated difference between the clocks of nodes, in milliseconds. */
const SKEW_MS = 60_000;
const MOST_FINGERPRINTS = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The longest cookie that browsers store. */
const MOST_COOKIE = 4096;

export class Sessions {
  readonly #options: SessionsOptions;
  /** Cache by secret: for each live view of calls, the session is checked every second. */
  readonly #fingerprints = new Map<string, string>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** A new session id, whatever cookie the browser sent. */
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

  /** The session in a cookie header; null: none, or it has ended. */
  read(header: string | null, { secure }: { secure: boolean }): Session | null {
    const values = new Set(header === null ? [] : cookies(header, COOKIE, { secure }));
    // Two values: one may have been set by another host of the same domain.
    if (values.size !== 1) return null;
    const session = this.unseal<Session>("session", [...values][0]);
    if (session === null) return null;
    const now = this.#options.now();
    const { began, renewed, id } = session;
    const lives = renewed <= now + SKEW_MS && now < renewed + IDLE_MS && now < began + LONGEST_MS;
    return lives && !this.#options.ended.has(id) ? session : null;
  }

  /** Whether it has neither expired nor been ended. */
  lasts({ id, began }: Session): boolean {
    return this.#options.now() < began + LONGEST_MS && !this.#options.ended.has(id);
  }

  expiresAt({ began, renewed }: Session): number {
    return Math.min(renewed + IDLE_MS, began + LONGEST_MS);
  }

  /** The expiry of a session that is used at present. */
  renewedUntil(session: Session): number {
    return this.expiresAt({ ...session, renewed: this.#options.now() });
  }

  /** The `set-cookie` header that extends the session; null: not due yet. */
  renewal(session: Session, options: { secure: boolean }): string | null {
    const now = this.#options.now();
    return now - session.renewed < RENEW_MS ? null : this.cookie({ ...session, renewed: now }, options);
  }

  /** The `set-cookie` header for the session. */
  cookie(session: Session, { secure }: { secure: boolean }): string {
    const seconds = Math.max(0, Math.floor((this.expiresAt(session) - this.#options.now()) / 1000));
    return setCookie(COOKIE, this.seal("session", session), { secure, seconds });
  }

  /** The `set-cookie` header that removes it. */
  noCookie({ secure }: { secure: boolean }): string {
    return setCookie(COOKIE, "", { secure, seconds: 0 });
  }

  /** Invalidates an id: of a session, or of another value that may be used only once. */
  async endId(id: string, until: number): Promise<void> {
    await this.#options.ended.add(id, until);
  }

  isEnded(id: string): boolean {
    return this.#options.ended.has(id);
  }

  async end({ id, began }: Session): Promise<void> {
    await this.endId(id, began + LONGEST_MS);
  }

  /** The CSRF token that pages must send with changes; pages of other sites cannot know it. */
  csrf({ id }: Session): string {
    return base64url(hmacSha256(this.#options.key("csrf"), id));
  }

  isCsrf(session: Session, given: string | null): boolean {
    const expected = Buffer.from(this.csrf(session));
    const found = Buffer.from(given ?? "");
    return found.length === expected.length && nodeCrypto().timingSafeEqual(found, expected);
  }

  /** A fingerprint that distinguishes configured secrets but reveals nothing without the key. */
  fingerprint(secret: string): string {
    const known = this.#fingerprints.get(secret);
    if (known !== undefined) return known;
    const made = base64url(hmacSha256(this.#options.key("fingerprint"), secret));
    // Entries of earlier configurations are no longer needed.
    if (this.#fingerprints.size >= MOST_FINGERPRINTS) this.#fingerprints.clear();
    this.#fingerprints.set(secret, made);
    return made;
  }

  /** Encrypts a value for a browser. It can only be decrypted for the same purpose. */
  seal(purpose: string, value: unknown): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = nodeCrypto().createCipheriv("aes-256-gcm", this.#options.key(purpose), nonce);
    const sealed = Buffer.concat([cipher.update(JSON.stringify(value)), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url");
  }

  /** Null: not encrypted by this gateway. */
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
 * Cookie name prefix: browsers accept such a cookie only over HTTPS, for the path `/` and without a domain,
 * so hosts of the same domain cannot set it.
 */
const HOST_PREFIX = "__Host-";

export interface CookieOptions {
  secure: boolean;
  seconds: number;
  /** Default, and always if secure: `/`. */
  path?: string;
  /** Default: `Strict`. */
  sameSite?: "Strict" | "Lax";
}

/**
 * The value of a `set-cookie` header.
 *
 * @param value the cookie's value; with `seconds` 0 the cookie is removed
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

/** The values of all cookies with this name. */
export function cookies(header: string, name: string, { secure }: { secure: boolean }): string[] {
  const begin = `${secure ? HOST_PREFIX : ""}${name}=`;
  return header.split(";").map((pair) => pair.trim()).filter((pair) => pair.startsWith(begin))
    .map((pair) => pair.slice(begin.length));
}
