/** Changes of a key or a team that two people may make at the same time. */
import { ask } from "../lib/api.js";

/** Somebody else has changed a field that was to be changed. */
export class ChangedMeanwhile extends Error {
  /**
   * @param {readonly string[]} names of the fields
   * @param {any} now what it is now
   */
  constructor(names, now) {
    const fields = names.map((name) => name.replaceAll("_", " ")).join(" and ");
    super(
      `Somebody else has changed ${fields} in the meantime. The form shows the new values: check them, then save.`,
    );
    this.now = now;
  }
}

/**
 * Saves the fields that are other ones than before. Throws {@link ChangedMeanwhile} where one of them is not as it was when the
 * form was opened: a limit of two numbers is one field, so that saving would undo the other person's.
 *
 * @param {string} path
 * @param {object} before as the form was opened with
 * @param {object} wanted
 */
export async function saveChange(path, before, wanted) {
  const [old, wish] = [before, wanted].map((one) => /** @type {Record<string, unknown>} */ (one));
  const differs = (/** @type {unknown} */ a, /** @type {unknown} */ b) =>
    JSON.stringify(a) !== JSON.stringify(b);
  const body = Object.fromEntries(Object.entries(wish).filter(([name, value]) => differs(value, old[name])));
  /** @type {Record<string, unknown>} */
  const now = await ask(path);
  const others = Object.keys(body).filter((name) => differs(now[name], old[name]));
  if (others.length > 0) throw new ChangedMeanwhile(others, now);
  return await ask(path, { method: "PATCH", body });
}
