/** The types of web searches and their results. */
import type { Level } from "../exchange/log_level.ts";
import type { SearchOptions } from "../exchange/prompt.ts";
import type { EngineSettings } from "./engines/engine.ts";

export interface Hit {
  url: string;
  title: string;
  /** Plain text, cleaned and trimmed. */
  text: string;
}

export interface SearchOutcome {
  hits: Hit[];
  /** The engine could not be reached or returned no result: nothing is billed. */
  failed: boolean;
  /** The reason of a failure: `timeout`, `unreachable`, `status_429`, `unreadable`. */
  why?: string;
}

export interface WebSearch {
  /** The name of the engine. */
  readonly engine: string;
  search(query: string, searchOptions: SearchOptions): Promise<SearchOutcome>;
}

export interface WebSearchSettings extends EngineSettings {
  /** Name of the engine; `none`: every search fails. */
  engine: string;
  timeoutMs: number;
}

export interface WebSearchOptions {
  now(): number;
  /** Default: a timer. */
  sleep?(ms: number): Promise<void>;
  /** Runs work whose requests are not traced, since their URLs contain the query. Default: there is no tracing. */
  quietly?<T>(work: () => Promise<T>): Promise<T>;
  /** Writes a line about an engine's failure for the operator. It never contains the query. */
  log?(line: string, level?: Level): void;
}
