/**
 * The measure of a router and its plot. Prompts are sent to the strong model in order of their score; the
 * curve is the share answered right over the share sent. Average performance gap recovered (APGR, as defined
 * by RouteLLM) is the mean height of that curve between the weak model's line at 0 and the strong model's at
 * 1; chance gives 0.5.
 */

export interface Judged {
  score: number;
  weak: number;
  strong: number;
}

export interface Point {
  share: number;
  quality: number;
}

/** Equal scores are averaged, so that their order in the file does not matter. */
export function curve(judged: readonly Judged[]): Point[] {
  const n = judged.length;
  const sorted = judged.toSorted((a, b) => b.score - a.score);
  let right = judged.reduce((sum, j) => sum + j.weak, 0);
  const points = [{ share: 0, quality: right / n }];
  sorted.forEach(({ score, weak, strong }, i) => {
    right += strong - weak;
    if (i + 1 < n && sorted[i + 1].score === score) return;
    points.push({ share: (i + 1) / n, quality: right / n });
  });
  return points;
}

/**
 * How much of the strong model's advantage a router keeps, averaged over all shares of calls to it: 0.5 is
 * chance, higher is better (average performance gap recovered).
 */
export function apgr(judged: readonly Judged[]): number {
  const points = curve(judged);
  const weak = points[0].quality;
  const strong = points[points.length - 1].quality;
  let area = 0;
  for (let i = 1; i < points.length; i++) {
    area += (points[i].share - points[i - 1].share) *
      ((points[i].quality + points[i - 1].quality) / 2 - weak);
  }
  return area / (strong - weak);
}

export interface Panel {
  title: string;
  lines: { name: string; color: string; judged: readonly Judged[] }[];
}

const WIDTH = 400, HEIGHT = 300, LEFT = 52, TOP = 34, RIGHT = 24, BOTTOM = 44;

/** Plots side by side, each with the diagonal of chance. */
export function picture(panels: readonly Panel[]): string {
  const body = panels.map((panel, i) => `<g transform="translate(${i * WIDTH} 0)">${plot(panel)}</g>`).join(
    "\n",
  );
  const size = `width="${panels.length * WIDTH}" height="${HEIGHT}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif" font-size="11">\n` +
    `<rect class="paper" ${size} fill="white"/>\n${body}\n</svg>\n`;
}

function plot({ title, lines }: Panel): string {
  const all = lines.map(({ judged }) => curve(judged));
  const qualities = all.flat().map((p) => p.quality);
  const low = Math.floor(Math.min(...qualities) * 50) / 50;
  const high = Math.ceil(Math.max(...qualities) * 50) / 50;
  const x = (share: number) => (LEFT + share * (WIDTH - LEFT - RIGHT)).toFixed(1);
  const y = (quality: number) => (TOP + (high - quality) / (high - low) * (HEIGHT - TOP - BOTTOM)).toFixed(1);
  const out = [`<text x="${LEFT}" y="20" font-size="13" font-weight="bold">${title}</text>`];
  for (let share = 0; share <= 1; share += 0.25) {
    out.push(`<text x="${x(share)}" y="${HEIGHT - 28}" text-anchor="middle">${share * 100}%</text>`);
  }
  for (let q = low; q <= high + 1e-9; q += 0.04) {
    out.push(`<path d="M${x(0)} ${y(q)}H${x(1)}" stroke="#ddd"/>`);
    out.push(`<text x="${LEFT - 6}" y="${y(q)}" dy="4" text-anchor="end">${(q * 100).toFixed(0)}%</text>`);
  }
  out.push(
    `<text x="${x(0.5)}" y="${HEIGHT - 10}" text-anchor="middle">share of calls to the strong model</text>`,
  );
  const [first, last] = [all[0][0], all[0][all[0].length - 1]];
  const chance = `M${x(0)} ${y(first.quality)}L${x(1)} ${y(last.quality)}`;
  out.push(`<path d="${chance}" stroke="#888" stroke-dasharray="4 3" fill="none"/>`);
  const legend = [{ name: "chance 0.500", color: "#888" }];
  lines.forEach(({ name, color, judged }, i) => {
    const path = thinned(all[i]).map((p) => `${x(p.share)} ${y(p.quality)}`).join("L");
    out.push(`<path d="M${path}" stroke="${color}" stroke-width="2" fill="none"/>`);
    legend.push({ name: `${name} ${apgr(judged).toFixed(3)}`, color });
  });
  legend.reverse().forEach(({ name, color }, i) => {
    const at = HEIGHT - BOTTOM - 14 - 16 * (legend.length - 1 - i);
    out.push(`<path d="M${WIDTH - 150} ${at - 4}h18" stroke="${color}" stroke-width="2"/>`);
    out.push(`<text x="${WIDTH - 126}" y="${at}">${name}</text>`);
  });
  return out.join("\n");
}

function thinned(points: Point[]): Point[] {
  const step = Math.ceil(points.length / 100);
  return points.filter((_, i) => i % step === 0 || i === points.length - 1);
}
