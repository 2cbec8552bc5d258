/** The path of a request. */
import { Failure } from "../exchange/failure.ts";

/** The path of a URL, without parsing all of it. A trailing slash is ignored. */
export function pathOf(url: string): string {
  if (url !== last.url) last = { url, path: foundIn(url) };
  return last.path;
}

/** Cached, since most requests have the same URL as the previous one. */
let last = { url: "", path: "/" };

function foundIn(url: string): string {
  const from = url.indexOf("/", url.indexOf("//") + 2);
  if (from < 0) return "/";
  const query = url.search(/[?#]/);
  const path = query < 0 ? url.slice(from) : url.slice(from, query);
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/** The path for the log, redacted: keys may occur anywhere in it. */
export function loggable(path: string): string {
  return path.replace(/sk_(?:live|admin)_[^/]*/g, "[withheld]").slice(0, 100);
}

/** A decoded path segment. Throws `not_found` for a malformed percent-encoding or a control character. */
export function nameIn(part: string): string {
  const name = decoded(part);
  // deno-lint-ignore no-control-regex
  if (name !== null && !/[\0-\x1f\x7f]/.test(name)) return name;
  throw new Failure("not_found", "There is nothing of this name here.");
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
