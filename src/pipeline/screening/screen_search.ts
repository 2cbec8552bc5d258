/**
 * Screens the queries and results of a web search with the rules of the request. Queries are sent to the search engine, results to the
 * model. In mode `block`, a query with a finding is not sent, and a result with a finding is left out.
 */
import { readTexts, type Verdict } from "../../dlp/screen_body.ts";
import type { Loose } from "../../exchange/json.ts";
import type { BodyLeaves } from "../../formats/leaves/mod.ts";
import type { Hit } from "../../websearch/mod.ts";
import type { ReadHit } from "../search/prompts.ts";

export interface SearchScreening {
  /** Resolves with the masked query; null: the query must not be sent. */
  query(text: string): Promise<string | null>;
  /** Resolves with the results that the model may read, masked. */
  hits(hits: readonly Hit[]): Promise<ScreenedHits>;
}

interface ScreenedHits {
  read: ReadHit[];
  /** In the form in which they are reported to the caller. */
  findings: Loose[];
}

interface ScreeningOptions {
  /** Uses the placeholders of the request, so that the same value has the same placeholder. */
  verdictOn(reading: BodyLeaves): Verdict | Promise<Verdict>;
  /** Whether answers are screened too; findings in them are reported with the answer. */
  answers: boolean;
  /** Writes findings to the audit log and the metrics. */
  report(verdict: Pick<Verdict, "action" | "all" | "unscanned">, of: "request" | "answer"): void;
}

/** Values of `location` in findings. */
const QUERY = "answer.search.query";
const [TITLE, URL, TEXT] = ["search.hits.title", "search.hits.url", "search.hits.text"] as const;

const SEVERITY = { pass: 0, mask: 1, block: 2 } as const;

export function screenSearch({ verdictOn, answers, report }: ScreeningOptions): SearchScreening {
  return {
    async query(text) {
      const holder = { [QUERY]: text };
      const verdict = await verdictOn(readTexts(holder));
      // If answers are screened, findings in an unchanged query were reported with the model's tool call.
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
