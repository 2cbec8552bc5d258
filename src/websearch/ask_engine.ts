/**
 * Runs searches with one search engine.
 *
 * A search has two attempts within the time limit. After a rate-limit response (429), searches are paced.
 * Results are not cached: each billed search was executed by the engine, and a search that cannot be executed
 * fails.
 */
import { isObject, type Loose } from "../exchange/json.ts";
import type { JsonBudget } from "../exchange/json_budget.ts";
import type { SearchOptions } from "../exchange/prompt.ts";
import { type Answer, ask as askOnce, withReason } from "../outgoing/ask.ts";
import { jsonIn } from "../outgoing/json_body.ts";
import { Withheld } from "../outgoing/withheld.ts";
import { pause } from "../timing/waits.ts";
import { cleanText } from "./clean.ts";
import type { EngineRequest, RawHit } from "./engines/engine.ts";
import { engineNamed } from "./engines/mod.ts";
import { domainFilter, webAddress } from "./hosts.ts";
import { Pace } from "./pace.ts";
import type { Hit, SearchOutcome, WebSearch, WebSearchOptions, WebSearchSettings } from "./web_search.ts";

/** Text of all hits together, in UTF-16 units: about 2,000 tokens for a search of medium size. */
const TEXT_CHARS: Readonly<Record<string, number>> = { low: 4000, medium: 8000, high: 16_000 };
const TITLE_CHARS = 200;
const LONGEST_QUERY = 400;
const MOST_BODY_BYTES = 2 * 1024 * 1024;
/** A page of fifty results has some 5,000 values. */
const BUDGET: JsonBudget = { depth: 64, values: 50_000, names: 25_000, nameChars: 500_000, digits: 1000 };
const TRIES = 2;

/** The engine answered with an error status. */
class Refused extends Error {
  readonly status: number;
  /** Seconds of its `retry-after` header; undefined: absent. */
  readonly retryAfter: number | undefined;

  constructor({ status, header }: Pick<Answer, "status" | "header">) {
    super(`it answered with status ${status}`);
    this.status = status;
    const seconds = header("retry-after") ?? "";
    if (/^\d{1,9}$/.test(seconds)) this.retryAfter = Number(seconds);
  }
}

/** The engine has answered 429, and the search's turn would come after its time limit. */
class NoTurn extends Error {
  constructor() {
    super("it was asked too often, and is left alone for some time");
  }
}

/** A search engine with pacing and retries. */
export function openEngine(settings: WebSearchSettings, options: WebSearchOptions): WebSearch {
  const engine = engineNamed(settings.engine);
  const engineSettings = { ...settings, baseUrl: settings.baseUrl.replace(/\/+$/, "") };
  const pace = new Pace(options.now, settings.timeoutMs);
  // An engine that repeats its request would otherwise disclose the key to the model and to the caller.
  const withheld = new Withheld({ "api-key": settings.apiKey });
  const sleep = options.sleep ?? pause;

  /** @param signal aborts the request at the time limit */
  async function send({ url, headers, body: sent }: EngineRequest, signal: AbortSignal): Promise<Loose> {
    const method = sent === undefined ? "GET" : "POST";
    const question = { method, headers, body: sent, most: MOST_BODY_BYTES, signal };
    const asking = () => askOnce(url, question);
    const answer = await (options.quietly?.(asking) ?? asking());
    if (!answer.ok) throw new Refused(answer);
    const body = await jsonIn(withheld.answer(answer.text()), BUDGET).catch(() => null);
    if (!isObject(body)) throw new Error("its answer is no JSON object");
    return body;
  }

  async function once(query: string, searchOptions: SearchOptions, signal: AbortSignal): Promise<Hit[]> {
    const raw = await engine.search(query, searchOptions, engineSettings, (request) => send(request, signal));
    const fits = domainFilter(searchOptions);
    const found: RawHit[] = [];
    const urls = new Set<string>();
    for (const hit of raw) {
      if (found.length === settings.results) break;
      const url = webAddress(hit.url);
      // Engines may list several parts of a page.
      if (url === undefined || urls.has(url) || !fits(url)) continue;
      urls.add(url);
      found.push({ ...hit, url });
    }
    const chars = TEXT_CHARS[searchOptions.contextSize ?? "medium"] ?? TEXT_CHARS.medium;
    const each = Math.floor(chars / Math.max(1, found.length));
    return found.map((h) => ({
      url: h.url,
      title: cleanText(h.title, TITLE_CHARS),
      text: cleanText(h.text, each),
    }));
  }

  async function ask(query: string, searchOptions: SearchOptions): Promise<SearchOutcome> {
    const signal = AbortSignal.timeout(settings.timeoutMs);
    const until = options.now() + settings.timeoutMs;
    for (let left = TRIES;; left--) {
      try {
        const wait = pace.take(until);
        if (wait === null) throw new NoTurn();
        if (wait > 0) await sleep(wait);
        return { hits: await once(query, searchOptions, signal), failed: false };
      } catch (thrown) {
        const limited = thrown instanceof Refused && thrown.status === 429;
        if (limited) pace.limited(thrown.retryAfter);
        const final = thrown instanceof NoTurn ||
          (thrown instanceof Refused && thrown.status < 500 && !limited);
        if (left > 1 && !final && !signal.aborted) continue;
        options.log?.(
          `web search: ${engine.name}: ${signal.aborted ? "no answer in time" : reason(thrown)}`,
          "warn",
        );
        return { hits: [], failed: true, why: signal.aborted ? "timeout" : kindOf(thrown) };
      }
    }
  }

  return {
    engine: engine.name,
    search: (query, searchOptions) => ask(query.slice(0, LONGEST_QUERY).toWellFormed(), searchOptions),
  };
}

function kindOf(thrown: unknown): string {
  if (thrown instanceof Refused) return `status_${thrown.status}`;
  if (thrown instanceof NoTurn) return "status_429";
  return thrown instanceof TypeError ? "unreachable" : "unreadable";
}

/** The reason in the gateway's own words: the message of a network error may contain the URL, and with it the query. */
function reason(thrown: unknown): string {
  if (thrown instanceof TypeError) return withReason("it cannot be reached", thrown);
  if (thrown instanceof RangeError) return `its answer is over ${MOST_BODY_BYTES} bytes`;
  return thrown instanceof Error ? thrown.message : "it failed";
}
