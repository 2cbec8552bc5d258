/** What models, engines and callers do in a search, and what the caller must get of it. */
import { assert, assertEquals } from "@std/assert";
import { pause } from "../support/time.ts";
import { type Asked, hitsOf, type Script, searchCall } from "./rig.ts";
import type { Heard } from "./heard.ts";
import type { Round } from "./rounds.ts";

export type Stop = "end" | "tool" | "cut";

export interface Situation extends Script {
  name: string;
  text: string;
  stop?: Stop;
  /** Searches that ran, and are billed. */
  executed: number;
  /** Searches that were begun; default: those that ran. */
  begun?: number;
  rounds: number;
  /** Number of rounds in which the search is offered to the model; default: all. */
  offered?: number;
  calls?: string[];
  engine?(query: string): Response | Promise<Response>;
  check?(asked: Asked, told: Heard[]): void;
}

const usageOf = (round: number) => ({ input: 100 + round, output: 20 + round });
export const searching = (round: number, ticket: string, said?: string): Round => ({
  proof: `PROOF-${round}`,
  ...(said !== undefined && { text: said }),
  calls: [searchCall(`${ticket} query ${round}`)],
  usage: usageOf(round),
});
export const saying = (round: number, said: string): Round => ({
  proof: `PROOF-${round}`,
  text: said,
  usage: usageOf(round),
});
const toldOff = (told: Heard) =>
  told.results.some((r) => /limit of searches for this request is (now )?used up/.test(r));

/** Searches `count` times, one a round, unless it is told to stop. */
const sequence = (count: number): Script["answer"] => (round, told, ticket) =>
  round < count && !toldOff(told) ? searching(round, ticket, `Step ${round}. `) : saying(round, "Found.");
const steps = (count: number) => Array.from({ length: count }, (_, i) => `Step ${i}. `).join("") + "Found.";

export const SITUATIONS: Situation[] = [
  { name: "no search", answer: sequence(0), text: "Found.", executed: 0, rounds: 1 },
  { name: "one search", answer: sequence(1), text: steps(1), executed: 1, rounds: 2 },
  { name: "three searches", answer: sequence(3), text: steps(3), executed: 3, rounds: 4 },
  {
    name: "twelve searches of twelve",
    answer: sequence(12),
    wish: { max_uses: 12 },
    text: steps(12),
    executed: 12,
    rounds: 13,
    check: (_, told) => assertEquals(told.filter(toldOff).length, 1),
  },
  {
    name: "more than the ten of the default",
    answer: sequence(25),
    text: steps(10),
    executed: 10,
    rounds: 11,
  },
  {
    name: "twenty-five wished for, twenty granted",
    answer: sequence(25),
    wish: { max_uses: 25 },
    text: steps(20),
    executed: 20,
    rounds: 21,
  },
  {
    name: "a model that does not stop when told",
    answer: (round, told, ticket) =>
      round < 25 ? searching(round, ticket) : saying(round, told.results.length === 25 ? "At last." : "?"),
    text: "At last.",
    executed: 10,
    rounds: 26,
    // The search is withdrawn after the ten searches and seven refused rounds.
    offered: 17,
    check: (_, told) =>
      assertEquals(told.at(-1)!.results.filter((r) => r.startsWith("The search was not run")).length, 15),
  },
  {
    name: "three side by side",
    answer: (round, told, ticket) =>
      round === 0
        ? {
          proof: "PROOF-0",
          text: "At once. ",
          calls: [0, 1, 2].map((i) => searchCall(`${ticket} side ${i}`, i)),
          usage: usageOf(0),
        }
        : saying(round, [0, 1, 2].every((i) => told.results[i].includes(`side ${i}`)) ? "All." : "Mixed up."),
    text: "At once. All.",
    executed: 3,
    rounds: 2,
  },
  {
    name: "twenty-five side by side",
    answer: (round, _, ticket) =>
      round === 0
        ? {
          calls: Array.from({ length: 25 }, (_, i) => searchCall(`${ticket} side ${i}`, i)),
          usage: usageOf(0),
        }
        : saying(round, "Enough."),
    text: "Enough.",
    executed: 10,
    rounds: 2,
    check: (_, told) => {
      assertEquals(told[1].results.length, 25);
      assertEquals(told[1].results.filter((r) => r.startsWith("The search was not run")).length, 15);
    },
  },
  {
    name: "a call of the caller's tool after a search",
    tool: true,
    answer: (round, _, ticket) =>
      round === 0 ? searching(0, ticket, "First. ") : {
        proof: "PROOF-1",
        text: "Now yours.",
        calls: [{ id: "call_w", name: "weather", arguments: '{"city":"Rome"}' }],
        usage: usageOf(1),
      },
    text: "First. Now yours.",
    stop: "tool",
    executed: 1,
    rounds: 2,
    calls: ["weather"],
  },
  {
    name: "a search beside a call of the caller's tool",
    tool: true,
    answer: (_, __, ticket) => ({
      proof: "PROOF-0",
      text: "Both.",
      calls: [searchCall(`${ticket} unheard`), {
        id: "call_w",
        name: "weather",
        arguments: '{"city":"Rome"}',
      }],
      usage: usageOf(0),
    }),
    text: "Both.",
    stop: "tool",
    executed: 0,
    rounds: 1,
    calls: ["weather"],
    check: (asked) => assertEquals(asked.queries, []),
  },
  {
    name: "the engine down",
    answer: sequence(1),
    engine: () => new Response("no", { status: 500 }),
    text: steps(1),
    executed: 0,
    begun: 1,
    rounds: 2,
    check: (asked, told) => {
      assertEquals(asked.queries.length, 2);
      assert(told[1].results[0].startsWith("The search found nothing."));
    },
  },
  {
    name: "the engine slow",
    answer: sequence(2),
    engine: async (query) => {
      await pause(20);
      return hitsOf(query);
    },
    text: steps(2),
    executed: 2,
    rounds: 3,
  },
  {
    name: "the cap used up by the first round",
    cap: 60,
    answer: (_, __, ticket) => ({
      text: "Long. ",
      calls: [searchCall(`${ticket} late`)],
      usage: { input: 9, output: 50 },
    }),
    text: "Long. ",
    stop: "cut",
    executed: 0,
    rounds: 1,
  },
  {
    name: "the cap running out while searching",
    cap: 60,
    answer: (round, _, ticket) =>
      round === 0
        ? { text: "Short. ", calls: [searchCall(`${ticket} early`)], usage: { input: 9, output: 20 } }
        : { text: "And th", cut: true, usage: { input: 9, output: 40 } },
    text: "Short. And th",
    stop: "cut",
    executed: 1,
    rounds: 2,
    check: (_, told) => assertEquals(told.map((t) => t.cap), [60, 40]),
  },
  {
    name: "arguments that are none",
    answer: (round, told, ticket) =>
      round === 0
        ? { calls: [{ id: "call_0", name: "web_search", arguments: "{}" }], usage: usageOf(0) }
        : round === 1
        ? { ...searching(1, ticket), text: told.results[0].includes('{"query"') ? "I see. " : "?" }
        : saying(2, "Done."),
    text: "I see. Done.",
    executed: 1,
    rounds: 3,
  },
  {
    name: "the same query again",
    answer: (round, _, ticket) => round < 2 ? searchAgain(round, ticket) : saying(round, "Same."),
    text: "Same.",
    executed: 2,
    rounds: 3,
    check: (asked) => assertEquals(asked.queries.length, 2),
  },
];

function searchAgain(round: number, ticket: string): Round {
  return { calls: [searchCall(`${ticket} again`)], usage: usageOf(round) };
}

export const FAILING: Situation = {
  name: "the provider failing in round two",
  answer: (round, _, ticket) =>
    round === 0 ? searching(0, ticket, "Wait. ") : new Response("no", { status: 500 }),
  text: "",
  executed: 1,
  rounds: 2,
};
