/** Tables that scroll by themselves, sort where a column says by what, and open a row by mouse or keyboard. */
import { html, useState } from "./html.js";
import { Empty } from "./ui.js";

/**
 * @template Row
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: Row) => import("./html.js").Children} show
 * @property {boolean} [number] its cells are numbers, aligned at the right
 * @property {(row: Row) => number | string | null} [sort] what the column is sorted by
 * @property {boolean} [quiet] the title is for screen readers alone: a column of buttons
 * @property {boolean} [wide] the text may break
 */

/** So many rows are shown at first, and more with each press: thousands would be drawn anew with each refresh. */
const ROWS = 200;

/**
 * @template Row
 * @param {object} props
 * @param {string} props.caption what the table is of, for who does not see the page
 * @param {readonly Column<Row>[]} props.columns
 * @param {readonly Row[]} props.rows
 * @param {(row: Row) => string} props.id of a row
 * @param {(row: Row) => string | null} [props.link] where a row leads: its first cell is a link; null: nowhere
 * @param {(row: Row) => boolean} [props.marked]
 * @param {string} [props.empty]
 * @param {(() => void) | null} [props.more] the rows behind these
 */
export function Table({ caption, columns, rows, id, link, marked, empty = "Nothing yet", more }) {
  const [sorting, setSorting] = useState(/** @type {{ at: number, down: boolean } | null} */ (null));
  const [most, setMost] = useState(ROWS);
  if (rows.length === 0) return html`<${Empty} title=${empty} />`;
  const by = sorting && columns[sorting.at]?.sort;
  const all = by ? [...rows].sort((a, b) => compare(by(a), by(b)) * (sorting.down ? -1 : 1)) : rows;
  const shown = all.length > most ? all.slice(0, most) : all;
  const showMore = () => {
    setMost(most + ROWS);
    if (shown === all) more?.();
  };
  /** @param {number} at */
  const turn = (at) =>
    setSorting(
      sorting?.at !== at
        ? { at, down: columns[at].number === true }
        : sorting.down === (columns[at].number === true)
        ? { at, down: !sorting.down }
        : null,
    );
  const linked = (/** @type {Row} */ row, /** @type {import("./html.js").Children} */ shown) => {
    const to = link?.(row) ?? null;
    return to === null ? shown : html`<a class="row-link" href=${to}>${shown}</a>`;
  };
  return html`
    <div class="table" role="region" aria-label=${caption} tabindex="0">
      <table>
        <caption class="for-readers">${caption}</caption>
        <thead>
          <tr>${columns.map(({ title, number, sort, quiet }, at) =>
            html`<th key=${at} scope="col" class=${number ? "number" : ""} aria-sort=${
              sorting?.at !== at ? undefined : sorting.down ? "descending" : "ascending"
            }>${
              sort
                ? html`
                  <button type="button" class="sort"
                    onClick=${() => turn(at)}>${title}<span aria-hidden="true">${sorting?.at !== at
                      ? ""
                      : sorting.down
                      ? " ↓"
                      : " ↑"}</span></button>
                `
                : quiet
                ? html`<span class="for-readers">${title}</span>`
                : title
            }</th>`
          )}</tr>
        </thead>
        <tbody>${shown.map((row) =>
          html`<tr key=${id(row)} class=${marked?.(row) ? "marked" : ""}>${
            columns.map(({ show, number, wide, quiet }, at) =>
              html`<td key=${at} class=${
                number ? "number" : wide ? "wide" : quiet ? "" : "text"
              } onMouseEnter=${titled}>${at === 0 ? linked(row, show(row)) : show(row)}</td>`
            )
          }</tr>`
        )}</tbody>
      </table>
    </div>${(more || shown !== all) &&
      html`<p class="more"><button type="button" onClick=${showMore}>Show more</button>${
        shown !== all && html`
          <small>${shown.length} of ${all.length}</small>
        `
      }</p>`}
  `;
}

/**
 * Text that does not fit is told in full.
 * @param {MouseEvent} event
 */
function titled({ currentTarget }) {
  const cell = /** @type {HTMLElement} */ (currentTarget);
  if (cell.scrollWidth > cell.clientWidth) cell.title = cell.innerText;
}

/**
 * @param {number | string | null} a
 * @param {number | string | null} b
 */
function compare(a, b) {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
