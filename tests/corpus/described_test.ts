/** What providers are described to say is replayed and compared like the recordings. */
import { assertEquals } from "@std/assert";
import type { Recording } from "../support/recordings.ts";
import type { CallerName } from "./caller.ts";
import { differences } from "./compare.ts";
import { expectedCodes, WITHHELD } from "./expected_codes.ts";
import { readRecording } from "./reading.ts";
import { openRig } from "./replay.ts";
import { DESCRIBED, REFUSED } from "./described.ts";

type Rig = Awaited<ReturnType<typeof openRig>>;

const CALLERS: readonly CallerName[] = ["chat_completions", "messages", "responses"];

/** @param piece size of the network pieces in bytes */
async function ask(rig: Rig, wire: Recording, caller: CallerName, piece: number): Promise<string[]> {
  const body = wire.sse ??
    (typeof wire.response === "string" ? wire.response : JSON.stringify(wire.response));
  const bytes = new TextEncoder().encode(body);
  const pieces = Array.from(
    { length: Math.ceil(bytes.length / piece) },
    (_, i) => bytes.subarray(i * piece, (i + 1) * piece),
  );
  const got = await rig.ask(caller, { recording: wire, pieces }, wire.stream, 1);
  const wanted = REFUSED.includes(wire) ? null : readable(wire);
  if (wanted?.kind === "answer") {
    return got.kind === "answer"
      ? differences(wanted, got, caller, { same: false })
      : [`an answer, got ${got.code}: ${got.message}`];
  }
  const codes = expectedCodes(wire.status, wanted?.said ?? body);
  if (got.kind === "answer") return [`${codes}, got an answer that ended ${got.choices[0].stop}`];
  return [
    ...(codes.includes(got.code) ? [] : [`${codes}, got ${got.code}: ${got.message}`]),
    ...(WITHHELD.test(got.message) ? [`the message holds an address or a credential: ${got.message}`] : []),
  ];
}

function readable(wire: Recording) {
  try {
    return readRecording(wire);
  } catch {
    return { kind: "error" as const, said: "a broken frame" };
  }
}

Deno.test("the gateway shows every caller what providers are known to say", async () => {
  const rig = await openRig();
  const wrong: string[] = [];
  for (const wire of [...DESCRIBED, ...REFUSED]) {
    for (const caller of CALLERS) {
      for (const piece of [1, 65_536]) {
        try {
          for (const what of await ask(rig, wire, caller, piece)) {
            wrong.push(`${wire.id} -> ${caller}: ${what}`);
          }
        } catch (thrown) {
          wrong.push(`${wire.id} -> ${caller}: ${thrown instanceof Error ? thrown.message : thrown}`);
        }
      }
    }
  }
  await rig.close();
  assertEquals([...new Set(wrong)], []);
});
