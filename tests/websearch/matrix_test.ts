/**
 * Web search through the whole gateway: every caller format by every provider API, streamed and whole, in each situation.
 * What the caller gets is read by the strict reader, and a stream by the official client of the format as well.
 */
import { assert, assertEquals } from "@std/assert";
import { type CallerName, readCaller } from "../corpus/caller.ts";
import { pause } from "../support/time.ts";
import {
  type Asked,
  type Cell,
  CELLS,
  hitsOf,
  openSearchRig,
  type Script,
  searchCall,
  type SearchRig,
} from "./rig.ts";
import type { Heard, Round } from "./rounds.ts";
import { readBySdk } from "./sdk.ts";

type Stop = "end" | "tool" | "cut";

const STOPS: Record<CallerName, Record<Stop, string>> = {
  chat_completions: { end: "stop", tool: "tool_calls", cut: "length" },
  messages: { end: "end_turn", tool: "tool_use", cut: "max_tokens" },
  responses: { end: "completed", tool: "completed", cut: "incomplete: max_output_tokens" },
};

interface Situation extends Script {
  name: string;
  text: string;
  stop?: Stop;
  /** Searches that ran, and are billed. */
  executed: number;
  /** Searches that were begun; default: those that ran. */
  begun?: number;
  rounds: number;
  calls?: string[];
  engine?(query: string): Response | Promise<Response>;
  check?(asked: Asked, told: Heard[]): void;
}

const usageOf = (round: number) => ({ input: 100 + round, output: 20 + round });
const searching = (round: number, ticket: string, said?: string): Round => ({
  proof: `PROOF-${round}`,
  ...(said !== undefined && { text: said }),
  calls: [searchCall(`${ticket} query ${round}`)],
  usage: usageOf(round),
});
const saying = (round: number, said: string): Round => ({
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

const SITUATIONS: Situation[] = [
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
    // The engine's answer is kept for a while, but a search is a search.
    check: (asked) => assertEquals(asked.queries.length, 1),
  },
];

function searchAgain(round: number, ticket: string): Round {
  return { calls: [searchCall(`${ticket} again`)], usage: usageOf(round) };
}

async function inCells(
  rig: SearchRig,
  situation: Situation,
  work: (cell: Cell, name: string) => Promise<void>,
): Promise<void> {
  rig.engine(situation.engine ?? hitsOf);
  for (const cell of CELLS) {
    const name = `${cell.caller} by ${cell.api}, ${cell.stream ? "streamed" : "whole"}`;
    try {
      await work(cell, name);
    } catch (thrown) {
      throw new Error(`${situation.name}: ${name}: ${thrown instanceof Error ? thrown.message : thrown}`, {
        cause: thrown,
      });
    }
  }
}

async function checkCell(rig: SearchRig, cell: Cell, situation: Situation): Promise<void> {
  const told: Heard[] = [];
  const answered: Round[] = [];
  const script: Script = {
    ...situation,
    async answer(round, heard, ticket) {
      told.push(heard);
      const said = await situation.answer(round, heard, ticket);
      answered.push(said as Round);
      return said;
    },
  };
  const asked = await rig.ask(cell, script);
  const { response } = asked;
  const body = await response.text();
  const headers = { "content-type": response.headers.get("content-type")! };
  const read = await readCaller(
    cell.caller,
    new Response(body, { status: response.status, headers }),
    cell.stream,
  );
  if (read.kind !== "answer") throw new Error(body);
  const [choice] = read.choices;
  const calls = situation.calls ?? [];
  const stop = STOPS[cell.caller][situation.stop ?? "end"];
  const begun = situation.begun ?? situation.executed;
  const executed = situation.executed || undefined;

  assertEquals(choice.text, situation.text);
  assertEquals(choice.calls.map((c) => c.name), calls);
  assertEquals(choice.stop, stop);
  assertEquals(read.searches, executed);
  assertEquals(asked.seen.length, situation.rounds);
  assertEquals([read.usage?.input, read.usage?.output], [sum(answered, "input"), sum(answered, "output")]);

  const urls = new Set(body.match(/https:\/\/site\.test\/[\w%-]+/g));
  assertEquals(urls.size, new Set(asked.queries).size * (situation.executed > 0 ? 1 : 0));
  if (cell.caller === "chat_completions") assertEquals(new Set(choice.citations.map((c) => c.url)), urls);
  if (cell.caller === "messages") {
    for (const kind of ["server_tool_use", "web_search_tool_result"]) {
      assertEquals(read.kinds.filter((k) => k === kind).length, begun, kind);
    }
  }
  if (cell.caller === "responses") {
    assertEquals(read.kinds.filter((k) => k === "svc:web_search").length, begun);
  }

  for (const [i, heard] of told.entries()) {
    assert(heard.tools.includes("web_search") && !("search" in asked.seen[i].body));
    assertEquals(new Set(heard.calls).size, heard.calls.length, "ids of calls are unique");
    assertEquals(heard.answered, heard.calls, "each call has its result, in order");
    // What a round reasoned goes back with its proof.
    const proof = i > 0 ? answered[i - 1].proof : undefined;
    if (proof) assert(JSON.stringify(asked.seen[i].body).includes(`"${proof}"`), `round ${i} lacks ${proof}`);
  }
  situation.check?.(asked, told);

  const record = await rig.record(response);
  const cost = sum(answered, "input") + 2 * sum(answered, "output") + 5000 * situation.executed;
  assertEquals([record.status, record.searches, record.error_code], [
    situation.stop === "cut" ? "incomplete" : "completed",
    situation.executed,
    null,
  ]);
  assertEquals(Math.round(Number(record.cost) * 1e6), cost);

  if (!cell.stream) return;
  const final = await readBySdk(cell.caller, body);
  assertEquals([final.text, final.searches, final.calls], [situation.text, executed, calls]);
  assertEquals(final.stop, stop);
  assertEquals(final.kinds, read.kinds);
}

function sum(rounds: Round[], kind: "input" | "output"): number {
  return rounds.reduce((total, round) => total + round.usage![kind], 0);
}

for (const situation of SITUATIONS) {
  Deno.test(`search in every cell: ${situation.name}`, async () => {
    const rig = await openSearchRig();
    try {
      await inCells(rig, situation, (cell) => checkCell(rig, cell, situation));
    } finally {
      await rig.close();
    }
  });
}

const FAILING: Situation = {
  name: "the provider failing in round two",
  answer: (round, _, ticket) =>
    round === 0 ? searching(0, ticket, "Wait. ") : new Response("no", { status: 500 }),
  text: "",
  executed: 1,
  rounds: 2,
};

Deno.test(`search in every cell: ${FAILING.name}`, async () => {
  const rig = await openSearchRig();
  try {
    await inCells(rig, FAILING, async (cell) => {
      const { response } = await rig.ask(cell, FAILING);
      const read = await readCaller(cell.caller, response.clone(), cell.stream);
      if (read.kind !== "error") throw new Error("it did not fail");
      assertEquals([read.code, read.status], ["provider_unavailable", cell.stream ? 200 : 502]);
      if (cell.stream) assert((await response.text()).includes("Wait"));
      else await response.body?.cancel();
      const record = await rig.record(response);
      assertEquals([record.status, record.error_code], ["failed", "provider_unavailable"]);
      // The search is paid for, the tokens are not.
      assertEquals([record.searches, Number(record.cost)], [1, 0.005]);
    });
  } finally {
    await rig.close();
  }
});

Deno.test("search in every cell: the caller leaving in round two", async () => {
  const rig = await openSearchRig();
  try {
    const leaving: Situation = { ...FAILING, name: "the caller leaving in round two" };
    await inCells(rig, leaving, async (cell) => {
      const caller = new AbortController();
      const left = Promise.withResolvers<void>();
      const script: Script = {
        async answer(round, _, ticket) {
          if (round === 0) return searching(0, ticket, "Wait. ");
          caller.abort();
          await left.promise;
          return saying(1, "Nobody hears.");
        },
      };
      // Whoever asks for a whole answer has none yet, and no id.
      const known = (await rig.gateway.gateway.accounts.generations({})).data.length;
      try {
        const { response } = await rig.ask(cell, script, { signal: caller.signal });
        await response.text();
        throw new Error("the caller did not leave");
      } catch (thrown) {
        assert(thrown instanceof DOMException && thrown.name === "AbortError", String(thrown));
      }
      left.resolve();
      await rig.gateway.gateway.idle();
      const { data } = await rig.gateway.gateway.accounts.generations({});
      assertEquals(data.length, known + 1);
      const { status, searches, usage } = data[0];
      assertEquals([status, searches], ["completed", 1]);
      assertEquals([usage?.input_tokens, usage?.output_tokens], [201, 41]);
    });
  } finally {
    await rig.close();
  }
});
