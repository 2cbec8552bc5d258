/**
 * Screening of what a search adds to a request on its way: the query, which goes to the engine, and the results, which go to the model.
 * The rules are those of the request. In mode `block` a query with a finding is not sent, and a result with a finding is left out.
 */
import { readTexts, type Verdict } from "../dlp/screen_body.ts";
import type { Loose } from "../exchange/json.ts";
import type { BodyLeaves } from "../formats/leaves.ts";
import type { Hit } from "../websearch/mod.ts";
import type { ReadHit } from "./search_prompts.ts";

export interface SearchScreening {
  /** Masks the query of a web search; its result null: the query must not be sent. */
  query(text: string): Promise<string | null>;
  /** The results that the model may read, masked. */
  hits(hits: readonly Hit[]): Promise<ScreenedHits>;
}

interface ScreenedHits {
  read: ReadHit[];
  /** As they are reported to the caller. */
  findings: Loose[];
}

interface ScreeningOptions {
  /** With the placeholders of the request: the same value has the same one. */
  verdictOn(reading: BodyLeaves): Verdict | Promise<Verdict>;
  /** Answers are screened too, and findings in them are reported with the answer. */
  answers: boolean;
  /** Writes findings to the audit log and the metrics. */
  report(verdict: Pick<Verdict, "action" | "all" | "unscanned">, of: "request" | "answer"): void;
}

/** Places of findings: the query as the model writes it, and what the model reads of the results. */
const QUERY = "answer.search.query";
const [TITLE, URL, TEXT] = ["search.hits.title", "search.hits.url", "search.hits.text"] as const;

const SEVERITY = { pass: 0, mask: 1, block: 2 } as const;

export function screenSearch({ verdictOn, answers, report }: ScreeningOptions): SearchScreening {
  return {
    async query(text) {
      const holder = { [QUERY]: text };
      const verdict = await verdictOn(readTexts(holder));
      // Where answers are screened, what leaves as it is has been told with the call.
      if (verdict.action !== "pass" || !answers) report(verdict, "answer");
      return verdict.action === "block" ? null : holder[QUERY];
    },
    async hits(hits) {
      const read: ReadHit[] = [];
      const all: Verdict["all"] = [];
      let action: Verdict["action"] = "pass";
      for (const hit of hits) {
        const holder = { [TITLE]: hit.title, [URL]: hit.url, [TEXT]: hit.text };
        const verdict = await verdictOn(readTexts(holder));
        all.push(...verdict.all);
        if (SEVERITY[verdict.action] > SEVERITY[action]) action = verdict.action;
        if (verdict.action === "block") continue;
        read.push({ hit, seen: { title: holder[TITLE], url: holder[URL], text: holder[TEXT] } });
      }
      report({ action, all, unscanned: [] }, "request");
      return { read, findings: all.map((one) => ({ ...one })) };
    },
  };
}
