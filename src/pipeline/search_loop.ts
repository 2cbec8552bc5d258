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
import type { Part, SearchHit } from "../exchange/part.ts";
import type { Content, FunctionTool, Prompt, SearchOptions, ToolChoice, Turn } from "../exchange/prompt.ts";
import { addUsage, NO_USAGE, type Usage } from "../exchange/usage.ts";
import { lengthsOf } from "../models/limits.ts";
import type { Hit, SearchOutcome, WebSearch } from "../websearch/mod.ts";
import { estimateUsage } from "./estimate.ts";
import { CallIds, type HeldCall, RoundReader } from "./search_round.ts";
import {
  fitted,
  invalidCallContent,
  limitContent,
  nameOf,
  noRoomContent,
  outcomeContent,
  type ReadHit,
  searchTool,
} from "./search_prompts.ts";
import { MOST_IDLE_ROUNDS, searchLimit } from "./shape.ts";

/** After this many rounds without an executed search, the model may not call tools any more. */
const IDLE_ROUNDS_WITH_TOOLS = 2;
/** After this many, the search is not even offered: some models call whatever tool they are told of. */
const IDLE_ROUNDS_WITH_OFFER = 6;
/** Minimum output limit for another round: providers refuse smaller ones. */
const LEAST_OUTPUT = 16;

/** Part of the context that is kept for the answer, and the least that is kept free, since sizes may be estimates. */
const ANSWER_SHARE = 0.25;
const FREE_SHARE = 0.05;
/** An estimate counts neither the declarations of tools nor the form of calls and results. */
const ESTIMATE_MARGIN = 1.25;
/** Characters counted for a token. English text has about four, so part of the context may stay free; Chinese may have one. */
const CHARS_PER_TOKEN = 2;
/** Minimum length of a search's results: with less, a search is useless. */
const LEAST_RESULT_CHARS = 500;

/** Upper bound for a further round and the searches before it. */
export interface Next {
  /** Bytes that were added to the prompt. */
  added: number;
  output: number;
  /** All searches of the request. */
  searches: number;
}

export interface SearchLoop {
  websearch: WebSearch;
  /** One provider call. */
  ask(prompt: Prompt): AsyncGenerator<readonly Part[]>;
  /** Masks a query; null: it must not be sent. */
  screen(query: string): Promise<string | null>;
  /** Screens search results for the model; absent: not screened. */
  readable?(hits: readonly Hit[]): Promise<ReadHit[]>;
  /** Screens search results for the caller; absent: not screened. */
  shown?(hits: SearchHit[]): Promise<SearchHit[]>;
  /** UTF-16 units of the request's text. */
  chars: number;
  /** Maximum output of all rounds together; null: unknown. */
  mostOutput: number | null;
  /** Tokens that the model accepts; null: unknown. */
  contextLength: number | null;
  /** Called for each search. @param outcome "ok", or one word for the reason of a failure */
  searched?(ms: number, outcome: string, hits: number): void;
  /** Whether the call was ended early. Absent: never. */
  cut?(): boolean;
  /** Extends the reservation for another round. False: the budget does not suffice. */
  affords(spent: Usage, next: Next): Promise<boolean>;
}

/** Stage: calls the model, runs its search calls, and calls it again with the results, as one answer. */
export async function* searchLoop(
  prompt: Prompt,
  loop: SearchLoop,
): AsyncGenerator<readonly Part[]> {
  const { ask, chars, mostOutput, contextLength, affords } = loop;
  const options = prompt.search ?? {};
  const tool = searchTool(prompt.tools, options.cache);
  const callers = new Set(prompt.tools.map(nameOf));
  const limit = searchLimit(options);
  const ids = new CallIds(prompt.turns);
  const search = (query: string) => searchOnce(query, options, loop);
  let turns = prompt.turns;
  let used = 0;
  let billed = 0;
  /** Searches that the provider ran itself. */
  let own = 0;
  let idle = 0;
  let block = 0;
  let spent: Usage = NO_USAGE;
  let estimated = false;
  const added = { chars: 0, bytes: 0 };
  const outputLeft = () => mostOutput === null ? null : mostOutput - spent.output;
  const canGoOn = (searches: number) =>
    affords(spent, { added: added.bytes, output: outputLeft() ?? 0, searches: searches + own });
  const counts = (): Part => ({
    type: "usage",
    usage: spent,
    ...(billed + own > 0 && { searches: billed + own }),
    ...(estimated && { estimated }),
  });

  for (let round = 0;; round++) {
    const asked: Prompt = {
      ...prompt,
      search: undefined,
      turns,
      ...offer(prompt, tool, round, idle),
      maxOutput: round === 0 ? prompt.maxOutput : outputLeft() ?? undefined,
    };
    const reader = new RoundReader({ tool: tool.name, callers, block, first: round === 0, ids });
    for await (const batch of ask(asked)) {
      const out = reader.read(batch, spent, billed + own);
      if (out.length > 0) yield out;
    }
    block = reader.nextBlock;
    own += reader.ownSearches;
    estimated ||= reader.estimated;
    const estimate = estimateUsage(chars + added.chars, reader.said);
    const usage = reader.usage ?? estimate;
    if (reader.usage !== null || reader.said > 0) spent = addUsage(spent, usage);
    estimated ||= reader.usage === null && reader.said > 0;
    if (estimated) yield [counts()];
    // The call was ended because its caller has disconnected and its capacity is needed: no searches are run.
    if (loop.cut?.()) return;

    const finish = reader.finish ?? { type: "finish", choice: 0, reason: "stop" };
    const called = finish.reason === "tool-calls" || finish.reason === "stop";
    const calls = called && reader.callersCalls === 0 && idle <= MOST_IDLE_ROUNDS ? reader.calls : [];
    if (calls.length === 0) {
      // The caller never saw the search calls, so for it no tool was called.
      const unheard = finish.reason === "tool-calls" && reader.callersCalls === 0;
      yield [unheard ? { ...finish, reason: "stop" } : finish];
      return;
    }
    const asksFor = calls.filter(({ query }) => query !== undefined).length;
    const left = outputLeft();
    if ((left !== null && left < LEAST_OUTPUT) || !await canGoOn(Math.min(limit, used + asksFor))) {
      yield [{ type: "finish", choice: 0, reason: "length" }];
      return;
    }

    const said = Math.max(usage.input, estimate.input) + Math.max(usage.output, estimate.output);
    const size = reader.usage === null ? said * ESTIMATE_MARGIN : said;
    const each = roomOf(contextLength, size, left) / Math.min(Math.max(1, asksFor), limit - used);
    const results: Content[][] = [];
    const starts: Part[] = [];
    const running: Promise<Part>[] = [];
    for (const [i, { id, query }] of calls.entries()) {
      if (query === undefined) results[i] = invalidCallContent();
      else if (used >= limit) results[i] = limitContent();
      else if (each < LEAST_RESULT_CHARS) results[i] = noRoomContent();
      else {
        used++;
        const at = block++;
        starts.push({ type: "search-start", block: at, choice: 0, id, query });
        const ended = search(query).then(async (found): Promise<Part> => {
          if (!found.failed) billed++;
          const read = fitted(found.read, each);
          results[i] = outcomeContent(read, limit - used);
          const all = read.map(({ hit: { url, title } }) => ({ url, title }));
          const hits = await loop.shown?.(all) ?? all;
          return { type: "search-end", block: at, hits, ...(found.failed && { failed: true }) };
        });
        // It may fail while a slow caller receives the starts. Without this handler, the unhandled rejection would end the process.
        ended.catch(() => {});
        running.push(ended);
      }
    }
    if (starts.length === 0) idle++;
    else yield starts;
    for await (const end of inOrderOfCompletion(running)) yield [end, counts()];
    // The provider is not called again either.
    if (loop.cut?.()) return;
    const next = [reader.turn(), resultTurn(calls, tool.name, results)];
    turns = [...turns, ...next];
    for (const { content } of next) {
      const { chars, bytes } = lengthsOf(content);
      added.chars += chars;
      added.bytes += bytes;
    }
    if (!await canGoOn(billed)) {
      yield [{ type: "finish", choice: 0, reason: "length" }];
      return;
    }
  }
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

/** Stated expressly: without it, a provider of the caller's format would get the caller's own choice again. */
const FREE: ToolChoice = { type: "auto" };

/** The tools of a round, and the choice among them. @param idle rounds in which the model only made calls that it was told not to make */
function offer(
  prompt: Prompt,
  tool: FunctionTool,
  round: number,
  idle: number,
): Pick<Prompt, "tools" | "toolChoice" | "searchWithdrawn"> {
  const { tools, toolChoice: choice } = prompt;
  const offered = [...tools, tool];
  const forced = choice?.type === "required" && tools.length > 0;
  if (idle > IDLE_ROUNDS_WITH_TOOLS && forced) return { tools, toolChoice: choice };
  if (idle > IDLE_ROUNDS_WITH_OFFER) {
    return { tools, toolChoice: tools.length > 0 ? { type: "none" } : undefined, searchWithdrawn: true };
  }
  if (idle > IDLE_ROUNDS_WITH_TOOLS) return { tools: offered, toolChoice: { type: "none" } };
  if (prompt.search?.first) {
    const first = { type: "tool", kind: "function", name: tool.name } as const;
    return { tools: offered, toolChoice: round === 0 ? first : FREE };
  }
  if (choice?.type === "required") {
    return { tools: offered, toolChoice: round === 0 || forced ? choice : FREE };
  }
  if (choice?.type === "allowed") {
    const required = choice.required && (round === 0 || choice.names.length > 0);
    return { tools: offered, toolChoice: { ...choice, required, names: [...choice.names, tool.name] } };
  }
  return { tools: offered, toolChoice: choice };
}

async function searchOnce(
  query: string,
  options: SearchOptions,
  { websearch, screen, searched, readable = allOf }: SearchLoop,
): Promise<ReadOutcome> {
  const began = performance.now();
  const finished = (
    outcome: SearchOutcome,
    what: string = outcome.failed ? outcome.why ?? "failed" : "ok",
  ) => {
    searched?.(performance.now() - began, what, outcome.hits.length);
    return outcome;
  };
  const asked = async () => {
    try {
      const allowed = await screen(query);
      if (allowed === null) return finished({ hits: [], failed: true }, "screened");
      return finished(await websearch.search(allowed, options));
    } catch {
      return finished({ hits: [], failed: true });
    }
  };
  const { hits, failed } = await asked();
  try {
    return { read: await readable(hits), failed };
  } catch {
    // The search has run and is billed; what cannot be screened is not sent.
    return { read: [], failed };
  }
}

interface ReadOutcome {
  read: readonly ReadHit[];
  /** The search has not run: nothing is billed. */
  failed: boolean;
}

function allOf(hits: readonly Hit[]): Promise<ReadHit[]> {
  return Promise.resolve(hits.map((hit) => ({ hit, seen: hit })));
}

async function* inOrderOfCompletion<T>(promises: readonly Promise<T>[]): AsyncGenerator<T> {
  const open = new Map(promises.map((p, i) => [i, p.then((value) => ({ i, value }))]));
  while (open.size > 0) {
    const { i, value } = await Promise.race(open.values());
    open.delete(i);
    yield value;
  }
}

function resultTurn(calls: readonly HeldCall[], name: string, results: readonly Content[][]): Turn {
  return {
    role: "user",
    content: calls.map(({ id }, i) => ({
      type: "result",
      callId: id,
      name,
      kind: "function",
      content: results[i],
      isError: false,
      plain: true,
    })),
  };
}
