/** A field to search by, and what stands in it once typing rests: so that not every letter is asked for. */
import { html, useEffect, useState } from "../lib/html.js";

const REST_MS = 200;

/**
 * @param {string} label what is searched
 * @returns {[search: string, box: import("../lib/html.js").Children]}
 */
export function useSearchBox(label) {
  const [typed, setTyped] = useState("");
  const [search, setSearch] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSearch(typed.trim()), REST_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const box = html`
    <input type="search" class="search-box" aria-label=${label} placeholder=${label} value=${typed}
      onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ { currentTarget }) =>
        setTyped(currentTarget.value)} />
  `;
  return [search, box];
}
