/**
 * Tags and session of a call, from headers, else from fields of the body.
 *
 * A request with an invalid header is refused, because budgets depend on it. Fields of the body were written for providers, so invalid
 * values there are ignored.
 */
import { sha256Hex } from "../../exchange/hashes.ts";
import { Failure } from "../../exchange/failure.ts";
import { shownHeader } from "../../exchange/shown_header.ts";
import { isObject, type Loose } from "../../exchange/json.ts";
import { type Labels, MOST_TAGS, SESSION_CHARS, TAG_CHARS, TAG_NAME } from "../../exchange/labels.ts";
import { pseudonym } from "./pseudonyms.ts";

type Header = (name: string) => string | null;

const TAGS = "x-svc-tags";
const SESSION = "x-svc-session";
/** Headers with the session of coding agents: Claude Code; two generations of Codex; opencode. */
const SESSIONS_OF_CLIENTS = [
  "x-claude-code-session-id",
  "session-id",
  "session_id",
  "conversation_id",
  "x-session-id",
  "x-opencode-session",
  "x-session-affinity",
];
const DIGEST = "sha256:";
const SESSION_TEXT = /^[!-~]{1,128}$/;
const TAG_VALUE = /^[ -+\--~]{1,64}$/;

/** Null: neither tags nor session. Throws `validation_error`. */
export function labelsOf(header: Header, body: unknown): Labels | null {
  const fields = isObject(body) ? body : {};
  const metadata = isObject(fields.metadata) ? fields.metadata : null;
  const written = header(TAGS);
  const tags = written === null ? tagsOfBody(fields, metadata) : readTags(written);
  const session = sessionOf(header, fields, metadata);
  return tags === null && session === null ? null : { tags, session };
}

/** As {@link labelsOf}, but null for invalid labels, which are reported later. */
export function labelsIfGood(header: Header, body: unknown): Labels | null {
  try {
    return labelsOf(header, body);
  } catch {
    return null;
  }
}

/**
 * Labels from a body in which values were masked. A masked label becomes a pseudonym: in another request the
 * same placeholder stands for another value, and budgets depend on labels.
 */
export function distinguishMasked(
  masked: Labels | null,
  sent: Labels | null,
  fingerprint: (text: string) => string,
): Labels | null {
  if (masked === null || sent === null) return masked;
  const apart = (now: string, before: string | null | undefined, most: number) => {
    if (now === before || typeof before !== "string") return now;
    return pseudonym(now, fingerprint(before), most);
  };
  const tags: Record<string, string> = {};
  for (const [name, value] of Object.entries(masked.tags ?? {})) {
    setTag(tags, name, apart(value, sent.tags?.[name], TAG_CHARS));
  }
  const { session } = masked;
  // A digest would include the placeholder's number.
  const shown = session?.startsWith(DIGEST) ? "masked" : session;
  return {
    tags: masked.tags === null ? null : tags,
    session: shown == null || session === sent.session ? session : apart(shown, sent.session, SESSION_CHARS),
  };
}

function readTags(header: string): Labels["tags"] {
  const tags: Record<string, string> = {};
  const parts = header.split(",").map((part) => part.trim()).filter((part) => part !== "");
  if (parts.length > MOST_TAGS) {
    throw refused(TAGS, `expected at most ${MOST_TAGS} tags, got ${parts.length}`);
  }
  for (const part of parts) {
    const at = part.indexOf("=");
    if (at < 0) throw refused(TAGS, `expected name=value, got ${shown(part)}`);
    const name = part.slice(0, at).trim();
    const value = part.slice(at + 1).trim();
    if (!TAG_NAME.test(name)) {
      throw refused(
        TAGS,
        `expected a name of 1 to ${TAG_CHARS} letters, digits and any of _.:/-, got ${shown(name)}`,
      );
    }
    if (!TAG_VALUE.test(value)) {
      throw refused(
        TAGS,
        `expected a value of 1 to ${TAG_CHARS} printable ASCII characters for ${name}, got ${shown(value)}`,
      );
    }
    if (Object.hasOwn(tags, name)) throw refused(TAGS, `expected ${name} once, got it twice`);
    setTag(tags, name, value);
  }
  return Object.keys(tags).length === 0 ? null : tags;
}

/** Sets a property also if its name is `__proto__`. */
function setTag(tags: Record<string, string>, name: string, value: string): void {
  Object.defineProperty(tags, name, { value, enumerable: true, configurable: true, writable: true });
}

/** `metadata` of chat-completions and responses, and `user`, which messages has in its metadata. */
function tagsOfBody(fields: Loose, metadata: Loose | null): Labels["tags"] {
  if (metadata === null && fields.user === undefined && fields.safety_identifier === undefined) return null;
  const tags: Record<string, string> = {};
  let count = 0;
  const add = (name: string, text: unknown) => {
    if (typeof text !== "string" || count >= MOST_TAGS || !TAG_NAME.test(name)) return;
    const value = cleanValue(text);
    if (value === "" || Object.hasOwn(tags, name)) return;
    setTag(tags, name, value);
    count++;
  };
  add("user", fields.user ?? fields.safety_identifier ?? userOf(metadata?.user_id));
  for (const [name, value] of Object.entries(metadata ?? {})) if (name !== "user_id") add(name, value);
  return count === 0 ? null : tags;
}

/** Replaces characters that records and tables cannot contain. */
function cleanValue(text: string): string {
  return text.slice(0, TAG_CHARS).toWellFormed().replace(/\p{Cc}/gu, "\ufffd").trim();
}

function sessionOf(header: Header, fields: Loose, metadata: Loose | null): string | null {
  const own = header(SESSION);
  if (own !== null && own.trim() !== "") {
    const session = own.trim();
    if (SESSION_TEXT.test(session)) return session;
    throw refused(
      SESSION,
      `expected 1 to ${SESSION_CHARS} printable ASCII characters without spaces, got ${shown(session)}`,
    );
  }
  for (const name of SESSIONS_OF_CLIENTS) {
    const session = header(name);
    if (session !== null && session !== "") return shortened(session);
  }
  const ofClaudeCode = claudeCodeUser(metadata?.user_id)?.session;
  if (ofClaudeCode) return shortened(ofClaudeCode);
  const { prompt_cache_key: cacheKey } = fields;
  return typeof cacheKey === "string" && cacheKey !== "" ? shortened(cacheKey) : null;
}

/** How much of a session id is hashed: hashing 30 MB of a field takes 100 ms. */
const MOST_HASHED = 1 << 16;

/** A session id from other fields may be longer than allowed, or contain any characters. */
function shortened(session: string): string {
  if (SESSION_TEXT.test(session)) return session;
  return DIGEST + sha256Hex(session.slice(0, MOST_HASHED));
}

/** Claude Code's `metadata.user_id` has some 200 characters. */
const LONGEST_USER = 2000;
const CLAUDE_CODE_USER = /^user_([0-9a-f]+)_account_([\w-]*?)_session_([\w-]+)$/;

/** Parses `metadata.user_id` of Claude Code, which contains its session: as a part of the text, or as JSON since 2.1.78. */
function claudeCodeUser(userId: unknown): { user: string; session: string | null } | null {
  if (typeof userId !== "string" || userId.length > LONGEST_USER) return null;
  const match = CLAUDE_CODE_USER.exec(userId);
  if (match !== null) return { user: match[2] || match[1], session: match[3] };
  if (!userId.startsWith("{")) return null;
  try {
    const value: unknown = JSON.parse(userId);
    if (!isObject(value)) return null;
    const { account_uuid: account, device_id: device, session_id: session } = value;
    const user = typeof account === "string" && account !== "" ? account : device;
    return {
      user: typeof user === "string" ? user : "",
      session: typeof session === "string" && session !== "" ? session : null,
    };
  } catch {
    return null;
  }
}

function userOf(userId: unknown): unknown {
  return claudeCodeUser(userId)?.user ?? userId;
}

function refused(header: string, what: string): Failure {
  return new Failure("validation_error", `Cannot read ${header}: ${what}.`, {
    param: header,
    errors: [{ type: "value_error", loc: ["header", header], msg: what }],
  });
}

const shown = (value: string) => shownHeader(value, 100);
