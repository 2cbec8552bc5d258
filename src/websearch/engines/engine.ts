/**
 * The interface of a search engine. Each engine is one object in a file of its own, listed in needs.ts and
 * mod.ts. Requests and responses follow the engines' public documentation.
 *
 * Hosts that a caller allows or blocks are sent to the engine if it has a field or an operator for them, so
 * that its few hits are not used up by other hosts. Paths of sites are not sent, since not every engine
 * supports them. The hits are filtered in any case.
 */
import { array, type Loose, object, string } from "../../exchange/json.ts";
import type { SearchOptions } from "../../exchange/prompt.ts";
import { hostsOf, wholeHostsOf } from "../hosts.ts";
import type { EngineName } from "./needs.ts";

export interface EngineSettings {
  /** Empty: the engine's public URL, if there is one. Without a trailing slash. */
  baseUrl: string;
  apiKey: string;
  /** Number of hits. */
  results: number;
}

/** A request to an engine: POST if it has a body, else GET. */
export interface EngineRequest {
  url: string;
  headers: Record<string, string>;
  body?: string;
}

/** A hit as the engine returns it: the text may contain markup. */
export interface RawHit {
  url: string;
  title: string;
  text: string;
}

export interface SearchEngine {
  /** Its name in the configuration. */
  readonly name: EngineName;
  /**
   * Runs one search.
   * @param ask sends a request within the time limit and resolves with the JSON object of the answer; throws
   * for any other answer
   * @throws if the answer says that no search was executed
   */
  search(
    query: string,
    options: SearchOptions,
    settings: EngineSettings,
    ask: (request: EngineRequest) => Promise<Loose>,
  ): Promise<RawHit[]>;
}

/** The most results that are read of an answer; about ten are requested. */
const MOST_RESULTS = 500;

/** A list that every valid answer has, even without hits. */
export function listed(value: unknown): Loose[] {
  if (!Array.isArray(value)) throw new Error("no list of results");
  return objects(value);
}

/** A list that may be absent. */
export function objects(value: unknown): Loose[] {
  return array(value).slice(0, MOST_RESULTS).map(object);
}

/**
 * A hit of an engine; fields that are not strings become empty.
 * @param texts joined with spaces
 */
export function hit(url: unknown, title: unknown, ...texts: unknown[]): RawHit {
  const words = texts.map(string).filter((t) => t !== undefined && t !== "");
  return { url: string(url) ?? "", title: string(title) ?? "", text: words.join(" ") };
}

/** The country of the user, as two letters; undefined: unknown. */
export function countryOf({ location }: SearchOptions): string | undefined {
  const country = location?.country?.trim().toUpperCase();
  return country !== undefined && /^[A-Z]{2}$/.test(country) ? country : undefined;
}

/** The most hosts in a query, since engines truncate long queries. */
const MOST_HOSTS = 8;

/** Limits of an engine for queries. */
export interface QueryBounds {
  chars: number;
  words: number;
}

const NO_BOUNDS: QueryBounds = { chars: Infinity, words: Infinity };

/**
 * The query with `site:` operators, which most engines support. If both are too long, at least half of the
 * length is left for each.
 */
export function withOperators(query: string, options: SearchOptions, bounds = NO_BOUNDS): string {
  const wanted = hostsOf(options.allowedDomains);
  const unwanted = wholeHostsOf(options.blockedDomains);
  let hosts = MOST_HOSTS;
  let operators = operatorsOf(wanted, unwanted, hosts);
  while (operators.length > bounds.chars / 2 || wordsOf(operators).length > bounds.words / 2) {
    operators = operatorsOf(wanted, unwanted, --hosts);
  }
  const words = bounds.words - wordsOf(operators).length;
  const cut = wordsOf(query).length > words ? wordsOf(query).slice(0, words).join(" ") : query;
  const room = operators === "" ? bounds.chars : bounds.chars - operators.length - 1;
  return `${cut.slice(0, room).toWellFormed().trimEnd()} ${operators}`.trimEnd();
}

/** Operators for so many hosts at most of each list. */
function operatorsOf(wanted: readonly string[], unwanted: readonly string[], most: number): string {
  const sites = wanted.slice(0, most).map((host) => `site:${host}`);
  const operators = unwanted.slice(0, most).map((host) => `-site:${host}`);
  if (sites.length > 0) operators.unshift(sites.length === 1 ? sites[0] : `(${sites.join(" OR ")})`);
  return operators.join(" ");
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

/** A GET request for JSON. */
export function get(
  url: string,
  query: Record<string, string>,
  headers: Record<string, string>,
): EngineRequest {
  return {
    url: `${url}?${new URLSearchParams(query)}`,
    // Wikimedia refuses clients without a descriptive `user-agent`.
    headers: { accept: "application/json", "user-agent": "sluice (language-model gateway)", ...headers },
  };
}
