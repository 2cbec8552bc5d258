/** What a search is asked with, and what comes of it. */
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
  /** The engine could not be asked, or did not answer: nothing is billed. */
  failed: boolean;
  /** In a word, where it failed: `timeout`, `unreachable`, `status_429`, `unreadable`. */
  why?: string;
}

export interface WebSearch {
  /** Its name. */
  readonly engine: string;
  search(query: string, searchOptions: SearchOptions): Promise<SearchOutcome>;
}

export interface WebSearchSettings extends EngineSettings {
  /** Name of an engine; `none`: nothing is searched. */
  engine: string;
  timeoutMs: number;
}

export interface WebSearchOptions {
  now(): number;
  /** By default by a timer. */
  sleep?(ms: number): Promise<void>;
  /** Does work whose requests are in no trace: their addresses hold the query. Absent: there are no traces. */
  quietly?<T>(work: () => Promise<T>): Promise<T>;
  /** One line for the operator: what went wrong with an engine, never what was asked of it. */
  log?(line: string): void;
}
