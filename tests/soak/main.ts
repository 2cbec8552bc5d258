/**
 * `deno task soak`: ordinary and hostile callers together, on the real program.
 *
 * Hostile ones take turns: requests of every shape, calls whose answers are made to take long, crowds of connections. The
 * ordinary ones must not notice. Exit status 0: they did not, the memory stayed within its bound, and in the end nothing
 * was left open.
 */
import { parseArgs } from "node:util";
import { ANSWERS } from "./answers.ts";
import { CROWDS } from "./crowds.ts";
import { SECRETS, type SoakGateway, startGateway, startProvider } from "./gateway.ts";
import type { OrdinaryReport, OrdinarySetup } from "./ordinary.ts";
import { FORMATS } from "./places.ts";
import { type HostileRequest, requestOf, SHAPES } from "./requests.ts";
import { seededRequest } from "./seeded.ts";
import { pause } from "../support/time.ts";

const HELP = `deno task soak [--seconds N] [--each] [--only PATTERN] [--seed N]
deno task soak --steady [--seconds N] [--share PART] [--rate N] [--gigabytes N] [--svg FILE]

  --seconds  how long (120)
  --each     every shape once, in each format, with and without screening, and what it did to the others
  --seed     requests of shapes by chance, from this seed on, for so many seconds: the ten that did most to the others
  --only     names of shapes, answers and crowds that match
  --over     with --each: tells of those that delayed others, or held the event loop in one step, by so many milliseconds or
             more (100)
  --steady   ordinary calls alone, an hour long unless --seconds says otherwise: what of memory, descriptors, timers and leases
             grows; --svg draws it. The gateway is busy for a share of its core (0.7): half by whole answers, --rate of them a second
             at most, the rest by streams. Answers are so few that their records take --gigabytes (20) at most

Judged is CPU time of the event loop, which other work of the machine does not lengthen: what it did while an ordinary call waited,
and the longest step.
`;

/** What ordinary callers may wait for at most in 99 of 100 cases, in milliseconds of CPU time of the event loop. */
const MOST_P99_MS = 250;
/** What one step may take of the event loop, in milliseconds of CPU time: a small call waits for more than one. */
const MOST_STEP_MS = 200;
/** What one request may take of memory, in bytes. */
const MOST_MORE = 600e6;
const DESCRIPTORS_LEFT = 20;

const { values } = parseArgs({
  args: Deno.args,
  options: {
    seconds: { type: "string" },
    steady: { type: "boolean", default: false },
    share: { type: "string", default: "0.7" },
    rate: { type: "string", default: "0" },
    gigabytes: { type: "string", default: "20" },
    svg: { type: "string", default: "" },
    each: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    seed: { type: "string" },
    over: { type: "string", default: "100" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(HELP);
  Deno.exit(0);
}

const began = performance.now();
const say = (line: string) =>
  console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}`);
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed()} MB`;

if (values.steady) {
  const { steady } = await import("./steady.ts");
  const { seconds = "3600", share, rate, gigabytes, svg } = values;
  const wrong = await steady({
    seconds: Number(seconds),
    share: Number(share),
    rate: Number(rate),
    gigabytes: Number(gigabytes),
    svg,
    say,
  });
  for (const fault of wrong) console.log(`FAULT: ${fault}`);
  console.log(wrong.length === 0 ? "PASS" : "FAIL");
  Deno.exit(wrong.length === 0 ? 0 : 1);
}
const seconds = Number(values.seconds ?? 120);

/** Something hostile, by its name. */
interface Attack {
  name: string;
  run(): Promise<string>;
}

function attacks({ url }: SoakGateway): Attack[] {
  const send = (request: HostileRequest, secret: string) => async () => {
    const response = await fetch(url + request.path, {
      method: "POST",
      body: request.body,
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": "application/json",
        ...(request.gzip && { "content-encoding": "gzip" }),
      },
    });
    await response.arrayBuffer();
    return String(response.status);
  };
  const keys = { plain: SECRETS.hostile, screened: SECRETS.screened };
  const hi = (format: string) =>
    format === "responses" ? { input: "Hi" } : { messages: [{ role: "user", content: "Hi" }] };
  const all: Attack[] = [];
  for (const [key, secret] of Object.entries(keys)) {
    for (const shape of SHAPES) {
      for (const format of FORMATS) {
        all.push({
          name: `${key}, ${format}: ${shape.name}`,
          run: () => send(requestOf(shape, format, {}), secret)(),
        });
      }
    }
    for (const answer of Object.keys(ANSWERS)) {
      if (answer === "a stream without an end") continue;
      for (const stream of [false, true]) {
        const model = `large/${answer.replaceAll(" ", "_")}`;
        const shape = { name: "", fields: hi };
        all.push({
          name: `${key}, answer${stream ? " streamed" : ""}: ${answer}`,
          run: () => send(requestOf(shape, "chat_completions", { model, stream }), secret)(),
        });
      }
    }
  }
  for (const [name, { crowd, count }] of Object.entries(CROWDS)) {
    all.push({
      name: `crowd: ${name}`,
      run: () => crowd({ url, count, meanwhile: () => pause(1000) }).then(() => ""),
    });
  }
  const wanted = new RegExp(values.only);
  return all.filter(({ name }) => wanted.test(name));
}

function p99(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? 0;
}

const folder = await Deno.makeTempDir({ prefix: "sluice-soak-" });
const provider = await startProvider();
const gateway = await startGateway(folder, provider.url);
const ordinary = new Worker(new URL("ordinary.ts", import.meta.url), { type: "module" });
const setup: OrdinarySetup = { url: gateway.url, secret: SECRETS.ordinary, pid: gateway.pid };
ordinary.postMessage(setup);
const report = () =>
  new Promise<OrdinaryReport>((resolve) => {
    ordinary.onmessage = ({ data }) => resolve(data);
    ordinary.postMessage("report");
  });

const faults: string[] = [];
try {
  // The first calls load what is loaded when it is first needed.
  await pause(2000);
  await report();
  const atStart = { descriptors: gateway.descriptors(), deadlines: await gateway.metric("sluice_deadlines") };
  if (values.seed !== undefined) await bySeed(Number(values.seed), seconds);
  else await (values.each ? each() : mixed(seconds));
  await settled(atStart);
} finally {
  ordinary.terminate();
  const code = await gateway.stop();
  if (code !== 0) faults.push(`the gateway ended with ${code}: ${gateway.err().slice(-500)}`);
  await provider.stop();
  await Deno.remove(folder, { recursive: true });
}
for (const fault of faults) console.log(`FAULT: ${fault}`);
console.log(faults.length === 0 ? "PASS" : "FAIL");
Deno.exit(faults.length === 0 ? 0 : 1);

/** Requests by chance, each by itself; tells of the worst. */
async function bySeed(first: number, seconds: number): Promise<void> {
  const until = performance.now() + seconds * 1000;
  const seen: { name: string; came: string; delay: number; step: number; more: number; cpu: number }[] = [];
  for (let seed = first; performance.now() < until; seed++) {
    const { name, path, body, headers } = seededRequest(seed);
    const secret = seed % 2 ? SECRETS.hostile : SECRETS.screened;
    await report();
    await gateway.steps();
    gateway.forgetPeak();
    const { now } = gateway.memory();
    const begun = gateway.cpu();
    const chunked = name.includes(" chunked");
    const came = await fetch(gateway.url + path, {
      method: "POST",
      body: chunked ? new Blob([body]).stream() : body,
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", ...headers },
    }).then(async (response) => {
      await response.arrayBuffer();
      return String(response.status);
    }).catch((thrown) => String(thrown));
    await pause(60);
    const cpu = gateway.cpu() - begun;
    const { work, failures } = await report();
    const delay = Math.max(...work, 0);
    const more = gateway.memory().peak - now;
    const [step = 0] = await gateway.steps();
    seen.push({ name, came, delay, step, more, cpu });
    if (step > MOST_STEP_MS) faults.push(`${name}: a step of ${step} ms`);
    if (more > MOST_MORE) faults.push(`${name}: ${megabytes(more)} more`);
    if (/^5|Error/.test(came)) faults.push(`${name}: ${came}`);
    for (const failure of failures) faults.push(`${name}: ${failure}`);
  }
  say(`${seen.length} requests, seeds ${first} to ${first + seen.length - 1}`);
  const tell = (by: "delay" | "step" | "more") => {
    for (
      const { name, came, delay, step, more, cpu } of seen.toSorted((a, b) => b[by] - a[by]).slice(0, 10)
    ) {
      say(
        `others at most ${delay.toFixed()} ms, a step of ${step} ms, ${cpu} ms of CPU, +${
          megabytes(more)
        }: ${name} ${came}`,
      );
    }
  };
  say("those that delayed others most:");
  tell("delay");
  say("those with the longest step:");
  tell("step");
  say("those that took most memory:");
  tell("more");
  const late = p99(seen.map(({ delay }) => delay));
  if (late > MOST_P99_MS) faults.push(`in one of a hundred, others waited ${late.toFixed()} ms`);
}

/** Every attack by itself. */
async function each(): Promise<void> {
  for (const { name, run } of attacks(gateway)) {
    await report();
    await gateway.steps();
    gateway.forgetPeak();
    const { now } = gateway.memory();
    const begun = performance.now();
    const came = await run().catch((thrown) => String(thrown));
    const took = performance.now() - begun;
    await pause(60);
    const { health, calls, work, failures } = await report();
    const more = gateway.memory().peak - now;
    const late = { health: p99(health), calls: p99(calls) };
    const wall = Math.max(late.health, late.calls);
    const worst = p99(work);
    const [step = 0] = await gateway.steps();
    if (step > MOST_STEP_MS) faults.push(`${name}: a step of ${step} ms`);
    if (worst > MOST_P99_MS) faults.push(`${name}: others waited for ${worst.toFixed()} ms of CPU time`);
    if (more > MOST_MORE) faults.push(`${name}: ${megabytes(more)} more`);
    for (const failure of failures) faults.push(`${name}: ${failure}`);
    if (Math.max(worst, step) >= Number(values.over) || more > MOST_MORE || failures.length > 0) {
      say(
        `others ${worst.toFixed()} ms of CPU (in all ${wall.toFixed()} ms, health ${late.health.toFixed()}), a step of ${step} ms, took ${took.toFixed()} ms, ` +
          `+${megabytes(more)}: ${name} ${came}`,
      );
    }
  }
}

/** Attacks one after the other by chance, for so many seconds. */
async function mixed(seconds: number): Promise<void> {
  const all = attacks(gateway);
  const until = performance.now() + seconds * 1000;
  const times: number[] = [];
  const waited: number[] = [];
  let told = performance.now();
  for (let count = 0; performance.now() < until; count++) {
    const { name, run } = all[Math.floor(Math.random() * all.length)];
    await run().catch((thrown) => faults.push(`${name}: ${thrown}`));
    const { health, calls, work, failures } = await report();
    times.push(...health, ...calls);
    waited.push(...work);
    for (const failure of failures) faults.push(`during ${name}: ${failure}`);
    if (performance.now() - told < 10_000) continue;
    told = performance.now();
    const { now, peak } = gateway.memory();
    say(
      `${count} attacks; ordinary p99 ${p99(waited).toFixed()} ms of CPU, ${
        p99(times).toFixed()
      } ms in all, of ${times.length}; ` +
        `${megabytes(now)}, at most ${megabytes(peak)}; ${gateway.descriptors()} descriptors`,
    );
  }
  const late = p99(waited);
  if (late > MOST_P99_MS) faults.push(`ordinary callers waited for ${late.toFixed()} ms of CPU time (p99)`);
}

/** Nothing is left of what is over. */
async function settled(atStart: { descriptors: number; deadlines: number }): Promise<void> {
  const gauges = ["sluice_in_flight_body_bytes", "sluice_records_pending", "sluice_waiting"];
  for (let tries = 0;; tries++) {
    const left: string[] = [];
    for (const name of gauges) {
      const value = await gateway.metric(`${name} `);
      // The ordinary callers go on, and so do some hundred abandoned calls.
      if (value > 20_000) left.push(`${name} is ${value}`);
    }
    const deadlines = await gateway.metric("sluice_deadlines");
    if (deadlines > atStart.deadlines + 2500) {
      left.push(`${deadlines} deadlines, ${atStart.deadlines} at the start`);
    }
    const descriptors = gateway.descriptors();
    const kept = atStart.descriptors + DESCRIPTORS_LEFT + await gateway.metric("sluice_in_flight ");
    if (descriptors > kept) left.push(`${descriptors} descriptors, ${atStart.descriptors} at the start`);
    if (left.length === 0) return;
    if (tries === 20) return void faults.push(...left);
    await pause(1000);
  }
}
