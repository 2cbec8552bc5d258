/** Time series with uPlot: loaded with the first chart. The numbers are in a table for who does not see it. */
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
  return html`<figure class="chart">
    <div ref=${place} class="plot" role="img" aria-label=${`${label}. ${
    series.map(({ name, values }) => `${name}: ${said(values[last], format)} at the end`).join(", ")
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

/**
 * @param {number | null | undefined} value
 * @param {(value: number) => string} format
 */
const said = (value, format) => value === null || value === undefined ? "nothing" : format(value);
