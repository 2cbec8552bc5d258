/** Runs the search calls of a round, and makes the turn with their results. */
import type { Part, SearchHit } from "../../exchange/part.ts";
import type { Content, SearchOptions, Turn } from "../../exchange/prompt.ts";
import type { Hit, SearchOutcome, WebSearch } from "../../websearch/mod.ts";
import {
  fitted,
  invalidCallContent,
  limitContent,
  noRoomContent,
  outcomeContent,
  type ReadHit,
} from "./prompts.ts";
import type { HeldCall } from "./round.ts";
import { searchLimit } from "../shape.ts";

/** Minimum length of a search's results: with less, a search is useless. */
const LEAST_RESULT_CHARS = 500;

export interface SearchSteps {
  websearch: WebSearch;
  /** Masks a query; null: it must not be sent. */
  screen(query: string): Promise<string | null>;
  /** Screens search results for the model; absent: not screened. */
  readable?(hits: readonly Hit[]): Promise<ReadHit[]>;
  /** Screens search results for the caller; absent: not screened. */
  shown?(hits: SearchHit[]): Promise<SearchHit[]>;
  /** Called for each search. @param outcome "ok", or one word for the reason of a failure */
  searched?(ms: number, outcome: string, hits: number): void;
}

/** The searches of a round that have begun. */
export interface StartedSearches {
  starts: Part[];
  /** The end of each search, in order of completion. May be read once. */
  ends: AsyncGenerator<Part>;
  /** Index of the next block. */
  nextBlock: number;
  /** The results of all calls, for the model. Complete once `ends` is read. */
  turn(): Turn;
}

/** The searches of one request. */
export class SearchCalls {
  /** Maximum number of searches. */
  readonly limit: number;
  /** Searches that were begun. */
  used = 0;
  /** Searches that have run, and are billed. */
  billed = 0;
  readonly #tool: string;
  readonly #options: SearchOptions;
  readonly #steps: SearchSteps;

  /** @param tool name of the search tool */
  constructor(tool: string, options: SearchOptions, steps: SearchSteps) {
    this.limit = searchLimit(options);
    this.#tool = tool;
    this.#options = options;
    this.#steps = steps;
  }

  /** All searches, if these calls are run too. */
  countWith(calls: readonly HeldCall[]): number {
    return Math.min(this.limit, this.used + queriesOf(calls));
  }

  /**
   * Begins the searches of a round, all in parallel. A call without a query, over the limit, or whose results would not fit, is answered
   * with an explanation.
   *
   * @param block index of the first block
   * @param room characters of results that fit into the model's context
   */
  start(calls: readonly HeldCall[], block: number, room: number): StartedSearches {
    const each = room / Math.min(Math.max(1, queriesOf(calls)), this.limit - this.used);
    const results: Content[][] = [];
    const starts: Part[] = [];
    const running: Promise<Part>[] = [];
    for (const [i, { id, query }] of calls.entries()) {
      if (query === undefined) results[i] = invalidCallContent();
      else if (this.used >= this.limit) results[i] = limitContent();
      else if (each < LEAST_RESULT_CHARS) results[i] = noRoomContent();
      else {
        this.used++;
        const at = block++;
        starts.push({ type: "search-start", block: at, choice: 0, id, query });
        const ended = this.#run(query, at, each, (content) => results[i] = content);
        // It may fail while a slow caller receives the starts. Without this handler, the unhandled rejection would end the process.
        ended.catch(() => {});
        running.push(ended);
      }
    }
    return {
      starts,
      ends: inOrderOfCompletion(running),
      nextBlock: block,
      turn: () => resultTurn(calls, this.#tool, results),
    };
  }

  async #run(query: string, block: number, room: number, give: (content: Content[]) => void): Promise<Part> {
    const found = await searchOnce(query, this.#options, this.#steps);
    if (!found.failed) this.billed++;
    const read = fitted(found.read, room);
    give(outcomeContent(read, this.limit - this.used));
    const all = read.map(({ hit: { url, title } }) => ({ url, title }));
    const hits = await this.#steps.shown?.(all) ?? all;
    return { type: "search-end", block, hits, ...(found.failed && { failed: true }) };
  }
}

function queriesOf(calls: readonly HeldCall[]): number {
  return calls.filter(({ query }) => query !== undefined).length;
}

async function searchOnce(
  query: string,
  options: SearchOptions,
  { websearch, screen, searched, readable = allOf }: SearchSteps,
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
