/** The path of a request. */
import { Failure } from "../exchange/failure.ts";

/** The path of an address, without the cost of parsing all of it. A slash at its end does not count. */
export function pathOf(url: string): string {
  if (url !== last.url) last = { url, path: foundIn(url) };
  return last.path;
}

/** Most requests have the address of the one before. */
let last = { url: "", path: "/" };

function foundIn(url: string): string {
  const from = url.indexOf("/", url.indexOf("//") + 2);
  if (from < 0) return "/";
  const query = url.search(/[?#]/);
  const path = query < 0 ? url.slice(from) : url.slice(from, query);
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/** A path as the log may show it: people put keys everywhere. */
export function loggable(path: string): string {
  return path.replace(/sk_(?:live|admin)_[^/]*/g, "[withheld]").slice(0, 100);
}

/** A part of a path, decoded. A broken escape or a control character names nothing: `not_found`. */
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
