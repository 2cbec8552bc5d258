/**
 * A card number in the place of every single value of the scenarios' requests, and as a name in every object: it must be
 * found, or the field must be one of the few that leave unread.
 */
import { assert, assertEquals } from "@std/assert";
import { merge } from "../../src/dlp/merge.ts";
import { readRequestOptions } from "../../src/dlp/request.ts";
import { screenBody } from "../../src/dlp/screen_body.ts";
import { readHeaders, readLeaves } from "../../src/formats/leaves/mod.ts";
import { LEAVES } from "../../src/formats/mod.ts";

/** Ids and proofs, and what the gateway reads itself. The manual's page on data-loss prevention has the same list. */
const UNREAD = new Set([
  "id",
  "call_id",
  "tool_call_id",
  "tool_use_id",
  "file_id",
  "signature",
  "thought_signature",
  "encrypted_content",
  "encrypted_index",
  "data",
  "model",
]);
const CARD = "4111 1111 1111 1111";
const FORMATS = ["chat_completions", "messages", "responses"] as const;
type Format = typeof FORMATS[number];

function isFound(body: unknown, format: Format, headers: Record<string, string> = {}): boolean {
  const check = merge(null, readRequestOptions({ mode: "block" }), { unscannable: "pass", restore: false });
  const reading = readLeaves(body, LEAVES[format]);
  readHeaders(reading, headers);
  const work = screenBody(reading, check, { budgetMs: 10_000 });
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value.action === "block";
}

type Path = (string | number)[];

/** Paths of all values that hold no others, and of all objects. */
function* placesIn(value: unknown, path: Path = []): Generator<{ path: Path; object: boolean }> {
  if (typeof value !== "object" || value === null) return yield { path, object: false };
  if (!Array.isArray(value)) yield { path, object: true };
  for (const [name, inner] of Object.entries(value)) {
    yield* placesIn(inner, [...path, Array.isArray(value) ? Number(name) : name]);
  }
}

// deno-lint-ignore no-explicit-any
function at(body: any, path: Path): any {
  return path.reduce((value, step) => value[step], body);
}

async function* requests(): AsyncGenerator<{ name: string; format: Format; body: unknown }> {
  const scenarios = new URL("../scenarios/", import.meta.url);
  for await (const entry of Deno.readDir(scenarios)) {
    if (!entry.isDirectory) continue;
    for (const format of FORMATS) {
      try {
        const text = await Deno.readTextFile(new URL(`${entry.name}/${format}.request.json`, scenarios));
        yield { name: entry.name, format, body: JSON.parse(text) };
      } catch (thrown) {
        if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
      }
    }
  }
}

Deno.test("screenBody() looks into every field that leaves", async () => {
  const missed: string[] = [];
  let places = 0;
  for await (const { name, format, body } of requests()) {
    for (const { path, object } of placesIn(body)) {
      const last = path.findLast((step) => typeof step === "string") as string | undefined;
      if (path.includes("dlp") || !object && last !== undefined && UNREAD.has(last)) continue;
      places++;
      const changed = structuredClone(body);
      if (object) at(changed, path)[CARD] = true;
      else at(changed, path.slice(0, -1))[path.at(-1)!] = CARD;
      if (!isFound(changed, format)) missed.push(`${name} ${format} ${path.join(".")}${object ? ".*" : ""}`);
    }
  }
  assert(places > 900, `only ${places} places`);
  assertEquals(missed, []);
});

Deno.test("screenBody() looks into numbers, names of many unknown fields, and headers that are passed on", () => {
  assert(isFound({ novel: 4111111111111111 }, "responses"));
  assert(isFound({ logit_bias: { "4111111111111111": 1 } }, "chat_completions"));
  assert(isFound({ messages: [{ role: "user", content: "a", ...filled(200), [CARD]: 1 }] }, "messages"));
  assert(isFound({}, "messages", { "anthropic-beta": `files-api-2025-04-14,${CARD}` }));
  assertEquals(isFound({}, "messages", { "anthropic-version": "2023-06-01" }), false);
});

function filled(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`field${i}`, i]));
}
