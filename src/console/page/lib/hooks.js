/** What pages do with answers: ask, show that it takes time, ask again. */
import { ask } from "./api.js";
import { useCallback, useEffect, useRef, useState } from "./html.js";
import { toast } from "./toast.js";

/**
 * The answer of an endpoint. While a later one is awaited, `data` is the one before.
 *
 * @template T
 * @param {string | null} path null: nothing is asked yet
 * @param {{ every?: number, fresh?: boolean }} [options] `every`: asked anew after so many milliseconds, while the page is to be seen;
 * `fresh`: an answer of another path is no `data`, for pages whose texts come from the path
 * @returns {{ data: T | undefined, error: Error | undefined, loading: boolean, reload: () => void }}
 */
export function useAsk(path, { every, fresh = false } = {}) {
  const [state, setState] = useState(
    /** @type {{ data?: T, of?: string, error?: Error, loading: boolean }} */ ({ loading: path !== null }),
  );
  const [turn, setTurn] = useState(0);
  // On a slow line an answer may take longer than the time between two questions.
  const waiting = useRef(false);
  useEffect(() => {
    if (path === null) return;
    const aborter = new AbortController();
    waiting.current = true;
    setState((before) => ({ ...before, loading: true }));
    ask(path, { signal: aborter.signal }).then(
      (data) => setState({ data: /** @type {T} */ (data), of: path, loading: false }),
      (error) => {
        if (!aborter.signal.aborted) setState(({ data, of }) => ({ data, of, error, loading: false }));
      },
    ).finally(() => {
      if (!aborter.signal.aborted) waiting.current = false;
    });
    return () => aborter.abort();
  }, [path, turn]);
  useEffect(() => {
    if (every === undefined) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible" && !waiting.current) setTurn((n) => n + 1);
    }, every);
    return () => clearInterval(timer);
  }, [every]);
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  const data = fresh && state.of !== path ? undefined : state.data;
  return { data, error: state.error, loading: state.loading, reload };
}

/**
 * Pages of a list, one behind the other.
 *
 * @template Row
 * @param {string} path of the list, with a query or without
 * @returns {{ rows: Row[], more: (() => void) | null, since: string | null, error: Error | undefined, loading: boolean, reload: () => void }} `since`: while the store is away, from when on the process knows them
 */
export function useList(path) {
  const first = useAsk(path);
  /** @type {{ data: Row[], next_cursor: string | null, since?: string | null } | undefined} */
  const page = /** @type {any} */ (first.data);
  const [later, setLater] = useState(
    /** @type {{ rows: Row[], cursor: string | null, of: unknown }} */ ({ rows: [], cursor: null, of: null }),
  );
  const fresh = later.of === page;
  const cursor = fresh ? later.cursor : page?.next_cursor ?? null;
  const rows = [...(page?.data ?? []), ...(fresh ? later.rows : [])];
  const more = cursor === null ? null : () => {
    ask(`${path}${path.includes("?") ? "&" : "?"}cursor=${encodeURIComponent(cursor)}`).then(
      (/** @type {any} */ { data, next_cursor }) =>
        setLater({ rows: [...(fresh ? later.rows : []), ...data], cursor: next_cursor, of: page }),
      (error) => toast(error.message, "bad"),
    );
  };
  const since = page?.since ?? null;
  return { rows, more, since, error: first.error, loading: first.loading, reload: first.reload };
}

/**
 * All rows of a list, page after page: for forms, which offer every name.
 *
 * @template Row
 * @param {string | null} path without a query; null: nothing is asked
 * @returns {Row[] | undefined} undefined until all of them are known
 */
export function useWhole(path) {
  const [rows, setRows] = useState(/** @type {Row[] | undefined} */ (undefined));
  useEffect(() => {
    if (path === null) return;
    const aborter = new AbortController();
    wholeOf(path, aborter.signal).then(setRows, () => {});
    return () => aborter.abort();
  }, [path]);
  return rows;
}

/**
 * @param {string} path
 * @param {AbortSignal} signal
 */
async function wholeOf(path, signal) {
  const rows = [];
  for (let cursor = ""; cursor !== null;) {
    const next = cursor && `&cursor=${encodeURIComponent(cursor)}`;
    const page = await ask(`${path}?limit=1000${next}`, { signal });
    rows.push(...page.data);
    cursor = page.next_cursor;
  }
  return rows;
}

/**
 * Something that a person asks for: `[run, busy]`. What goes wrong is told in a toast, and `run` answers undefined.
 *
 * @template {unknown[]} Args
 * @template Result
 * @param {(...args: Args) => Promise<Result>} work
 * @param {string} [done] what a toast says afterwards
 * @returns {[(...args: Args) => Promise<Result | undefined>, boolean]}
 */
export function useAct(work, done) {
  const [busy, setBusy] = useState(false);
  const alive = useRef(true);
  useEffect(() => () => void (alive.current = false), []);
  return [async (...args) => {
    setBusy(true);
    try {
      const result = await work(...args);
      if (done) toast(done);
      return result;
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), "bad");
    } finally {
      if (alive.current) setBusy(false);
    }
  }, busy];
}

/**
 * A value of this browser that outlives the page. Never a secret.
 *
 * @template T
 * @param {string} name
 * @param {T} initial
 * @returns {[T, (value: T) => void]}
 */
export function useStored(name, initial) {
  const [value, setValue] = useState(() => {
    try {
      const text = localStorage.getItem(`sluice.${name}`);
      return text === null ? initial : /** @type {T} */ (JSON.parse(text));
    } catch {
      return initial;
    }
  });
  useEffect(() => {
    /** Another tab has changed it. @param {StorageEvent} event */
    const changed = ({ key, newValue }) => {
      if (key === `sluice.${name}`) setValue(newValue === null ? initial : JSON.parse(newValue));
    };
    addEventListener("storage", changed);
    return () => removeEventListener("storage", changed);
  }, [name]);
  return [value, (next) => {
    setValue(next);
    try {
      localStorage.setItem(`sluice.${name}`, JSON.stringify(next));
    } catch {
      // The browser keeps nothing: then it lasts as long as the page.
    }
  }];
}
