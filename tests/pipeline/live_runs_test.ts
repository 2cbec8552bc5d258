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

Deno.test("SplitSecrets withholds a secret in texts that were joined from pieces", () => {
  const secret = "nvapi-8d7f6a5s4d3f2g1h";
  const parts: Part[] = [
    { type: "search-start", block: 0, choice: 0, id: "s", query: `who has ${secret}` },
    {
      type: "media",
      block: 1,
      choice: 0,
      mediaType: "audio/wav",
      data: "aGk=",
      transcript: `it is ${secret}`,
    },
    { type: "media", block: 2, choice: 0, mediaType: "audio/wav", data: "aGk=", transcript: "nothing" },
  ];
  const given = new SplitSecrets([secret]).take(parts);
  assertEquals(given[0], { ...parts[0], query: "who has [withheld]" } as Part);
  assertEquals(given[1], { ...parts[1], transcript: "it is [withheld]" } as Part);
  assert(given[2] === parts[2]);
});

Deno.test("a signature of reasoning stays where findings are only reported, streamed and whole", async () => {
  const proof = { api: "messages", kind: "signature", data: "SIG" } as const;
  for (const pieces of [[`pay ${CARD} now`], [...`pay ${CARD} now`]]) {
    for (const answers of ["alert", "mask"] as const) {
      const parts: Part[] = [
        { type: "start" },
        { type: "reasoning-start", block: 0, choice: 0, kind: "text" },
        ...pieces.map((text): Part => ({ type: "reasoning-delta", block: 0, section: 0, text })),
        { type: "reasoning-end", block: 0, proof },
        { type: "text-start", block: 1, choice: 0 },
        { type: "text-delta", block: 1, text: `${CARD} is cited` },
        { type: "citation", block: 1, citation: { kind: "url", url: "https://a.org", start: 20, end: 28 } },
        { type: "text-end", block: 1 },
        { type: "finish", choice: 0, reason: "stop" },
      ];
      for (const batches of [[parts], parts.map((part) => [part])]) {
        const { parts: given, found } = await screened(batches, { answers });
        assertEquals(found.length, 2);
        const end = given.find((part) => part.type === "reasoning-end");
        assertEquals(end?.proof, answers === "alert" ? proof : undefined);
        const cited = given.find((part) => part.type === "citation")!.citation;
        assertEquals(cited.start, answers === "alert" ? 20 : 20 + "<CREDIT_CARD_1>".length - CARD.length);
      }
    }
  }
});

Deno.test("WholeCharacters joins halves of a character over deltas of a run", () => {
  const parts = run("a\ud83d\ude00b\ud83d", 2);
  new WholeCharacters().mend(parts, 0);
  assertEquals(textOf(parts), "a\ud83d\ude00b\ufffd");
  // Also in what arrives whole.
  const event = parts.at(-2)!, whole = parts.at(-1)!;
  assertEquals(
    [event, whole].map((part) => "value" in part && part.value.code),
    Array(2).fill("a\ud83d\ude00b\ufffd"),
  );
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
