/**
 * What screening adds to the time of streamed answers, over the recorded streams of providers, as Markdown:
 *
 *     deno run -A tests/dlp/answer_times.ts [MILLISECONDS]
 *
 * Frames come MILLISECONDS (20) apart on a clock of the script's own, so waiting is counted and not measured; work is
 * measured. Needs `../shared/corpus`.
 */
import type { FormatName } from "../../src/exchange/prompt.ts";
import type { Part } from "../../src/exchange/part.ts";
import type { Frame } from "../../src/formats/format.ts";
import { PROVIDER_FORMATS } from "../../src/formats/mod.ts";
import { screenAnswer } from "../../src/pipeline/screening/screen_answer.ts";
import { Ticker } from "../../src/timing/ticker.ts";
import { type Found, guardOf } from "../pipeline/screened_parts.ts";
import { readRecordings } from "../support/recordings.ts";

const FORMAT_OF: Readonly<Record<string, FormatName>> = {
  "openai-chat": "chat_completions",
  "openai-responses": "responses",
  "anthropic-messages": "messages",
  "gemini-generate": "gemini",
};
/** As often as the ticker looks at its deadlines. */
const TICK_MS = 50;

interface Times {
  /** Microseconds of work until the first text left, and milliseconds that it waited for more of the answer. */
  firstWork: number;
  firstWait: number;
  /** The longest that a unit of text waited, in milliseconds. */
  longest: number;
  /** Microseconds of work for each frame. */
  work: number;
  found: number;
}

function batchesOf(format: FormatName, sse: string): Part[][] {
  const decoder = PROVIDER_FORMATS[format].decodeStream();
  const batches: Part[][] = [];
  for (const frame of sse.split(/\r?\n\r?\n/)) {
    const event = /^event: ?(.*)$/m.exec(frame)?.[1] ?? "";
    const data = [...frame.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line).join("\n");
    if (data === "") continue;
    const out: Part[] = [];
    decoder.push({ event, data } as Frame, out);
    if (out.length > 0) batches.push(out);
  }
  const out: Part[] = [];
  decoder.end(out);
  return [...batches, out];
}

const lengthOf = (parts: readonly Part[]) =>
  parts.reduce(
    (length, part) => length + (part.type.endsWith("-delta") && "text" in part ? part.text.length : 0),
    0,
  );

/** Lets what is ready run. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

async function timesOf(batches: readonly Part[][], apart: number): Promise<Times> {
  let now = 0;
  const ticker = new Ticker({ now: () => now });
  const found: Found[] = [];
  /** Until which unit text had come at which time. */
  const came: { until: number; at: number }[] = [];
  const times: Times = { firstWork: 0, firstWait: -1, longest: 0, work: 0, found: 0 };
  let given = 0;
  let left = 0;
  let begun = 0;
  let oldest = 0;
  async function* source(): AsyncGenerator<readonly Part[]> {
    for (const batch of batches) {
      times.work += begun === 0 ? 0 : performance.now() - begun;
      // The ticker never ticks within a call of this generator.
      await settled();
      for (const until = now + apart; now < until;) {
        now = Math.min(until, (Math.floor(now / TICK_MS) + 1) * TICK_MS);
        if (now % TICK_MS !== 0) continue;
        ticker.tick();
        await settled();
      }
      given += lengthOf(batch);
      came.push({ until: given, at: now });
      begun = performance.now();
      yield batch;
    }
  }
  for await (const batch of screenAnswer(source(), guardOf({ ticker, answers: "mask" }, found))) {
    const length = lengthOf(batch);
    if (length > 0 && times.firstWait < 0) {
      times.firstWork = (performance.now() - begun) * 1000;
      times.firstWait = now - came.find(({ until }) => until > 0)!.at;
    }
    for (; length > 0 && oldest < came.length && came[oldest].until <= left; oldest++);
    if (length > 0) times.longest = Math.max(times.longest, now - (came[oldest]?.at ?? now));
    left += length;
  }
  ticker.close();
  times.work = times.work * 1000 / batches.length;
  times.found = found.length;
  return times;
}

const apart = Number(Deno.args[0] ?? 20);
const streams = [...readRecordings()].flatMap(({ api, status, sse }) => {
  if (status !== 200 || sse === null || FORMAT_OF[api] === undefined) return [];
  try {
    const batches = batchesOf(FORMAT_OF[api], sse);
    return batches.some((batch) => lengthOf(batch) > 0) ? [batches] : [];
  } catch {
    return [];
  }
});
// The first round compiles.
for (const batches of streams.slice(0, 100)) await timesOf(batches, apart);
const all: Times[] = [];
for (const batches of streams) all.push(await timesOf(batches, apart));
const clean = all.filter(({ found, firstWait }) => found === 0 && firstWait >= 0);
const share = (some: readonly Times[], of: (times: Times) => number, part: number) => {
  const sorted = some.map(of).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
};
const row = (name: string, of: (times: Times) => number, some: readonly Times[] = clean) =>
  console.log(
    `| ${name} | ${[0.5, 0.9, 0.99, 1].map((part) => share(some, of, part).toFixed(0)).join(" | ")} |`,
  );
const atOnce = clean.filter(({ firstWait }) => firstWait === 0);
console.log(`${all.length} streams, ${clean.length} without findings; frames ${apart} ms apart.`);
console.log(
  `The first text leaves with the frame that it came in: ${
    (100 * atOnce.length / clean.length).toFixed(1)
  } of 100.\n`,
);
console.log("| | median | 90 of 100 | 99 of 100 | most |\n| --- | --: | --: | --: | --: |");
row("work before a first text that leaves at once, µs", ({ firstWork }) => firstWork, atOnce);
row("first text waits for more, ms", ({ firstWait }) => firstWait);
row("longest that text waits, ms", ({ longest }) => longest);
row("work for each frame, µs", ({ work }) => work);
Deno.exit(0);
