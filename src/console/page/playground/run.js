/** One call of the playground: asked with an API key and never with the session, its events as they come. */
import { refusal } from "../lib/api.js";
import { hasBegun, nothingSaid, readWhole, takeEvent } from "./answers.js";
import { FORMATS } from "./requests.js";

/** @typedef {import("./requests.js").Format} Format */
/**
 * @typedef {object} Run
 * @property {import("./answers.js").Said} said
 * @property {string[]} raw events as they came, or the whole answer
 * @property {number | null} firstMs
 * @property {number | null} totalMs
 * @property {number | null} status
 * @property {string | null} id of the generation
 * @property {[string, string][]} headers those of the gateway's own
 * @property {boolean} running
 * @property {{ cost: string, searches: number, provider: string | null } | null} record what the ledger has of it
 * @property {readonly { entity_type: string, location: string }[]} findings for which it was refused
 */

/** The most events that are kept to be looked at. */
const MOST_RAW = 2000;

/** @returns {Run} */
const begin = () => ({
  said: nothingSaid(),
  raw: [],
  firstMs: null,
  totalMs: null,
  status: null,
  id: null,
  headers: [],
  running: true,
  record: null,
  findings: [],
});

/**
 * @param {{ format: Format, body: Record<string, unknown>, secret: string, signal: AbortSignal, show: (run: Run) => void }} call
 */
export async function runCall({ format, body, secret, signal, show }) {
  const began = performance.now();
  const run = begin();
  const shown = () => show({ ...run, said: { ...run.said } });
  shown();
  try {
    const response = await fetch(FORMATS[format].path, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      // The session has no business there.
      credentials: "omit",
      cache: "no-store",
      signal,
    });
    run.status = response.status;
    run.id = response.headers.get("x-request-id");
    run.headers = [...response.headers].filter(([name]) => name.startsWith("x-"));
    if (!response.ok) {
      const whole = await response.clone().text();
      run.raw.push(whole);
      run.findings = findingsOf(whole);
      run.said.error = response.status === 401
        ? "The key is invalid, or has been revoked."
        : (await refusal(response)).message;
    } else if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
      await readEvents(/** @type {ReadableStream<Uint8Array>} */ (response.body), (data) => {
        if (run.raw.length < MOST_RAW) run.raw.push(data.raw);
        if (data.value !== undefined) takeEvent(format, run.said, data.value);
        if (hasBegun(run.said)) run.firstMs ??= performance.now() - began;
        shown();
      });
    } else {
      const whole = await response.json();
      run.raw.push(JSON.stringify(whole, null, 2));
      run.said = readWhole(format, whole);
    }
  } catch (error) {
    run.said.error = signal.aborted ? "Stopped." : error instanceof Error ? error.message : String(error);
  }
  run.totalMs = performance.now() - began;
  run.running = false;
  shown();
  // Answers name no cost; the record does, which is written before an answer ends.
  if (run.status !== 200 || run.id === null || run.said.error !== null || run.said.usage === null) return;
  run.record = await recordOf(run.id, secret).catch(() => null);
  shown();
}

/**
 * @param {string} id
 * @param {string} secret
 */
async function recordOf(id, secret) {
  const response = await fetch(`/v1/generations/${encodeURIComponent(id)}`, {
    headers: { authorization: `Bearer ${secret}` },
    credentials: "omit",
    cache: "no-store",
  });
  return response.ok ? await response.json() : null;
}

/** @param {string} refusal as JSON */
function findingsOf(refusal) {
  try {
    const { error } = JSON.parse(refusal);
    return (error.extra ?? error.details)?.dlp ?? [];
  } catch {
    return [];
  }
}

/**
 * @param {ReadableStream<Uint8Array>} stream
 * @param {(event: { raw: string, value: unknown }) => void} take
 */
async function readEvents(stream, take) {
  let rest = "";
  for await (const text of stream.pipeThrough(/** @type {any} */ (new TextDecoderStream()))) {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const raw of blocks) {
      const data = raw.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6))
        .join("\n");
      take({ raw, value: data === "" || data === "[DONE]" ? undefined : JSON.parse(data) });
    }
  }
}
