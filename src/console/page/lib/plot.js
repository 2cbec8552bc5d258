/** Draws with uPlot: colours of the style, a line of values under the pointer, a new width when the place changes. */
import uPlot from "uplot";
import { TONES } from "./series.js";

/**
 * @typedef {import("./series.js").Series} Series
 * @param {HTMLElement} place
 * @param {{ times: readonly number[], series: readonly Series[], format: (value: number) => string, kind: string, height: number }} what
 * @returns {() => void} takes it away
 */
export function plot(place, { times, series, format, kind, height }) {
  const style = getComputedStyle(place);
  /** A colour as the style has it now: `light-dark()` is resolved by the browser only where it is used.
   * @param {string} name */
  const colour = (name) => {
    const probe = place.appendChild(document.createElement("i"));
    probe.style.color = `var(${name})`;
    const value = getComputedStyle(probe).color;
    probe.remove();
    return value;
  };
  const tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
  const stacked = kind === "stack" ? stack(series) : series.map(({ values }) => values);
  const font = `11px ${style.fontFamily}`;

  const values = series.flatMap(({ values }) => values);
  const empty = values.every((value) => !value);
  const whole = values.every((value) => value === null || Number.isInteger(value));

  // Days are those of UTC, as in tables, wherever the reader is.
  const daily = times.every((time) => time % DAY_MS === 0);

  // A bar stands for the time behind its point.
  const after = kind === "line" || times.length < 2 ? 0 : times[1] - times[0];

  /** @type {uPlot | undefined} */
  let made;
  const draw = () => {
    made?.destroy();
    const text = colour("--text-3"), grid = colour("--line-soft");
    made = new uPlot(
      {
        width: Math.max(80, place.clientWidth),
        height,
        // Half of a label that stands under the last point.
        padding: [8, 20, 0, 0],
        legend: { show: false },
        tzDate: daily
          ? (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC")
          : (seconds) => new Date(seconds * 1000),
        cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
        scales: {
          x: { time: true, range: [times[0] / 1000, (times[times.length - 1] + after) / 1000] },
          y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] },
        },
        axes: [
          {
            stroke: text,
            font,
            grid: { show: false },
            ticks: { show: false },
            size: 28,
            gap: 8,
            space: 64,
            values: (_, ticks) => labels(ticks, daily),
          },
          {
            stroke: text,
            font,
            grid: { stroke: grid, width: 1 },
            ticks: { show: false },
            size: (_, values) => Math.max(32, ...(values ?? []).map((v) => v.length * 6.6 + 10)),
            gap: 4,
            space: 34,
            values: (_, ticks) =>
              // Between whole numbers there is nothing to be told.
              ticks.map((v) => v === null || empty || (whole && !Number.isInteger(v)) ? "" : format(v)),
          },
        ],
        series: [
          {},
          ...series.map(({ name, tone }, i) => {
            const stroke = colour(tone ?? TONES[i % TONES.length]);
            const bars = kind === "bars" || kind === "stack";
            return {
              label: name,
              stroke,
              width: bars ? 0 : 1.6,
              fill: bars ? stroke : series.length === 1 ? faded(stroke) : undefined,
              paths: bars ? /** @type {any} */ (uPlot.paths).bars({ size: [0.72, 24], align: 1 }) : undefined,
              points: { show: !bars, size: 3, fill: stroke, filter: () => alone(series[i].values) },
              spanGaps: false,
            };
          }),
        ],
        hooks: {
          setCursor: [(u) => {
            const at = u.cursor.idx;
            tip.hidden = at === null || at === undefined || (u.cursor.left ?? -1) < 0;
            if (tip.hidden || at === null || at === undefined) return;
            tip.replaceChildren(
              line(full(times[at], daily)),
              ...series.map(({ name, values, tone }, i) => {
                const value = values[at];
                return line(
                  `${name}  ${value === null ? "–" : format(value)}`,
                  tone ?? TONES[i % TONES.length],
                );
              }),
            );
            const left = (u.cursor.left ?? 0) + u.over.offsetLeft;
            const right = left > place.clientWidth / 2;
            tip.style.left = right ? "auto" : `${left + 12}px`;
            tip.style.right = right ? `${place.clientWidth - left + 12}px` : "auto";
          }],
        },
      },
      /** @type {uPlot.AlignedData} */ ([times.map((t) => t / 1000), ...stacked]),
      place,
    );
    place.append(tip);
  };
  draw();
  let width = place.clientWidth;
  const watcher = new ResizeObserver(() => {
    if (place.clientWidth === width) return;
    width = place.clientWidth;
    made?.setSize({ width: Math.max(80, width), height });
  });
  watcher.observe(place);
  const themed = new MutationObserver(() => draw());
  themed.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", draw);
  return () => {
    dark.removeEventListener("change", draw);
    watcher.disconnect();
    themed.disconnect();
    made?.destroy();
    tip.remove();
  };
}

/** Points that no line leads to.
 * @param {readonly (number | null)[]} values */
const alone = (values) =>
  values.flatMap((value, i) => value !== null && values[i - 1] == null && values[i + 1] == null ? [i] : []);

/** @param {readonly Series[]} series each with those behind it below: the first is drawn first, and highest */
function stack(series) {
  return series.map((_, i) =>
    series[i].values.map((_, at) => series.slice(i).reduce((sum, { values }) => sum + (values[at] ?? 0), 0))
  );
}

/** @param {string} colour `rgb(…)` or `color(srgb …)` */
const faded = (colour) =>
  colour.startsWith("rgb(")
    ? colour.replace("rgb(", "rgba(").replace(")", ", .1)")
    : colour.replace(")", " / .1)");

/**
 * @param {string} text
 * @param {string} [tone]
 */
function line(text, tone) {
  const made = document.createElement("div");
  if (tone) {
    const mark = made.appendChild(document.createElement("i"));
    mark.style.background = `var(${tone})`;
  }
  made.append(text);
  return made;
}

const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
const DAY_MS = 86_400_000;
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** @param {Date} date of UTC */
const dayOf = (date) => `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;

/**
 * @param {number} time
 * @param {boolean} daily
 */
function full(time, daily) {
  const d = new Date(time);
  if (daily) return dayOf(d);
  return `${d.getDate()} ${MONTHS[d.getMonth()]} ${two(d.getHours())}:${two(d.getMinutes())}`;
}

/**
 * @param {readonly number[]} ticks in seconds
 * @param {boolean} daily
 */
function labels(ticks, daily) {
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : 0;
  return ticks.map((tick) => {
    const d = new Date(tick * 1000);
    const monthly = step >= 86_400 * 27;
    if (daily) return monthly ? `${MONTHS[d.getUTCMonth()]} ${d.getUTCFullYear()}` : dayOf(d);
    if (monthly) return `${MONTHS[d.getMonth()]} ${d.getFullYear()}`;
    if (step >= 86_400 || (d.getHours() === 0 && d.getMinutes() === 0)) {
      return `${d.getDate()} ${MONTHS[d.getMonth()]}`;
    }
    return `${two(d.getHours())}:${two(d.getMinutes())}`;
  });
}
