/** The comparison itself: it must see every kind of difference, or a replay that finds none says nothing. */
import { assertEquals, assertNotEquals } from "@std/assert";
import type { CallerAnswer } from "./caller.ts";
import { differences } from "./compare.ts";
import type { AnswerReading } from "./reading.ts";

const WANTED: AnswerReading = {
  kind: "answer",
  choices: [{
    text: "Hi",
    refusal: "",
    explanation: "",
    reasoning: ["First.", "Then."],
    calls: [{ name: "f", arguments: '{"b":1,"a":2}', custom: false }],
    stops: ["tool-calls"],
    citations: [{ url: "https://example.com/", title: "Example" }],
    mayCite: ["https://example.org/"],
  }],
  usage: { input: 10, cached: 4, cacheWrite: 2, output: 5, reasoning: 3 },
  searches: 1,
  kinds: ["thinking", "text", "tool_use"],
};

function got(): CallerAnswer {
  return {
    kind: "answer",
    model: "p/model",
    kinds: ["thinking", "text", "tool_use"],
    searches: 1,
    choices: [{
      text: "Hi",
      refusal: "",
      reasoning: ["First.\n\nThen."],
      calls: [{ name: "f", arguments: '{"a":2,"b":1}', custom: false }],
      stop: "tool_use",
      citations: [{ url: "https://example.com/", title: "Example" }],
    }],
    usage: { input: 10, cached: 4, cacheWrite: 2, output: 5, reasoning: 3 },
  };
}

Deno.test("differences() of the same answer", () => {
  assertEquals(differences(WANTED, got(), "messages", { same: true }), []);
});

const CHANGES: Readonly<Record<string, (answer: CallerAnswer) => void>> = {
  "a text": (a) => a.choices[0].text += " ",
  "a reasoning": (a) => a.choices[0].reasoning[0] += "!",
  "a lost reasoning": (a) => a.choices[0].reasoning = [],
  "a call's name": (a) => a.choices[0].calls[0].name = "g",
  "a call's arguments": (a) => a.choices[0].calls[0].arguments = '{"a":2}',
  "a lost call": (a) => a.choices[0].calls = [],
  "a stop reason": (a) => a.choices[0].stop = "end_turn",
  "a lost citation": (a) => a.choices[0].citations = [],
  "a citation's title": (a) => a.choices[0].citations[0].title = "Other",
  "an invented citation": (a) => a.choices[0].citations.push({ url: "https://example.net/" }),
  "one more choice": (a) => a.choices.push(a.choices[0]),
  "no usage": (a) => a.usage = null,
  "an input count": (a) => a.usage!.input++,
  "a cache count": (a) => a.usage!.cached = 0,
  "a cache write": (a) => a.usage!.cacheWrite = 0,
  "an output count": (a) => a.usage!.output--,
  "a reasoning count": (a) => a.usage!.reasoning = undefined,
  "a search count": (a) => a.searches = undefined,
  "a lost block": (a) => a.kinds.pop(),
};

for (const [name, change] of Object.entries(CHANGES)) {
  Deno.test(`differences() sees ${name}`, () => {
    const answer = got();
    change(answer);
    assertNotEquals(differences(WANTED, answer, "messages", { same: true }), []);
  });
}
