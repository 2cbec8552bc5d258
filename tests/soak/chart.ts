/** Lines over time as a picture: one panel each, in SVG. */

export interface Series {
  /** With its unit. */
  name: string;
  points: readonly (readonly [x: number, y: number])[];
}

const WIDTH = 720;
const HEIGHT = 84;
const LEFT = 60;
const RIGHT = 16;
const TOP = 24;
const GAP = 34;
const BOTTOM = 40;
/** Steps between two lines of the grid are one of these, times a power of ten. */
const STEPS = [1, 2, 2.5, 5, 10];

export function chart(series: readonly Series[], unit: string): string {
  const height = TOP + series.length * (HEIGHT + GAP) - GAP + BOTTOM;
  const last = Math.max(...series.flatMap(({ points }) => points.map(([x]) => x)));
  const x = (value: number) => (LEFT + (WIDTH - LEFT - RIGHT) * value / last).toFixed(1);
  const times = ticks(last, 6);
  const end = TOP + series.length * (HEIGHT + GAP) - GAP;
  const panels = series.map(({ name, points }, i) => {
    const top = TOP + i * (HEIGHT + GAP);
    const values = ticks(Math.max(1, ...points.map(([, y]) => y)), 3, true);
    const most = values.at(-1)!;
    const y = (value: number) => (top + HEIGHT * (1 - value / most)).toFixed(1);
    const grid = values.map((value) =>
      `<path d="M${LEFT} ${y(value)}H${WIDTH - RIGHT}" stroke="#ddd"/>` +
      `<text x="${LEFT - 6}" y="${y(value)}" dy="4" text-anchor="end">${value.toLocaleString("en")}</text>`
    );
    const upright = times.map((time) => `<path d="M${x(time)} ${top}V${top + HEIGHT}" stroke="#ddd"/>`);
    const line = points.map(([px, py]) => `${x(px)},${y(py)}`).join(" ");
    return `<text x="${LEFT}" y="${top - 7}" font-weight="bold">${name}</text>
${[...grid, ...upright].join("\n")}
<polyline points="${line}" fill="none" stroke="#2a6fdb" stroke-width="1.5"/>`;
  });
  const axis = times.map((time) =>
    `<text x="${x(time)}" y="${end + 16}" text-anchor="middle">${time.toLocaleString("en")}</text>`
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">
<rect class="paper" width="${WIDTH}" height="${height}" fill="white"/>
${panels.join("\n")}
${axis.join("\n")}
<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${end + 34}" text-anchor="middle">${unit}</text>
</svg>
`;
}

/** Round numbers from 0 on, about so many steps; the last is the first one not below `most` where it is to be covered. */
function ticks(most: number, steps: number, covers = false): number[] {
  const power = 10 ** Math.floor(Math.log10(most / steps));
  const step = STEPS.map((of) => of * power).find((of) => of * steps >= most) ?? 10 * power;
  const count = covers ? Math.ceil(most / step) : Math.floor(most / step);
  return Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(6)));
}
