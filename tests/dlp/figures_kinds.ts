/** Kinds of text to measure the speed on, the same in each run: sources of this project, and data that is drawn. */

const SIZE = 400_000;

/** Numbers from 0 to 1, the same each time (mulberry32). */
function drawn(seed: number): () => number {
  return () => {
    seed = seed + 0x6d2b79f5 | 0;
    let t = Math.imul(seed ^ seed >>> 15, 1 | seed);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return ((t ^ t >>> 14) >>> 0) / 4294967296;
  };
}

function* filesIn(folder: URL, ending: string): Generator<string> {
  const entries = [...Deno.readDirSync(folder)].sort((a, b) => a.name < b.name ? -1 : 1);
  for (const { name, isDirectory } of entries) {
    if (isDirectory) yield* filesIn(new URL(`${name}/`, folder), ending);
    else if (name.endsWith(ending)) yield Deno.readTextFileSync(new URL(name, folder));
  }
}

function taken(texts: Iterable<string>): string {
  let text = "";
  for (const one of texts) if ((text += one).length >= SIZE) break;
  return text.slice(0, SIZE);
}

function made(seed: number, next: (draw: (below: number) => number) => string): string {
  const random = drawn(seed);
  const draw = (below: number) => Math.floor(random() * below);
  let text = "";
  while (text.length < SIZE) text += next(draw);
  return text.slice(0, SIZE);
}

const hex = (draw: (below: number) => number, n: number) =>
  Array.from({ length: n }, () => draw(16).toString(16)).join("");
const uuid = (draw: (below: number) => number) =>
  `${hex(draw, 8)}-${hex(draw, 4)}-4${hex(draw, 3)}-a${hex(draw, 3)}-${hex(draw, 12)}`;
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const HOME = new URL("../../src/", import.meta.url);
const time = (n: number) => new Date(1735689600000 + n * 3700).toISOString();

export const KINDS: readonly { name: string; text: string }[] = [
  { name: "prose (the manual)", text: taken(filesIn(new URL("manual/pages/", HOME), ".md")) },
  { name: "code (TypeScript)", text: taken(filesIn(HOME, ".ts")) },
  {
    name: "CSV of whole numbers",
    text: made(1, (d) => Array.from({ length: 8 }, () => d(10 ** (1 + d(9)))).join(",") + "\n"),
  },
  {
    name: "CSV of fractions",
    text: made(2, (d) => Array.from({ length: 8 }, () => (d(1e7) / 1e4).toFixed(4)).join(",") + "\n"),
  },
  { name: "a column of numbers", text: made(3, (d) => `${d(1e6)}\n`) },
  {
    name: "log lines",
    text: made(
      4,
      (d) =>
        `${time(d(1e6))} INFO [worker-${d(9)}] id=${hex(d, 32)} status=${200 + d(300)} bytes=${d(99999)} ms=${
          d(1e6) / 1e3
        } path=/api/v1/items/${d(1e6)}\n`,
    ),
  },
  {
    name: "JSON events",
    text: made(5, (d) =>
      JSON.stringify({
        ts: 1700000000 + d(1e6),
        user: d(1e6),
        event: "view",
        amount: d(1e5) / 100,
        session: hex(d, 16),
      }) + "\n"),
  },
  { name: "UUIDs", text: made(6, (d) => `${uuid(d)}\n`) },
  { name: "MD5 sums", text: made(7, (d) => `${hex(d, 32)}\n`) },
  { name: "hexadecimal without end", text: made(8, (d) => hex(d, 64)) },
  { name: "hex dumps", text: made(9, (d) => Array.from({ length: 16 }, () => hex(d, 2)).join(" ") + "\n") },
  { name: "base64 without end", text: made(10, (d) => BASE64[d(64)]) },
  {
    name: "base64 in lines of 76",
    text: made(11, (d) => Array.from({ length: 76 }, () => BASE64[d(64)]).join("") + "\n"),
  },
  {
    name: "scientific notation",
    text: made(
      12,
      (d) => Array.from({ length: 8 }, () => ((d(1e9) - 5e8) / 1e4).toExponential(3)).join(" ") + "\n",
    ),
  },
];
