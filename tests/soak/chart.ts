/** Series over time as a picture: one panel each, in SVG. */

export interface Series {
  name: string;
  points: readonly (readonly [x: number, y: number])[];
}

const WIDTH = 720;
const HEIGHT = 110;
const LEFT = 60;
const TOP = 24;
const GAP = 20;

export function chart(series: readonly Series[], unit: string): string {
  const height = series.length * (HEIGHT + GAP) + TOP;
  const last = Math.max(...series.flatMap(({ points }) => points.map(([x]) => x)));
  const panels = series.map(({ name, points }, i) => {
    const top = TOP + i * (HEIGHT + GAP);
    const most = Math.max(1, ...points.map(([, y]) => y)) * 1.1;
    const x = (value: number) => (LEFT + (WIDTH - LEFT - 10) * value / last).toFixed(1);
    const y = (value: number) => (top + HEIGHT * (1 - value / most)).toFixed(1);
    const line = points.map(([px, py]) => `${x(px)},${y(py)}`).join(" ");
    return `<text x="${LEFT}" y="${top - 4}">${name}</text>
<path d="M${LEFT} ${top}V${top + HEIGHT}H${WIDTH - 10}" fill="none" stroke="#888"/>
<text x="${LEFT - 6}" y="${top + 10}" text-anchor="end">${Math.round(most)}</text>
<text x="${LEFT - 6}" y="${top + HEIGHT}" text-anchor="end">0</text>
<polyline points="${line}" fill="none" stroke="#2a6fdb" stroke-width="1.5"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" fill="#555">
${panels.join("\n")}
<text x="${WIDTH - 10}" y="${height - 6}" text-anchor="end">${last.toFixed(last < 10 ? 1 : 0)} ${unit}</text>
</svg>
`;
}
