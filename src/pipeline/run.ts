/** One call from admission to bill: the order of the steps, and nothing else. */
import type { Finding } from "../dlp/scan.ts";
import { restore } from "../dlp/restore.ts";
import { Failure } from "../exchange/failure.ts";
import type { Loose } from "../exchange/json.ts";
import type { Part } from "../exchange/part.ts";
import type { Prompt } from "../exchange/prompt.ts";
import { admit } from "./admit.ts";
import { choices } from "./choices.ts";
import { generate } from "./generate.ts";
import { screenAnswer } from "./screen_answer.ts";
import type { Arrival, Call } from "./call.ts";
import type { Kit } from "./kit.ts";
import { meter } from "./meter.ts";
import { screen } from "./screen.ts";
import { searchLoop } from "./search_loop.ts";
import { nextRound } from "./upper_bound.ts";

export interface Run {
  call: Call;
  parts: AsyncGenerator<readonly Part[]>;
}

/** Guards first: whatever they throw still has a status of its own. The parts begin when they are read. */
export async function run(arrival: Arrival, kit: Kit): Promise<Run> {
  const screening = screen(arrival, kit);
  const screened = screening instanceof Promise ? await screening : screening;
  const call = await admit(arrival, screened, kit).catch((thrown) => {
    // What the check found is said whatever comes of the request.
    throw Failure.from(thrown).with(screened?.headers ?? {});
  });
  const parts = ask(call, kit);
  const originals = call.screened?.originals;
  return { call, parts: meter(originals ? restore(parts, originals) : parts, call, kit) };
}

/** One provider call, and what of it may be seen. */
type Ask = (prompt: Prompt, choice: number) => AsyncGenerator<readonly Part[]>;

function ask(call: Call, kit: Kit): AsyncGenerator<readonly Part[]> {
  const once = screenedCall(call, kit);
  const { prompt, model, shape, size, reservation } = call;
  if (shape.search) {
    return searchLoop(prompt, {
      websearch: kit.websearch,
      ask: (p) => once(p, 0),
      screen: (query) => call.screened?.query(query) ?? Promise.resolve(query),
      chars: size.chars,
      mostOutput: prompt.maxOutput ?? model.maxCompletion,
      affords: (spent, next) => reservation.extend(spent, nextRound(prompt, model, size, next)),
    });
  }
  if (shape.calls === 1) return once(prompt, 0);
  return choices(shape.calls, (choice) => once({ ...prompt, n: 1 }, choice));
}

function screenedCall(call: Call, kit: Kit): Ask {
  const { screened } = call;
  const rules = screened?.answers;
  if (!screened || !rules) return (prompt) => generate(call, prompt, kit);
  const lengths = new Map<string, number>();
  const { ticker } = kit;
  return (prompt, choice) =>
    screenAnswer(generate(call, prompt, kit), {
      rules,
      ticker,
      choice,
      promptChars: call.size.chars,
      lengths,
      found(finding, location) {
        screened.findings++;
        call.headers["x-svc-dlp-findings"] = String(screened.findings);
        if (!screened.report) return;
        screened.report.count++;
        screened.report.findings.push(reported(finding, location));
      },
    });
}

function reported({ category, entityType, start, end, confidence }: Finding, location: string): Loose {
  return { category, entity_type: entityType, message_index: null, location, start, end, confidence };
}
