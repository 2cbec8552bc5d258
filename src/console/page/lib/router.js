/** The address within the console: `#/explore/usage?by=key`, a page, what it shows, and how. */
import { useEffect, useState } from "./html.js";

/** @typedef {{ page: string, rest: string[], query: Record<string, string> }} Route */

/** @returns {Route} */
export function currentRoute() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [page, ...rest] = path.split("/").map(decoded);
  return { page, rest, query: Object.fromEntries(new URLSearchParams(query)) };
}

/** @param {string} step of an address, which may have been cut anywhere */
function decoded(step) {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/**
 * @param {string} page
 * @param {{ rest?: readonly string[], query?: Record<string, string | number | null | undefined> }} [to]
 */
export function href(page, { rest = [], query = {} } = {}) {
  const given = Object.entries(query).filter(([, v]) => v !== "" && v !== null && v !== undefined);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `#/${[page, ...rest].map(encodeURIComponent).join("/")}${search && `?${search}`}`;
}

/**
 * @param {string} page
 * @param {Parameters<typeof href>[1] & { replace?: boolean }} [to]
 */
export function go(page, to = {}) {
  const address = href(page, to);
  if (to.replace) {
    history.replaceState(null, "", address);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = address.slice(1);
}

/** The route, and anew whenever it changes. */
export function useRoute() {
  const [route, setRoute] = useState(currentRoute);
  const drawn = location.hash;
  useEffect(() => {
    const changed = () => setRoute(currentRoute());
    addEventListener("hashchange", changed);
    // It may have changed since this was drawn.
    if (location.hash !== drawn) changed();
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}
