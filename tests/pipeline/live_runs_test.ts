/** What the stages between provider and caller do with the events of a tool that the provider runs. */
import { assert, assertEquals } from "@std/assert";
import { restore } from "../../src/dlp/restore.ts";
import type { Part } from "../../src/exchange/part.ts";
import { SplitSecrets } from "../../src/pipeline/generation/split_secrets.ts";
import { WholeCharacters } from "../../src/pipeline/generation/whole_characters.ts";
import { CARD, screened } from "./screened_parts.ts";

const EVENT = "response.code_interpreter_call_code.delta";
const item = (code: string) => ({ id: "ci_1", type: "code_interpreter_call", code });

function run(code: string, size = 3): Part[] {
  const pieces = code.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
  return [
    { type: "live-start", block: 0, choice: 0, format: "responses", value: item("") },
    ...pieces.map((text): Part => ({ type: "live-delta", block: 0, event: EVENT, text })),
    {
      type: "live-event",
      block: 0,
      event: "response.code_interpreter_call_code.done",
      value: { code },
    },
    { type: "opaque", block: 0, choice: 0, format: "responses", value: item(code) },
  ];
}

const textOf = (parts: readonly Part[]) => parts.map((p) => p.type === "live-delta" ? p.text : "").join("");

Deno.test("SplitSecrets withholds a secret that is cut across deltas of a run, before its end", () => {
  const secret = "nvapi-8d7f6a5s4d3f2g1h";
  for (let size = 1; size < 40; size++) {
    const split = new SplitSecrets([secret]);
    const parts = [
      ...run(`print("${secret}")`, size).flatMap((part) => [...split.take([part])]),
      ...split.end(),
    ];
    assert(!JSON.stringify(parts).includes(secret.slice(12)), `${size}: ${textOf(parts)}`);
    assert(textOf(parts).endsWith('[withheld]")'), `${size}: ${textOf(parts)}`);
    assertEquals(parts.at(-1)!.type, "opaque");
  }
  // The beginning of one, which nothing follows.
  const split = new SplitSecrets([secret]);
  const parts = [...split.take(run("x = nvapi-8")), ...split.end()];
  assertEquals(textOf(parts), "x = nvapi-8");
  assertEquals(parts.at(-2)!.type, "live-event");
});

Deno.test("WholeCharacters joins halves of a character over deltas of a run", () => {
  const parts = run("a\ud83d\ude00b\ud83d", 2);
  new WholeCharacters().mend(parts, 0);
  assertEquals(textOf(parts), "a\ud83d\ude00b\ufffd");
  assertEquals(parts.at(-2)!.type, "live-event");
});

Deno.test("restore() passes no events of a run on, but its complete part", async () => {
  async function* stream() {
    yield run("<EMAIL_ADDRESS_1>");
  }
  const out: Part[] = [];
  for await (const batch of restore(stream(), new Map([["<EMAIL_ADDRESS_1>", "a@b.org"]]))) {
    out.push(...batch);
  }
  assertEquals(out.map(({ type }) => type), ["opaque"]);
});

Deno.test("screening lets the events of a run pass only where it changes nothing", async () => {
  for (const answers of ["alert", "mask", "block"] as const) {
    for (const code of ["1 + 1", `pay ${CARD}`]) {
      const start: Part = { type: "start" };
      const finish: Part = { type: "finish", choice: 0, reason: "stop" };
      const { parts, found } = await screened([[start, ...run(code), finish]], {
        answers,
        format: "responses",
      });
      const bad = code !== "1 + 1";
      assertEquals(found.length, bad ? 1 : 0, answers);
      const live = parts.filter(({ type }) => type.startsWith("live-"));
      assertEquals(live, answers === "alert" ? run(code).slice(0, -1) : []);
      assertEquals(parts.some(({ type }) => type === "opaque"), !(bad && answers === "block"));
      if (answers !== "alert") assert(!JSON.stringify(parts).includes(CARD));
    }
  }
});
