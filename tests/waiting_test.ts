/** No test depends on how fast the machine is: whoever waits does so through support/time.ts, or has a reason here. */
import { assertEquals } from "@std/assert";

const TESTS = new URL("./", import.meta.url);
/** Programs that measure or disturb in real time; the home of waiting; this file. */
const OUTSIDE = ["bench/", "chaos/", "soak/", "support/time.ts", "waiting_test.ts"];

/** What reads a clock, waits for a time, or asks again without end. Records may bear the day: `now: Date.now`. */
const WAITS =
  /\bset(?:Timeout|Interval)\b|\bsleep\(|\bdelay\(|\bpause\(|AbortSignal\.timeout|(?<!\bnow: )\b(?:performance|Date)\.now\b|node:timers|\bwhile \(.*\) await\b/g;

/** Why a file may, by file and words. */
const REASONS: Record<string, Record<string, string>> = {
  "accounts/crash_child.ts": {
    "pause(": "calls take a while, each another",
    "Date.now": "when a call was made is in its record",
  },
  "accounts/every_kind_test.ts": { "pause(": "calls take a while, each another" },
  "accounts/failover_test.ts": {
    "pause(": "callers ask again after a refusal, while the standby is promoted",
  },
  "accounts/full_child.ts": {
    "pause(": "a call takes a while",
    "Date.now": "when a call was made is in its record",
  },
  "accounts/money/child.ts": { "Date.now": "a clock that goes as it is told" },
  "accounts/money/crowds.ts": { "pause(": "a crowd is changed at another place each time" },
  "accounts/money/driver.ts": {
    "Date.now": "the clock of its nodes",
    "pause(": "other nodes are promised to know of a change by then",
  },
  "accounts/money/judge.ts": { "Date.now": "where a minute ends, nothing is judged" },
  "accounts/money/outage.ts": { "pause(": "the store is away for a while" },
  "accounts/money/stall.ts": {
    "performance.now": "how long the machine stood still",
    "setInterval": "notices that it did",
  },
  "accounts/money/world.ts": { "pause(": "a provider is slower than it usually is" },
  "accounts/session_rate_crowd_test.ts": { "Date.now": "a minute that ends between calls counts anew" },
  "accounts/simultaneous_test.ts": { "pause(": "calls take a while, each another" },
  "accounts/store_sync_test.ts": { "performance.now": "the monotonic clock, which the test moves" },
  "clients/python/environment.ts": {
    "AbortSignal.timeout": "an index may not answer; the tests are skipped then",
  },
  "clients/programs/program.ts": { "AbortSignal.timeout": "a program that hangs is ended, minutes later" },
  "clients/python_test.ts": { "AbortSignal.timeout": "a client that hangs is ended, minutes later" },
  "console/session_test.ts": { "Date.now": "a session ends in hours, by a clock that the test moves" },
  "console/rig.ts": { "Date.now": "the gateway's clock, where a test brings none" },
  "console/slow_browser_test.ts": { "setInterval": "it is the page's, whose questions come sooner by it" },
  "console/oidc_test.ts": { "Date.now": "a token of the provider has ended" },
  "console/tokens_test.ts": { "Date.now": "a token ends at a real time, by a clock that the test moves" },
  "dlp/answer_times.ts": {
    "performance.now": "no test: it measures what screening adds to an answer",
    "setTimeout": "a macrotask between two ticks of its own clock",
  },
  "http/refusals_test.ts": { "Date.now": "a limit of a real month resets later than now" },
  "http/resume_rights_test.ts": { "Date.now": "what is kept ends by a clock that the test moves" },
  "main_test.ts": { "Date.now": "a process has started before now" },
  "manual/served_test.ts": { "node:timers": "tells one turn of the event loop from the next" },
  "pipeline/faults_test.ts": {
    "while (!over) await": "each turn moves a stopped clock, so a deadline passes",
  },
  "pipeline/hedge_test.ts": { "pause(": "another call would be made in this time, and none is" },
  "outgoing/dial_test.ts": {
    "performance.now": "the event loop is kept busy, so that what it waits for comes all at once",
  },
  "outgoing/http1_test.ts": { "pause(": "pieces leave in packets of their own" },
  "resume_kill_test.ts": {
    "pause(": "a provider takes a while; a gateway is killed at another place each time",
  },
  "store/postgres_test.ts": { "pause(": "a connection breaks in a different place each time" },
  "support/oidc_provider.ts": { "Date.now": "tokens of the provider bear the time" },
  "telemetry/kinds_canary_test.ts": {
    "Date.now": "payloads are kept by the real day, and looked for forty days later",
  },
  "telemetry/set_clock_test.ts": {
    "Date.now": "the system's clock, which the test sets",
    "performance.now": "the monotonic clock, which the test moves",
  },
  "timing/load_shedder_test.ts": { "while (shedder.waiting > 0) await": "each turn is on a stopped clock" },
  "transport/connection_bound_test.ts": {
    "setInterval": "a caller needs files in each turn of the event loop",
  },
  "transport/http2_stalled_test.ts": {
    "setInterval": "a client sends frames for as long as it is connected",
  },
  "transport/tls_program.ts": { "setTimeout": "its answer comes word by word" },
  "websearch/clean_test.ts": { "performance.now": "work that grew with the square would take minutes" },
  "websearch/situations.ts": { "pause(": "an engine takes a while" },
  "worker_replacement_test.ts": { "performance.now": "a worker has lived for ten seconds" },
};

function* sources(directory: URL): Generator<URL> {
  for (const { name, isDirectory } of Deno.readDirSync(directory)) {
    if (isDirectory) yield* sources(new URL(`${name}/`, directory));
    else if (name.endsWith(".ts")) yield new URL(name, directory);
  }
}

Deno.test("tests wait for what they need, and not for a time", () => {
  const found: Record<string, string[]> = {};
  for (const source of sources(TESTS)) {
    const file = source.href.slice(TESTS.href.length);
    if (OUTSIDE.some((path) => file.startsWith(path))) continue;
    const words = new Set([...Deno.readTextFileSync(source).matchAll(WAITS)].map(([word]) => word));
    if (words.size > 0) found[file] = [...words].sort();
  }
  // A reason that nothing needs any more goes, too.
  assertEquals(
    found,
    Object.fromEntries(Object.entries(REASONS).map(([file, words]) => [file, Object.keys(words).sort()])),
  );
});
