import { assert, assertEquals, assertThrows } from "@std/assert";
import { chooseByQuality, difficulty, type RoutingCandidate } from "../../../src/models/autoroute/predict.ts";

const TWO: RoutingCandidate[] = [{ id: "strong", price: 10, strength: 2 }, {
  id: "weak",
  price: 1,
  strength: 1,
}];

function chosen(candidates: readonly RoutingCandidate[], gain: number, quality: number): string {
  return chooseByQuality(candidates, { gain, reason: "open" }, quality).id;
}

Deno.test("difficulty() answers the same for the same text, between 0 and 1", () => {
  for (const text of ["", "hi", "What is 2 + 2?", "x".repeat(100_000), "\ud800", "A. \nB. "]) {
    const { gain, reason } = difficulty(text);
    assert(gain >= 0 && gain <= 1, `${gain}`);
    assertEquals(difficulty(text), { gain, reason });
  }
});

Deno.test("difficulty() ranks a chain of steps above a single one", () => {
  const one = difficulty("A pen costs $1.50. How much do 4 pens cost in dollars?");
  const chain = difficulty(
    "Anna has twice as many marbles as Bob, and Carl has a third of what Anna has left after she gives Dora, her younger " +
      "sister, 12 of them. Dora then hands half of hers to Bob, who gives three fewer than that to Carl. If Carl now has " +
      "17 marbles more than Dora, how many marbles did Anna, Bob and Carl have together before any of them gave some away?",
  );
  assert(chain.gain > one.gain + 0.3, `${chain.gain} and ${one.gain}`);
});

Deno.test("difficulty() ranks work asked for above a greeting", () => {
  const greeting = difficulty("Hello!").gain;
  assert(difficulty("Prove the theorem, and write a program in Rust that checks the proof.").gain > greeting);
  assert(difficulty("Fix this:\n```js\nif (a[i] < (b_c + d) / 2) { x = { y: [] }; }\n```").gain > greeting);
});

Deno.test("difficulty() says in one token what was seen", () => {
  assertEquals(difficulty("Tom has 4 apples and eats 3. How many?").reason, "sum,quantities:2,words:7");
  assert(!/[\s;]/.test(difficulty("Did the court hold the\nseller liable?").reason));
});

Deno.test("chooseByQuality() sends the share that quality names to the stronger of two", () => {
  const gains = Array.from({ length: 1000 }, (_, i) => (i + 0.5) / 1000);
  for (const quality of [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95]) {
    const share = gains.filter((gain) => chosen(TWO, gain, quality) === "strong").length / gains.length;
    assert(Math.abs(share - quality) < 0.002, `quality ${quality}: ${share}`);
  }
});

Deno.test("chooseByQuality() means the cheapest by 0 and the strongest by 1, whatever the prompt", () => {
  for (const gain of [0, 0.5, 1]) {
    assertEquals(chosen(TWO, gain, 0), "weak");
    assertEquals(chosen(TWO, gain, 1), "strong");
  }
});

Deno.test("chooseByQuality() keeps some doubt about ranks at the ends", () => {
  assertEquals(chosen(TWO, 0, 0.9995), "strong");
  assertEquals(chosen(TWO, 1, 0.0005), "weak");
});

Deno.test("chooseByQuality() steps through three models as prompts get harder", () => {
  const three = [{ id: "large", price: 20 }, { id: "small", price: 1 }, { id: "middle", price: 4 }];
  const order = [0.02, 0.4, 0.9].map((gain) => chosen(three, gain, 0.5));
  assertEquals(order, ["small", "middle", "large"]);
  const rising = Array.from(
    { length: 99 },
    (_, i) => ["small", "middle", "large"].indexOf(chosen(three, (i + 1) / 100, 0.5)),
  );
  assertEquals(rising, rising.toSorted());
});

Deno.test("chooseByQuality() never takes a model that is dearer and weaker, save none is stronger", () => {
  const candidates = [{ id: "poor", price: 5, strength: 1 }, { id: "good", price: 3, strength: 2 }, {
    id: "cheap",
    price: 1,
    strength: 1,
  }];
  for (const quality of [0, 0.2, 0.5, 0.8, 1]) {
    for (const gain of [0, 0.3, 0.7, 1]) assert(chosen(candidates, gain, quality) !== "poor");
  }
});

Deno.test("chooseByQuality() goes by price rank when a strength is not told", () => {
  assertEquals(chosen([{ id: "a", price: 1, strength: 9 }, { id: "b", price: 2 }], 0.9, 0.9), "b");
});

Deno.test("chooseByQuality() takes the stronger of equal prices and the only one of one", () => {
  const equal = [{ id: "a", price: 1, strength: 1 }, { id: "b", price: 1, strength: 2 }];
  assertEquals([0, 0.5, 1].map((quality) => chosen(equal, 0.1, quality)), ["b", "b", "b"]);
  assertEquals(chosen([{ id: "only", price: 3 }], 0.5, 0.5), "only");
});

Deno.test("chooseByQuality() says kind, rank and quality", () => {
  const { reason } = chooseByQuality(TWO, { gain: 0.734, reason: "sum,words:7" }, 0.5);
  assertEquals(reason, "sum,words:7,gain:0.73,quality:0.5");
});

Deno.test("chooseByQuality() refuses to choose from nothing", () => {
  assertThrows(
    () => chooseByQuality([], { gain: 0, reason: "" }, 0.5),
    Error,
    "expected at least 1 candidate, got 0",
  );
});
