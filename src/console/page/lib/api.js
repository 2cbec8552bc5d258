/**
 * Asks the administration's endpoints with the session's cookie, which no script can read. Changes carry the session's `csrf`.
 * A 401 ends the session.
 */

/**
 * @typedef {{ role: "owner" | "operator" | "member" | "auditor", name: string | null, team: string | null, csrf?: string, member_rule?: { keys: number, spend_limit: { amount: string, period: string } | null } | null }} Session
 * @typedef {{ method?: string, body?: unknown, signal?: AbortSignal, headers?: Record<string, string> }} Asking
 */

/** What an endpoint refused, in its own words. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {string | undefined} code
   * @param {string | undefined} param
   */
  constructor(status, message, code, param) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

const SESSION = "/console/session";

/** @type {Session | null} */
let session = null;
/** @type {Set<(session: Session | null) => void>} */
const listeners = new Set();

export const currentSession = () => session;

/** Whether a session has ended that nobody ended on this page. */
let ended = false;
export const hasEnded = () => ended;

/** @param {(session: Session | null) => void} listener */
export function onSession(listener) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** @param {Session | null} value */
function become(value) {
  if (value !== null) ended = false;
  session = value;
  for (const listener of listeners) listener(value);
}

/** Tabs of one browser share its session: each tells the others when another one begins or it ends. */
const tabs = new BroadcastChannel("sluice.session");
tabs.onmessage = () => void resume().catch(() => {});

/** Whether the store was away when it was asked last. */
let away = false;
/** @type {Set<(away: boolean) => void>} */
const watchers = new Set();

export const isAway = () => away;

/** @param {(away: boolean) => void} watcher */
export function onAway(watcher) {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

/** @param {Response} response */
function note({ headers }) {
  const now = headers.get("x-svc-store");
  if (now === null || away === (now === "away")) return;
  away = now === "away";
  for (const watcher of watchers) watcher(away);
}

/** @typedef {{ oidc: boolean, signed_in: boolean, docs: boolean }} Ways how one may sign in, whether this browser has, and whether there is a manual */

/**
 * Goes on with the session that this browser has.
 * @returns {Promise<Ways>}
 */
async function resume() {
  /** @type {Ways} */
  const ways = await (await fetch("/console/ways", { cache: "no-store" })).json();
  /** @type {Session | null} */
  const now = ways.signed_in ? await ask(SESSION) : null;
  if (now?.csrf !== session?.csrf) become(now);
  return ways;
}

/** {@link resume}, as the page begins: maybe with a session that the identity provider has just led to. */
export async function begin() {
  const ways = await resume();
  if (ways.signed_in) tabs.postMessage(null);
  return ways;
}

/** @param {string} secret the admin key, or a token `sk_admin_…` */
export async function signIn(secret) {
  const body = secret.startsWith("sk_admin_") ? { token: secret } : { admin_key: secret };
  become(await ask(SESSION, { method: "POST", body }));
  tabs.postMessage(null);
}

/** @type {string | null} */
let providerEnd = null;

/** Where somebody who has just signed out here leaves the identity provider, too; null: there is no such place. */
export const currentProviderEnd = () => providerEnd;

/** Throws where the session may go on: whoever leaves has to know. */
export async function signOut() {
  try {
    /** @type {{ end_session_url: string | null }} */
    const { end_session_url: url } = await ask(SESSION, { method: "DELETE" });
    providerEnd = url !== null && /^https?:/.test(url) ? url : null;
  } catch (error) {
    // It had ended already.
    if (session !== null) throw error;
  }
  become(null);
  tabs.postMessage(null);
}

/**
 * The answer to a request, whatever its status.
 *
 * @param {string} path
 * @param {Asking} [asking]
 */
async function send(path, { method = "GET", body, signal, headers = {} } = {}) {
  /** @type {Record<string, string>} */
  const all = { ...headers };
  if (method !== "GET" && session?.csrf) all["x-svc-csrf"] = session.csrf;
  if (body !== undefined && !(body instanceof Blob)) all["content-type"] ??= "application/json";
  const response = await fetch(path, {
    method,
    headers: all,
    signal,
    cache: "no-store",
    body: body === undefined || body instanceof Blob ? body : JSON.stringify(body),
  });
  note(response);
  return response;
}

/**
 * The JSON of an answer. Throws {@link Refused}.
 *
 * @template T
 * @param {string} path
 * @param {Asking} [asking]
 * @returns {Promise<T>}
 */
export async function ask(path, asking) {
  const response = await send(path, asking);
  if (!response.ok) throw await refusal(response);
  return /** @type {T} */ (response.status === 204 ? undefined : await response.json());
}

/** @param {Response} response */
export async function refusal(response) {
  if (response.status === 401 && session !== null) {
    ended = true;
    become(null);
  }
  const answer = await response.json().catch(() => ({}));
  const { message, code, extra } = typeof answer.error === "object" ? answer.error : answer;
  const param = extra?.errors?.[0]?.loc?.join(".");
  return new Refused(response.status, message ?? `The gateway answered ${response.status}.`, code, param);
}

/**
 * Events of a stream, each as its name and its data, until it ends or is aborted.
 *
 * @param {string} path
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<{ event: string, data: any }>}
 */
export async function* events(path, signal) {
  const response = await send(path, { signal, headers: { accept: "text/event-stream" } });
  if (!response.ok || response.body === null) throw await refusal(response);
  let rest = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      let event = "message", data = "";
      for (const line of block.split("\n")) {
        if (line.startsWith("event: ")) event = line.slice(7);
        else if (line.startsWith("data: ")) data += line.slice(6);
      }
      if (data !== "") yield { event, data: JSON.parse(data) };
    }
  }
}

/**
 * A query of what is not empty, with its question mark.
 * @param {Record<string, string | number | null | undefined>} given
 */
export function query(given) {
  const pairs = Object.entries(given).filter(([, v]) => v !== "" && v !== null && v !== undefined);
  return pairs.length === 0
    ? ""
    : `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}`;
}

/**
 * Saves an answer as a file.
 * @param {string} path
 * @param {string} name
 * @param {string} type that is asked for
 */
export async function download(path, name, type) {
  const response = await send(path, { headers: { accept: type } });
  if (!response.ok) throw await refusal(response);
  save(await response.blob(), name);
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
