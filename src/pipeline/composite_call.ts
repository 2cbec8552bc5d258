/** Calls that need more than one plain provider call: search rounds, several answers, screening, repair of tool calls, compactions. */
import type { Part } from "../exchange/part.ts";
import type { WebSearch } from "../websearch/mod.ts";
import type { Call, Screened, Together } from "./call.ts";
import { choices } from "./choices.ts";
import { changesModel } from "./generation/ask.ts";
import { generate, generateOnce } from "./generation/generate.ts";
import { askedLength, mostOutput } from "./estimate.ts";
import type { Kit } from "./kit.ts";
import {
  addFindings,
  type Ask,
  finallyDo,
  type ScreenedCall,
  screenedCall,
} from "./screening/screened_call.ts";
import { type SearchLoop, searchLoop } from "./search/loop.ts";
import { highestPrices, withLargestLimits } from "./admission/other_models.ts";
import { repairs } from "./shape.ts";
import type { Steps } from "./steps.ts";
import { billedFees, ownSearches } from "./charges.ts";
import { nextRound } from "./admission/upper_bound.ts";

/** The parts of such a call's answer. */
export async function runCompositeCall(call: Call, kit: Kit): Promise<AsyncGenerator<readonly Part[]>> {
  // Few calls need them.
  if (call.arrival.compacts) return screenedBy(call, kit, (await import("./compact.ts")).compact);
  if (!repairs(call.arrival)) return ask(call, kit);
  const { repairCalls } = await import("./repair/repair_calls.ts");
  return repairCalls(ask(call, kit), call.prompt.tools, () => {
    call.repaired++;
    call.headers["x-svc-repaired"] = String(call.repaired);
  });
}

function ask(call: Call, kit: Kit): AsyncGenerator<readonly Part[]> {
  const { screened, shape } = call;
  const once: Ask = shape.search || shape.calls > 1
    ? (prompt) => generate(call, prompt, kit)
    : () => generateOnce(call, kit);
  if (!screened?.answers) return askWith(once, call, kit);
  const calls = screenedCall(call, kit, { screened, answers: screened.answers, ask: once });
  return finallyDo(askWith(calls.ask, call, kit, calls.hits), calls.report);
}

/** One provider call, with screening of its answer if required. */
function screenedBy(
  call: Call,
  kit: Kit,
  once: (call: Call, kit: Kit) => AsyncGenerator<readonly Part[]>,
): AsyncGenerator<readonly Part[]> {
  const { screened } = call;
  if (!screened?.answers) return once(call, kit);
  const calls = screenedCall(call, kit, { screened, answers: screened.answers, ask: () => once(call, kit) });
  return finallyDo(calls.ask(call.prompt, 0), calls.report);
}

function askWith(
  once: Ask,
  call: Call,
  kit: Kit,
  shown?: ScreenedCall["hits"],
): AsyncGenerator<readonly Part[]> {
  const { arrival, prompt, shape, size, reservation, others } = call;
  if (shape.search) {
    return searchLoop(prompt, {
      websearch: arrival.steps.followed === null
        ? kit.websearch
        : followedSearch(kit.websearch, arrival.steps),
      ask: (p) => once(p, 0),
      screen: (query) => call.screened?.search.query(query) ?? Promise.resolve(query),
      ...(call.screened && { readable: readableHits(call, call.screened) }),
      shown,
      searched: (ms, outcome, hits) =>
        call.arrival.steps.add("search", kit.websearch.engine, ms, outcome, { hits }),
      chars: askedLength(size),
      // Read after the first round: another model of `svc/auto` may have answered.
      get mostOutput() {
        return prompt.maxOutput ?? withLargestLimits(call.model, others).maxCompletion;
      },
      get contextLength() {
        return call.model.contextLength;
      },
      cut: () => call.cut,
      affords(spent, next) {
        const model = withLargestLimits(call.model, others);
        const searches = next.searches - ownSearches(call);
        const estimate = nextRound({ prompt, model, size, others }, {
          ...next,
          searches,
          fees: billedFees(call),
          requests: call.uses.length + call.lost.length + 1,
        });
        // With what was found the prompt may have grown into a dearer tier.
        return reservation.extend(spent, estimate, highestPrices(call, estimate, kit));
      },
    });
  }
  return shape.calls === 1 ? once(prompt, 0) : askTogether(once, call, kit);
}

/** Several answers by parallel calls. If none of them has begun to answer, another model of `svc/auto` is called. */
async function* askTogether(once: Ask, call: Call, kit: Kit): AsyncGenerator<readonly Part[]> {
  const { prompt, shape, size, uses } = call;
  for (;;) {
    const together: Together = { placed: Promise.withResolvers(), over: false };
    call.together = together;
    call.asked = 0;
    let ended = Promise.resolve();
    const answers = choices(shape.calls, {
      ask: (choice) => once({ ...prompt, n: 1 }, choice),
      chars: askedLength(size),
      mostOutput: mostOutput(call),
      over(rest) {
        ended = rest;
        together.over = true;
        together.placed.resolve();
      },
    });
    try {
      return yield* answers;
    } catch (thrown) {
      if (call.auto === null) throw thrown;
      // One of them may begin to answer yet. The provider bills that answer, and its model is named.
      if (uses.length === 0) await ended;
      if (uses.length > 0 || !await changesModel(call, prompt, thrown, kit)) throw thrown;
    }
  }
}

/** Screens search results for the model, and counts the findings as those of the request are. */
function readableHits(call: Call, screened: Screened): SearchLoop["readable"] {
  return async (hits) => {
    const { read, findings } = await screened.search.hits(hits);
    if (findings.length > 0) addFindings(call, screened, findings);
    return read;
  };
}

/** A search is a step of the call, and so is what it asks the engine. */
function followedSearch({ engine, search }: WebSearch, steps: Steps): WebSearch {
  return {
    engine,
    async search(query, options) {
      const followed = steps.follow("search", engine);
      if (followed === null) return await search(query, options);
      const found = await followed.within(() => search(query, options));
      followed.end(found.failed ? found.why ?? "failed" : "ok", { hits: found.hits.length });
      return found;
    },
  };
}
