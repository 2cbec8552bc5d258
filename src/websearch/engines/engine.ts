/**
 * What a search engine is: one object of this shape, in a file of its own, listed in needs.ts and mod.ts. Shapes of requests and answers
 * are those of the engines' public documentation.
 *
 * Hosts that a caller wants or does not want go to the engine where it has a field or an operator for them, so that its
 * few hits are not spent on others; whatever comes back is filtered all the same.
 */
import { array, type Loose, object, string } from "../../exchange/json.ts";
import type { SearchOptions } from "../../exchange/prompt.ts";
import { hostOf } from "../hosts.ts";
import type { EngineName } from "./needs.ts";

export interface EngineSettings {
  /** Empty: the engine's public address, where it has one. No slash at its end. */
  baseUrl: string;
  apiKey: string;
  /** Hits wanted. */
  results: number;
}

/** A request of an engine: by POST where it has a body. */
export interface EngineRequest {
  url: string;
  headers: Record<string, string>;
  body?: string;
}

/** A hit as the engine words it: text may hold markup. */
export interface RawHit {
  url: string;
  title: string;
  text: string;
}

export interface SearchEngine {
  /** As the configuration names it. */
  readonly name: EngineName;
  /**
   * One search.
   * @param ask sends a request within the time limit, and gives the JSON object of its answer. Throws on any other answer
   * @throws when the answer says that nothing was searched
   */
  search(
    query: string,
    options: SearchOptions,
    settings: EngineSettings,
    ask: (request: EngineRequest) => Promise<Loose>,
  ): Promise<RawHit[]>;
}

/** Of an engine's answer: it was asked for ten or so. */
const MOST_RESULTS = 500;

/** A list that every good answer has, also one without hits. */
export function listed(value: unknown): Loose[] {
  if (!Array.isArray(value)) throw new Error("no list of results");
  return objects(value);
}

/** What may be missing. */
export function objects(value: unknown): Loose[] {
  return array(value).slice(0, MOST_RESULTS).map(object);
}

/**
 * A hit as an engine gave it; fields that are no text are empty.
 *
 * @param texts joined by blanks
 */
export function hit(url: unknown, title: unknown, ...texts: unknown[]): RawHit {
  const words = texts.map(string).filter((t) => t !== undefined && t !== "");
  return { url: string(url) ?? "", title: string(title) ?? "", text: words.join(" ") };
}

/** Most hosts that go into a query: engines cut long ones. */
const MOST_HOSTS = 8;

/** What an engine takes as a query. */
export interface QueryBounds {
  chars: number;
  words: number;
}

const NO_BOUNDS: QueryBounds = { chars: Infinity, words: Infinity };

/** The query with the `site:` operators that most engines know. Where both do not fit, each has half of the room at least. */
export function withOperators(query: string, options: SearchOptions, bounds = NO_BOUNDS): string {
  let hosts = MOST_HOSTS;
  let operators = operatorsOf(options, hosts);
  while (operators.length > bounds.chars / 2 || wordsOf(operators).length > bounds.words / 2) {
    operators = operatorsOf(options, --hosts);
  }
  const words = bounds.words - wordsOf(operators).length;
  const cut = wordsOf(query).length > words ? wordsOf(query).slice(0, words).join(" ") : query;
  const room = operators === "" ? bounds.chars : bounds.chars - operators.length - 1;
  return `${cut.slice(0, room).toWellFormed().trimEnd()} ${operators}`.trimEnd();
}

function operatorsOf({ allowedDomains, blockedDomains }: SearchOptions, most: number): string {
  const sites = (domains: readonly string[] | undefined) =>
    (domains ?? []).slice(0, most).map((domain) => `site:${hostOf(domain)}`);
  const wanted = sites(allowedDomains);
  const operators = sites(blockedDomains).map((site) => `-${site}`);
  if (wanted.length > 0) operators.unshift(wanted.length === 1 ? wanted[0] : `(${wanted.join(" OR ")})`);
  return operators.join(" ");
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

/** A GET of JSON. */
export function get(
  url: string,
  query: Record<string, string>,
  headers: Record<string, string>,
): EngineRequest {
  return {
    url: `${url}?${new URLSearchParams(query)}`,
    // Wikimedia refuses clients that do not say who they are.
    headers: { accept: "application/json", "user-agent": "sluice (language-model gateway)", ...headers },
  };
}
