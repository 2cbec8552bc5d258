/**
 * Stage: web search within one request. The model gets an additional search tool. Its search calls are executed here, and the model is
 * called again with the results until it makes no more search calls. The caller sees one answer: the text of every round as it is
 * generated, the start and the end of each search, and one finish.
 *
 * Rules for a round:
 * - only search calls: all run in parallel, and their results go into the next round;
 * - a search call together with a call of the caller's tool: the caller's tool call ends the answer, and the search is not run, because
 *   its result could not reach the model before the result of the caller's tool;
 * - arguments without a query: nothing is run, the model is told the correct form of a call;
 * - a repeated query: it is run and counted like any other;
 * - a call over the limit: nothing is run, the model is told to answer with the results it has. If it makes another call, the next rounds
 *   allow no tools, then do not offer the search; if it still makes calls, the answer ends after some more rounds;
 * - `tool_choice` with the name of the search tool: the first call must be a search, later rounds are free. A `tool_choice` that forces
 *   any tool: a search satisfies it, unless the caller has its own tools; then the later rounds are forced too. With `none`, or a forced
 *   tool of the caller, there is no search tool;
 * - maximum output: the output of earlier rounds is subtracted. If too little is left for another round, no more searches are run, and the
 *   answer is marked as truncated;
 * - context: results are shortened so that they fit into the model's context, beside the prompt and an answer. If hardly any text fits,
 *   nothing is run, and the model is told to answer;
 * - budget: each round sends the prompt again, with the search results. If the budget does not suffice for another round, the answer
 *   ends and is marked as truncated as well.
 */
import type { Part } from "../../exchange/part.ts";
import type { Prompt, Turn } from "../../exchange/prompt.ts";
import { addUsage, NO_USAGE, type Usage } from "../../exchange/usage.ts";
import { lengthsOf } from "../../models/limits.ts";
import { SearchCalls, type SearchSteps } from "./calls.ts";
import { offerSearch } from "./offer.ts";
import { nameOf, searchTool } from "./prompts.ts";
import { CallIds, type HeldCall, RoundReader } from "./round.ts";
import { MOST_IDLE_ROUNDS } from "../shape.ts";

/** Minimum output limit for another round: providers refuse smaller ones. */
const LEAST_OUTPUT = 16;

/** Part of the context that is kept for the answer, and the least that is kept free, since sizes may be estimates. */
const ANSWER_SHARE = 0.25;
const FREE_SHARE = 0.05;
/** An estimate counts neither the declarations of tools nor the form of calls and results. */
const ESTIMATE_MARGIN = 1.25;
/** Characters counted for a token. English text has about four, so part of the context may stay free; Chinese may have one. */
const CHARS_PER_TOKEN = 2;

/** Upper bound for a further round and the searches before it. */
export interface Next {
  /** Bytes that were added to the prompt. */
  added: number;
  output: number;
  /** All searches of the request. */
  searches: number;
}

export interface SearchLoop extends SearchSteps {
  /** One provider call. */
  ask(prompt: Prompt): AsyncGenerator<readonly Part[]>;
  /** Length of the request in UTF-16 units. */
  chars: number;
  /** Maximum output of all rounds together; null: unknown. */
  mostOutput: number | null;
  /** Tokens that the model accepts; null: unknown. */
  contextLength: number | null;
  /** Whether the call was ended early. Absent: never. */
  cut?(): boolean;
  /** Extends the reservation for another round. False: the budget does not suffice. */
  affords(spent: Usage, next: Next): Promise<boolean>;
}

/** Stage: calls the model, runs its search calls, and calls it again with the results, as one answer. */
export async function* searchLoop(prompt: Prompt, loop: SearchLoop): AsyncGenerator<readonly Part[]> {
  const options = prompt.search ?? {};
  const tool = searchTool(prompt.tools, options.cache);
  const callers = new Set(prompt.tools.map(nameOf));
  const ids = new CallIds(prompt.turns);
  const searches = new SearchCalls(tool.name, options, loop);
  const tally = new Tally(loop, searches);
  let { turns, maxOutput } = prompt;
  let block = 0;
  /** Rounds in which the model only made calls that were not run. */
  let idle = 0;

  for (let round = 0;; round++) {
    const asked = {
      ...prompt,
      search: undefined,
      turns,
      ...offerSearch(prompt, tool, round, idle),
      maxOutput,
    };
    const reader = new RoundReader({ tool: tool.name, callers, block, first: round === 0, ids });
    for await (const batch of loop.ask(asked)) {
      const out = reader.read(batch, tally.spent, tally.searches);
      if (out.length > 0) yield out;
    }
    const size = tally.addRound(reader);
    if (tally.estimated) yield [tally.usage()];
    // The call was ended because its caller has disconnected and its capacity is needed: no searches are run.
    if (loop.cut?.()) return;

    const calls = callsToRun(reader, idle);
    if (calls.length === 0) return yield [lastFinish(reader)];
    const { outputLeft } = tally;
    if (outputLeft !== null && outputLeft < LEAST_OUTPUT) return yield [TRUNCATED];
    if (!await tally.affords(searches.countWith(calls))) return yield [TRUNCATED];

    const run = searches.start(calls, reader.nextBlock, roomOf(loop.contextLength, size, outputLeft));
    block = run.nextBlock;
    if (run.starts.length === 0) idle++;
    else yield run.starts;
    for await (const end of run.ends) yield [end, tally.usage()];
    // The provider is not called again either.
    if (loop.cut?.()) return;
    const next = [reader.turn(), run.turn()];
    turns = [...turns, ...next];
    tally.addTurns(next);
    if (!await tally.affords(searches.billed)) return yield [TRUNCATED];
    maxOutput = outputLeft ?? undefined;
  }
}

const TRUNCATED: Part = { type: "finish", choice: 0, reason: "length" };

/** What all rounds together have used. */
class Tally {
  spent: Usage = NO_USAGE;
  /** Part of the usage is an estimate. */
  estimated = false;
  /** Searches that the provider ran itself. */
  #own = 0;
  /** What was added to the prompt. */
  readonly #added = { chars: 0, bytes: 0 };
  readonly #loop: SearchLoop;
  readonly #calls: SearchCalls;

  constructor(loop: SearchLoop, calls: SearchCalls) {
    this.#loop = loop;
    this.#calls = calls;
  }

  /** All searches that are billed. */
  get searches(): number {
    return this.#calls.billed + this.#own;
  }

  /** Tokens that further rounds may generate; null: unknown. */
  get outputLeft(): number | null {
    const { mostOutput } = this.#loop;
    return mostOutput === null ? null : mostOutput - this.spent.output;
  }

  usage(): Part {
    const { spent, searches, estimated } = this;
    return {
      type: "usage",
      usage: spent,
      ...(searches > 0 && { searches }),
      ...(estimated && { estimated }),
    };
  }

  /** Adds a round that has ended. Returns the tokens of the conversation so far, an estimate. */
  addRound(reader: RoundReader): number {
    const estimate = reader.said.estimate(this.#loop.chars + this.#added.chars, this.outputLeft ?? undefined);
    const usage = reader.usage ?? estimate;
    if (reader.usage !== null || !reader.said.isNothing) this.spent = addUsage(this.spent, usage);
    this.estimated ||= reader.estimated || (reader.usage === null && !reader.said.isNothing);
    this.#own += reader.ownSearches;
    const said = Math.max(usage.input, estimate.input) + Math.max(usage.output, estimate.output);
    return reader.usage === null ? said * ESTIMATE_MARGIN : said;
  }

  /** Adds turns to the prompt of the next round. */
  addTurns(turns: readonly Turn[]): void {
    for (const { content } of turns) {
      const { chars, bytes } = lengthsOf(content);
      this.#added.chars += chars;
      this.#added.bytes += bytes;
    }
  }

  /** Extends the reservation for another round. @param searches those of the gateway, all rounds together */
  affords(searches: number): Promise<boolean> {
    return this.#loop.affords(this.spent, {
      added: this.#added.bytes,
      output: this.outputLeft ?? 0,
      searches: searches + this.#own,
    });
  }
}

/** The calls that are answered in a further round; empty: the answer is complete. */
function callsToRun(reader: RoundReader, idle: number): readonly HeldCall[] {
  const reason = reader.finish?.reason ?? "stop";
  const called = reason === "tool-calls" || reason === "stop";
  return called && reader.callersCalls === 0 && idle <= MOST_IDLE_ROUNDS ? reader.calls : [];
}

function lastFinish({ finish, callersCalls }: RoundReader): Part {
  // The caller never saw the search calls, so for it no tool was called.
  if (finish?.reason === "tool-calls" && callersCalls === 0) return { ...finish, reason: "stop" };
  return finish ?? { type: "finish", choice: 0, reason: "stop" };
}

/**
 * Characters of search results that fit into the context.
 * @param size tokens of the conversation so far
 */
function roomOf(contextLength: number | null, size: number, outputLeft: number | null): number {
  if (contextLength === null) return Infinity;
  const answer = Math.min(outputLeft ?? Infinity, contextLength * ANSWER_SHARE);
  const kept = Math.max(answer, contextLength * FREE_SHARE);
  return Math.max(0, contextLength - size - kept) * CHARS_PER_TOKEN;
}
