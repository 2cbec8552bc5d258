/** Time series with uPlot: loaded with the first chart. Who does not see it is told the most and the last of each. */
import { html, useEffect, useRef } from "./html.js";
import { TONES } from "./series.js";

/** @typedef {import("./series.js").Series} Series */

/**
 * @param {object} props
 * @param {string} props.label what is drawn
 * @param {readonly number[]} props.times in milliseconds, ascending
 * @param {readonly Series[]} props.series
 * @param {(value: number) => string} props.format
 * @param {"line" | "bars" | "stack"} [props.kind]
 * @param {number} [props.height]
 */
export function Chart({ label, times, series, format, kind = "line", height = 148 }) {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => {
    let gone = false;
    let end = () => {};
    import("./plot.js").then(({ plot }) => {
      if (!gone && place.current) end = plot(place.current, { times, series, format, kind, height });
    });
    return () => {
      gone = true;
      end();
    };
  }, [times, series, kind, height]);
  const last = times.length - 1;
  const empty = series.every(({ values }) => values.every((value) => !value));
  return html`<figure class="chart">
    ${empty && html`<p class="chart-empty">Nothing in this time</p>`}
    <div ref=${place} class="plot" role="img" aria-label=${`${label}. ${
    series.map(({ name, values }) =>
      `${name}: ${said(most(values), format)} at most, ${said(values[last], format)} at the end`
    ).join(", ")
  }`} style=${{ minHeight: `${height}px` }}></div>
    ${
    series.length > 1 && html`<figcaption class="legend">${
      series.map(({ name, tone }, i) =>
        html`<span key=${name}><i style=${{
          background: `var(${tone ?? TONES[i % TONES.length]})`,
        }}></i>${name}</span>`
      )
    }</figcaption>`
  }
  </figure>`;
}

/** @param {readonly (number | null)[]} values */
function most(values) {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((a, b) => Math.max(a, b));
}

/**
 * @param {number | null | undefined} value
 * @param {(value: number) => string} format
 */
const said = (value, format) => value === null || value === undefined ? "nothing" : format(value);
