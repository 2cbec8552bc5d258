/**
 * Every recorded answer of every provider API, through the running gateway, to every caller format: what the caller
 * reads must be what the recording says. `SLUICE_CORPUS_SEED` repeats a run's network pieces, `SLUICE_CORPUS_ONLY` is
 * part of the id of the recordings to look at.
 */
import { assertEquals } from "@std/assert";
import type { CallerName, CallerReading } from "./caller.ts";
import { differences } from "./compare.ts";
import { expectedCodes, WITHHELD } from "./expected_codes.ts";
import { readRecording } from "./reading.ts";
import { random, rechunk } from "./rechunk.ts";
import {
  readReconstructed,
  readRecordings,
  type RecordedApi,
  type Recording,
} from "../support/recordings.ts";
import { openRig, type Rig, type Sending } from "./replay.ts";
import { firstFrames, framesOf } from "./sse_text.ts";
import { list, text, wild } from "./wild.ts";
import { sharedTest } from "../support/shared.ts";

const CALLERS: readonly CallerName[] = ["chat_completions", "messages", "responses"];

/** The caller format that is an API's own; Gemini's is on the provider's side only. */
const OWN: Readonly<Record<RecordedApi, CallerName | null>> = {
  "openai-chat": "chat_completions",
  "openai-responses": "responses",
  "anthropic-messages": "messages",
  "gemini-generate": null,
};

/** Recordings that are not one whole answer. They are replayed all the same: the caller's stream must be legal. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "cerebras.chat.c98331b8.0":
    "two answers one after the other before a single [DONE]; no provider sends that",
};

/** Requests under way side by side. */
const ABREAST = 8;
/** One stream in so many is sent byte by byte, if it is no longer than this. */
const BYTEWISE = 6;
const BYTEWISE_BYTES = 12_000;
/** One recording in so many is also asked for in the other mode. */
const OTHER_MODE = 8;

const seed = Number(Deno.env.get("SLUICE_CORPUS_SEED") ?? Math.floor(Math.random() * 2 ** 31));
const only = Deno.env.get("SLUICE_CORPUS_ONLY") ?? "";

interface Job {
  recording: Recording;
  caller: CallerName;
  stream: boolean;
  sending: Sending;
}

sharedTest("corpus/", "the gateway shows every caller what every recorded provider said", async () => {
  const next = random(seed);
  const jobs: Job[] = [];
  readRecordings().filter((r) => r.id.includes(only)).forEach((recording, i) => {
    for (const caller of CALLERS) {
      const bytewise = i % BYTEWISE === 0;
      jobs.push({ recording, caller, stream: recording.stream, sending: whole(recording, bytewise, next) });
    }
    if (i % OTHER_MODE === 0 && recording.status === 200) {
      const caller = CALLERS[(i / OTHER_MODE) % 3];
      const stream = !recording.stream;
      jobs.push({ recording, caller, stream, sending: whole(recording, false, next) });
    }
  });
  const tally = new Tally();
  const failures = await replay(jobs, async ({ recording, caller, stream, sending }, rig) => {
    const wanted = recording.status === 200 ? readRecording(recording) : null;
    const choices = wanted?.kind === "answer" ? wanted.choices.length : 1;
    const got = await rig.ask(caller, sending, stream, choices);
    const cell = `${recording.api} -> ${caller}`;
    if (recording.id in EXCEPTIONS) {
      tally.add(cell, "exceptions");
      return [];
    }
    if (wanted?.kind === "answer") {
      tally.add(cell, "answers");
      return got.kind === "answer"
        ? differences(wanted, got, caller, { same: OWN[recording.api] === caller })
        : [`an answer, got ${got.code}: ${got.message}`];
    }
    tally.add(cell, "errors");
    const said = wanted ? wanted.said : JSON.stringify(recording.response);
    return errorDifferences(got, expectedCodes(recording.status, said));
  });
  console.log(`tests/corpus: seed ${seed}\n${tally.table(failures)}`);
  assertEquals(failures.map(line), []);
});

sharedTest("corpus/", "the gateway tells a reconstructed error by its code", async () => {
  const next = random(seed);
  const jobs = readReconstructed().filter((r) => r.id.includes(only)).flatMap((recording) =>
    CALLERS.map((caller): Job => ({
      recording,
      caller,
      stream: recording.stream,
      sending: whole(recording, false, next),
    }))
  );
  const failures = await replay(jobs, async ({ recording, caller, stream, sending }, rig) => {
    const got = await rig.ask(caller, sending, stream, 1);
    const said = recording.sse ?? JSON.stringify(recording.response);
    return errorDifferences(got, expectedCodes(recording.status, said));
  });
  assertEquals(failures.map(line), []);
});

sharedTest("corpus/", "the gateway never ends a cut stream as a whole one", async () => {
  const next = random(seed);
  const jobs: Job[] = [];
  readRecordings().filter((r) => r.sse !== null && r.status === 200 && r.id.includes(only))
    .forEach((recording, i) => {
      cutPoints(recording).forEach((frames, k) => {
        const cut = firstFrames(recording.sse!, frames);
        jobs.push({
          recording: { ...recording, id: `${recording.id} cut after ${frames}` },
          caller: CALLERS[(i + k) % 3],
          stream: true,
          sending: { recording, pieces: rechunk(new TextEncoder().encode(cut), 1000, next) },
        });
      });
    });
  const failures = await replay(jobs, async ({ caller, sending }, rig) => {
    const got = await rig.ask(caller, sending, true, 1);
    return errorDifferences(got, ["provider_unavailable"]);
  });
  console.log(`tests/corpus: ${jobs.length} cut streams, seed ${seed}`);
  assertEquals(failures.map(line), []);
});

function whole(recording: Recording, bytewise: boolean, next: () => number): Sending {
  const { response } = recording;
  const body = recording.sse ?? (typeof response === "string" ? response : JSON.stringify(response));
  const bytes = new TextEncoder().encode(body);
  const most = recording.sse === null
    ? 16_384
    : bytewise && bytes.length <= BYTEWISE_BYTES
    ? 1
    : 20 + Math.floor(next() * 2000);
  return { recording, pieces: rechunk(bytes, most, next) };
}

/** Numbers of frames after which the stream is cut: none, the middle, and just before its end can be told. */
function cutPoints(recording: Recording): number[] {
  const frames = framesOf(recording.sse!);
  const end = frames.findIndex((f) => ends(f.data, recording.api));
  const most = end < 0 ? 0 : end;
  return [...new Set([0, Math.floor(most / 2), most])];
}

function ends(data: string, api: RecordedApi): boolean {
  if (data.startsWith("[DONE]")) return true;
  const event = wild(JSON.parse(data));
  switch (api) {
    case "openai-chat":
      return event.error !== undefined || list(event.choices).some((c) => c.finish_reason);
    case "openai-responses":
      return /^response\.(?:completed|incomplete|failed)$|^error$/.test(text(event.type));
    case "anthropic-messages":
      return event.type === "message_stop" || event.type === "error";
    case "gemini-generate":
      return list(event.candidates).some((c) => c.finishReason) || event.promptFeedback !== undefined;
  }
}

function errorDifferences(got: CallerReading, codes: readonly string[]): string[] {
  if (got.kind === "answer") {
    return [`${codes.join(" or ")}, got an answer that ended ${got.choices[0].stop}`];
  }
  const found: string[] = [];
  if (got.status === 401) found.push("the provider's 401 reached the caller");
  if (!codes.includes(got.code)) found.push(`${codes.join(" or ")}, got ${got.code}: ${got.message}`);
  const leak = WITHHELD.exec(got.message);
  if (leak) found.push(`the message holds ${leak[0]}: ${got.message}`);
  return found;
}

interface Miss {
  job: Job;
  what: string[];
}

function line({ job, what }: Miss): string {
  return `${job.recording.id} -> ${job.caller}${job.stream ? " (stream)" : ""}: ${what.join("; ")}`;
}

/** Runs all jobs against one rig, several abreast; `check` says what is wrong. */
async function replay(jobs: Job[], check: (job: Job, rig: Rig) => Promise<string[]>): Promise<Miss[]> {
  const rig = await openRig();
  const failures: Miss[] = [];
  const queue = jobs.values();
  async function worker() {
    for (const job of queue) {
      try {
        const what = await check(job, rig);
        if (what.length > 0) failures.push({ job, what });
      } catch (thrown) {
        failures.push({ job, what: [thrown instanceof Error ? thrown.message : String(thrown)] });
      }
    }
  }
  await Promise.all(Array.from({ length: ABREAST }, worker));
  await rig.close();
  return failures;
}

class Tally {
  readonly #cells = new Map<string, { answers: number; errors: number; exceptions: number }>();

  add(cell: string, kind: "answers" | "errors" | "exceptions"): void {
    const row = this.#cells.get(cell) ?? { answers: 0, errors: 0, exceptions: 0 };
    row[kind]++;
    this.#cells.set(cell, row);
  }

  table(failures: Miss[]): string {
    const rows = [...this.#cells].sort().map(([cell, n]) => {
      const wrong = failures.filter(({ job }) => `${job.recording.api} -> ${job.caller}` === cell).length;
      return `  ${
        cell.padEnd(40)
      } compared ${n.answers}, errors ${n.errors}, exceptions ${n.exceptions}, wrong ${wrong}`;
    });
    const sum = (kind: "answers" | "errors" | "exceptions") =>
      [...this.#cells.values()].reduce((n, row) => n + row[kind], 0);
    return [
      ...rows,
      `  compared ${sum("answers")}, errors ${sum("errors")}, exceptions ${
        sum("exceptions")
      }, wrong ${failures.length}`,
    ].join("\n");
  }
}
