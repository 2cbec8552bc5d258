/** Provider calls of one answer whose parts are screened, and the report of findings at the end. */
import type { Finding } from "../../dlp/scan.ts";
import type { Loose } from "../../exchange/json.ts";
import type { Part, SearchHit } from "../../exchange/part.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import { type ReportedFinding, reportFindings } from "./audit_dlp.ts";
import type { AnswerScreening, Call, Screened } from "../call.ts";
import { askedLength, mostOutput } from "../estimate.ts";
import type { Kit } from "../kit.ts";

/** Maximum number of findings that a report lists, as in that of a request alone; all are counted. */
const MOST_LISTED = 1000;

/** One provider call. */
export type Ask = (prompt: Prompt, choice: number) => AsyncGenerator<readonly Part[]>;

export interface ScreenedCall {
  ask: Ask;
  /** Screens results of the gateway's own searches for the caller. */
  hits(hits: SearchHit[]): Promise<SearchHit[]>;
  /** Reports the findings so far. */
  report(): void;
}

/** The calls of a request whose answers are screened, with the same rules and one common report. */
export function screenedCall(
  call: Call,
  kit: Kit,
  { screened, answers, ask }: { screened: Screened; answers: AnswerScreening; ask: Ask },
): ScreenedCall {
  const lengths = new Map<string, number>();
  const reported: ReportedFinding[] = [];
  let refused = false;
  const { rules, screen, judgeHits } = answers;
  const { mode } = rules;
  const found = (
    { category, entityType, start, end, confidence }: Finding,
    location: string,
    ended: boolean,
  ) => {
    refused ||= ended || mode === "block";
    reported.push({ category, type: entityType, location });
    addFindings(call, screened, [{
      category,
      entity_type: entityType,
      message_index: null,
      location,
      start,
      end,
      confidence,
    }]);
  };
  return {
    ask: (prompt, choice) =>
      screen(ask(prompt, choice), {
        rules,
        ticker: kit.ticker,
        pause: () => kit.slices.pause(call.arrival.key.id),
        held: (ms) => kit.metrics.held("screen", ms),
        choice,
        format: call.prompt.format,
        promptChars: askedLength(call.size),
        mostOutput: mostOutput({ prompt, model: call.model }) * (prompt.n ?? 1),
        lengths,
        found,
      }),
    async hits(hits) {
      const judged = await judgeHits(hits, rules);
      for (const { field, finding } of judged.found) found(finding, `answer.${field}`, false);
      return judged.shown;
    },
    report() {
      if (reported.length === 0) return;
      const { id, key } = call.arrival;
      const action = refused ? "refused" : mode === "mask" ? "masked" : "alerted";
      call.arrival.steps.screenedAnswer(mode, action, reported.length);
      reportFindings({ id, key, of: "answer", mode, action, found: reported }, kit);
    },
  };
}

/** Counts findings behind the request, in search results and in the answer, and lists them as far as a report lists any. */
export function addFindings({ headers }: Call, screened: Screened, findings: readonly Loose[]): void {
  screened.findings += findings.length;
  headers["x-svc-dlp-findings"] = String(screened.findings);
  const { report } = screened;
  if (report === null) return;
  report.count += findings.length;
  const left = Math.max(0, MOST_LISTED - report.findings.length);
  for (const one of findings.slice(0, left)) report.findings.push(one);
}

/** Passes on parts, and runs a function when they end in any way. */
export async function* finallyDo(
  parts: AsyncGenerator<readonly Part[]>,
  then: () => void,
): AsyncGenerator<readonly Part[]> {
  try {
    yield* parts;
  } finally {
    then();
  }
}
