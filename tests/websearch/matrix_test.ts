/**
 * Web search through the whole gateway: every caller format by every provider API, streamed and whole, in each situation.
 * What the caller gets is read by the strict reader, and a stream by the official client of the format as well.
 */
import { assert, assertEquals } from "@std/assert";
import { type CallerName, readCaller } from "../corpus/caller.ts";
import { type Cell, CELLS, hitsOf, openSearchRig, type Script, type SearchRig } from "./rig.ts";
import type { Heard } from "./heard.ts";
import type { Round } from "./rounds.ts";
import { readBySdk } from "./sdk.ts";
import { FAILING, saying, searching, type Situation, SITUATIONS, type Stop } from "./situations.ts";

const STOPS: Record<CallerName, Record<Stop, string>> = {
  chat_completions: { end: "stop", tool: "tool_calls", cut: "length" },
  messages: { end: "end_turn", tool: "tool_use", cut: "max_tokens" },
  responses: { end: "completed", tool: "completed", cut: "incomplete: max_output_tokens" },
};

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
    const offered = i < (situation.offered ?? Infinity);
    // Anthropic requires the tools of earlier calls to be declared, even if no tool may be called.
    const declared = offered || cell.api === "anthropic-messages";
    assertEquals(heard.tools.includes("web_search"), declared, `tools of round ${i}`);
    if (declared && !offered) assertEquals(asked.seen[i].body.tool_choice, { type: "none" });
    assert(!("search" in asked.seen[i].body));
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
