/**
 * What the page's parts have in common: finding elements, telling what happened, reading forms, showing tables.
 *
 * The page holds this and `script.js` as one script, so that nothing is loaded from elsewhere.
 */

/**
 * A column: its title, what it shows of a row, whether that is a number.
 *
 * @template Row
 * @typedef {[title: string, value: (row: Row) => string | Node | null | undefined, number?: true]} Column
 */

/**
 * The element of this id.
 *
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
export function at(id, type) {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new Error(`The page has no ${type.name} "${id}"`);
}

/**
 * @param {string} text
 * @param {"good" | "bad"} [kind]
 */
export function tell(text, kind = "good") {
  const line = at("told", HTMLElement);
  line.textContent = text;
  line.className = kind;
}

/**
 * A listener that does what an operator asked for, and tells what came of it.
 *
 * @param {() => Promise<unknown>} work
 * @param {string} [done]
 * @returns {(event: Event) => Promise<void>}
 */
export function act(work, done) {
  return async (event) => {
    event.preventDefault();
    try {
      await work();
      if (done) tell(done);
    } catch (error) {
      tell(error instanceof Error ? error.message : String(error), "bad");
    }
  };
}

/**
 * @param {string} id of a form
 * @param {(given: Record<string, string>, form: HTMLFormElement) => Promise<unknown>} work
 */
export function onSubmit(id, work) {
  const form = at(id, HTMLFormElement);
  form.addEventListener("submit", act(() => work(valuesOf(form), form)));
}

/**
 * What stands in a form's fields, without blanks around it.
 *
 * @param {HTMLFormElement} form
 * @returns {Record<string, string>}
 */
export function valuesOf(form) {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]));
}

/**
 * @template Row
 * @param {string} id of the place that the table takes
 * @param {string} caption
 * @param {readonly Column<Row>[]} columns
 * @param {readonly Row[]} rows
 */
export function table(id, caption, columns, rows) {
  const made = document.createElement("table");
  made.createCaption().textContent = rows.length > 0 ? caption : `${caption}: nothing yet`;
  const head = made.createTHead().insertRow();
  for (const [title, , number] of columns) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = title;
    if (number) cell.className = "number";
    head.append(cell);
  }
  const body = made.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const [, value, number] of columns) {
      const cell = line.insertCell();
      if (number) cell.className = "number";
      cell.append(value(row) ?? "");
    }
  }
  at(id, HTMLElement).replaceChildren(made);
}

/** @param {string | null} time ISO 8601 */
export const when = (time) => time === null ? "" : time.slice(0, 19).replace("T", " ");
/** @param {number | null | undefined} n */
export const count = (n) => n === null || n === undefined ? "" : n.toLocaleString("en");

/** @param {Record<string, string>} given fields of a form */
export function queryOf(given) {
  return new URLSearchParams(Object.entries(given).filter(([, value]) => value !== ""));
}
