/**
 * The ordinary callers, in a thread of their own, so that making hostile requests does not hold them up: one that looks
 * whether the gateway lives, and one of a small call of each format. Tells how long each answer took.
 */
import { PATHS } from "./places.ts";
import { pause } from "../support/time.ts";

export interface OrdinarySetup {
  url: string;
  secret: string;
  /** Of the gateway. */
  pid: number;
}

/** What was seen since the last report. */
export interface OrdinaryReport {
  /** Milliseconds of each answer, in order. */
  health: number[];
  calls: number[];
  /**
   * CPU time of the gateway's event loop meanwhile, of each answer of both: what an answer waits for where the gateway has a
   * processor to itself, whatever else this machine does.
   */
  work: number[];
  /** Answers that were none, or wrong. */
  failures: string[];
}

declare const self: {
  onmessage: (event: { data: OrdinarySetup | "report" }) => void;
  postMessage(report: OrdinaryReport): void;
};

/** Between two questions of one caller. */
const PAUSE_MS = 10;
const MOST_FAILURES = 20;

let seen: OrdinaryReport = { health: [], calls: [], work: [], failures: [] };

const BODIES = Object.entries({
  chat_completions: { messages: [{ role: "user", content: "Good morning" }] },
  messages: { max_tokens: 50, messages: [{ role: "user", content: "Good morning" }] },
  responses: { input: "Good morning" },
}).map(([format, fields]) => ({
  path: PATHS[format as keyof typeof PATHS],
  body: JSON.stringify({ model: "ordinary/model", ...fields }),
}));

/** Milliseconds of CPU time of the gateway's event loop. */
let cpu = () => 0;

/** Asks again and again, and notes how long each answer took. */
async function ask(times: "health" | "calls", one: (nth: number) => Promise<Response>): Promise<void> {
  for (let nth = 0;; nth++) {
    const begun = performance.now();
    const worked = cpu();
    try {
      const response = await one(nth);
      const text = await response.text();
      if (response.status !== 200) fail(`${times}: ${response.status} ${text.slice(0, 200)}`);
    } catch (thrown) {
      fail(`${times}: ${thrown instanceof Error ? thrown.message : thrown}`);
    }
    seen[times].push(performance.now() - begun);
    seen.work.push(cpu() - worked);
    await pause(PAUSE_MS);
  }
}

function fail(what: string): void {
  if (seen.failures.length < MOST_FAILURES) seen.failures.push(what);
}

self.onmessage = ({ data }) => {
  if (data === "report") {
    self.postMessage(seen);
    seen = { health: [], calls: [], work: [], failures: [] };
    return;
  }
  const { url, secret, pid } = data;
  cpu = () => Number(Deno.readTextFileSync(`/proc/${pid}/task/${pid}/schedstat`).split(" ")[0]) / 1e6;
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  void ask("health", () => fetch(`${url}/healthz`));
  void ask("calls", (nth) => {
    const { path, body } = BODIES[nth % BODIES.length];
    return fetch(url + path, { method: "POST", headers, body });
  });
};
