/** The judge must be able to find fault: each story below is right but for one thing. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Evidence, type Heard, judge, parseHeard, type Recorded } from "./check.ts";
import type { Sent } from "./load.ts";

const heard = (event: Heard["event"], counts: Partial<Heard> = {}): Heard => ({
  event,
  at: 1010,
  input: 0,
  cached: 0,
  output: 0,
  reasoning: 0,
  ...counts,
});
const sent = (number: number, more: Partial<Sent> = {}): Sent => ({
  number,
  node: 0,
  key: `key${number}`,
  plan: "ok",
  stream: true,
  at: 1000,
  until: 1020,
  id: `gen_${number}`,
  saw: "ended",
  status: 200,
  ...more,
});
const record = (number: number, more: Partial<Recorded> = {}): Recorded => ({
  id: `gen_${number}`,
  created: 1005,
  key: `key${number}`,
  status: "completed",
  measured: true,
  input: 30 + number,
  cached: number,
  output: 10,
  reasoning: 0,
  searches: 0,
  cost: 50_000_000n,
  ...more,
});
const NOTHING = { input: null, cached: null, output: null, reasoning: null, measured: false, cost: 0n };
const whole = (number: number) => [
  heard("begin"),
  heard("done", { input: 30 + number, cached: number, output: 10 }),
];

/** Two that went well, one that broke off, one whose gateway died, one that nobody heard of. */
function story(): {
  sent: Sent[];
  heard: Map<number, Heard[]>;
  records: Recorded[];
  kills: Evidence["kills"][number][];
} {
  return {
    sent: [
      sent(1),
      sent(2, { saw: "left", id: null }),
      sent(3, { plan: "break", saw: "told" }),
      sent(4, { node: 1, saw: "lost", id: null }),
      sent(5, { saw: "unreachable", id: null }),
    ],
    heard: new Map([
      [1, whole(1)],
      [2, whole(2)],
      [3, [heard("begin"), heard("broke")]],
      [4, [heard("begin"), heard("cut")]],
    ]),
    records: [
      record(1),
      record(2),
      record(3, { status: "failed", ...NOTHING }),
      record(4, { id: "gen_unknown", status: "interrupted", ...NOTHING }),
    ],
    kills: [{ node: 1, at: 1012 }],
  };
}

Deno.test("judge() passes a story that fits, and adds it up", () => {
  const { problems, counts } = judge(story());
  assertEquals(problems, []);
  assertEquals([counts.reached, counts.owed, counts.proven, counts.exposed], [4, 4, 1, 1]);
  assertEquals([counts.billedInput, counts.reportedInput], [63, 63]);
  assertEquals([counts.billedOutput, counts.reportedOutput, counts.cost], [20, 20, 100_000_000n]);
});

Deno.test("judge() passes a request that was asked again after a refusal that did not get out", () => {
  const of = story();
  of.sent[2].nodes = [0, 0];
  of.heard.get(3)!.push(heard("begin"), heard("broke"));
  of.records.push(record(3, { id: "gen_before", status: "failed", ...NOTHING }));
  assertEquals(judge(of).problems, []);
  // Each time that it broke off has one record.
  of.records.push(record(3, { id: "gen_third", status: "failed", ...NOTHING }));
  assertStringIncludes(judge(of).problems.join(), "nothing that was sent");
});

const WRONG: Record<string, [spoil: (of: ReturnType<typeof story>) => void, word: string]> = {
  "a record is missing": [(of) => of.records.splice(1, 1), "the ledger has none"],
  "a record is doubled": [(of) => of.records.push(record(1, { id: "gen_again" })), "two records"],
  "a record is of nothing": [
    (of) => of.records.push(record(9, { id: "gen_9", key: "key9", status: "failed", ...NOTHING })),
    "nothing that was sent",
  ],
  "tokens are miscounted": [(of) => of.records[1].output = 11, "output were reported"],
  "the cost is wrong": [(of) => of.records[0].cost++, "it costs"],
  "a search is billed that never ran": [(of) => of.records[2].searches = 1, "0 searches ran"],
  "a call that broke off is billed": [(of) => of.records[2].cost = 1n, "it costs 0"],
  "an interruption that no kill explains": [(of) => of.kills.pop(), "no gateway was killed"],
  "an interruption though the caller saw the end": [
    (of) => {
      Object.assign(of.records[0], { status: "interrupted", ...NOTHING });
      of.kills.push({ node: 0, at: 1012 });
    },
    "expected completed",
  ],
  "a call that nobody heard of is recorded": [
    (of) => of.records.push(record(5, { status: "failed", ...NOTHING })),
    "expected none",
  ],
};

for (const [title, [spoil, word]] of Object.entries(WRONG)) {
  Deno.test(`judge() finds that ${title}`, () => {
    const of = story();
    spoil(of);
    const { problems } = judge(of);
    assert(problems.length > 0);
    assertStringIncludes(problems.join("\n"), word);
  });
}

Deno.test("parseHeard() leaves out a line that was being written", () => {
  const map = parseHeard("7 begin 1 0 0 0 0\n7 done 2 30 7 10 1\n8 beg");
  assertEquals([...map.keys()], [7]);
  assertEquals(map.get(7)![1], {
    event: "done",
    at: 2,
    input: 30,
    cached: 7,
    output: 10,
    reasoning: 1,
  });
});
