/** One call from admission to bill: the order of the steps, and nothing else. */
import { restore } from "../dlp/restore.ts";
import { Failure } from "../exchange/failure.ts";
import type { Part } from "../exchange/part.ts";
import { admit } from "./admit.ts";
import { choices } from "./choices.ts";
import { generate, generateWhole, hedges } from "./generate.ts";
import type { Arrival, Call } from "./call.ts";
import { screen } from "./guard.ts";
import type { Kit } from "./kit.ts";
import { meter, meterWhole } from "./meter.ts";
import { type Ask, finallyDo, type ScreenedCall, screenedCall } from "./screened_call.ts";
import { searchLoop } from "./search_loop.ts";
import type { WebSearch } from "../websearch/mod.ts";
import type { Steps } from "./steps.ts";
import { nextRound } from "./upper_bound.ts";
import { WholeParts } from "./whole_parts.ts";

export interface Run {
  call: Call;
  parts: AsyncGenerator<readonly Part[]>;
}

/** Guards first: whatever they throw still has a status of its own. The parts begin when they are read. */
export async function run(arrival: Arrival, kit: Kit): Promise<Run> {
  if (arrival.format.unsealBody !== undefined) {
    arrival.body = arrival.format.unsealBody(arrival.body, kit.sealer.of(arrival.key.account).unseal);
  }
  const screening = screen(arrival, kit);
  const screened = screening instanceof Promise ? await screening : screening;
  const followed = arrival.steps.follow("admission", "request");
  let call: Call;
  try {
    call = await admit(arrival, screened, kit);
  } catch (thrown) {
    // What the check found is said whatever comes of the request.
    const failure = Failure.from(thrown).with(screened?.headers ?? {});
    followed?.end(failure.code);
    throw failure;
  }
  followed?.end("ok");
  // Of several calls of providers the record tells too little.
  if (arrival.compacts || call.shape.search || call.shape.calls > 1 || hedges(call)) arrival.steps.collect();
  if (isPlain(call, kit)) return { call, parts: plain(call, kit) };
  const asked = arrival.compacts
    ? screenedBy(call, kit, (await import("./compact.ts")).compact)
    : repairs(arrival)
    ? await mending(call, kit)
    : ask(call, kit);
  const { payloads } = kit;
  const parts = payloads?.keeps(arrival.key)
    ? payloads.keep(asked, { call, body: arrival.body, kit })
    : asked;
  const originals = call.screened?.originals;
  return { call, parts: meter(originals ? restore(parts, originals) : parts, call, kit) };
}

/** One call of a provider, whose answer is wanted whole and is given as it comes. */
function isPlain({ arrival, prompt, shape, screened }: Call, { payloads }: Kit): boolean {
  return !prompt.stream && !shape.search && shape.calls === 1 && screened === null &&
    arrival.compacts !== true && !repairs(arrival) && !payloads?.keeps(arrival.key);
}

function plain(call: Call, kit: Kit): AsyncGenerator<readonly Part[]> {
  return new WholeParts(
    (took) => meterWhole((told) => generateWhole(call, kit, told), took, { call, kit }),
    () => meter(generate(call, call.prompt, kit), call, kit),
  );
}

/** Whether the key or the request wants arguments of tool calls mended. */
function repairs({ key, header }: Arrival): boolean {
  return key.repair || header("x-svc-repair") === "true";
}

async function mending(call: Call, kit: Kit): Promise<AsyncGenerator<readonly Part[]>> {
  // Few calls need it.
  const { repairCalls } = await import("./repair/repair_calls.ts");
  return repairCalls(ask(call, kit), call.prompt.tools, () => {
    call.repaired++;
    call.headers["x-svc-repaired"] = String(call.repaired);
  });
}

function ask(call: Call, kit: Kit): AsyncGenerator<readonly Part[]> {
  const once: Ask = (prompt) => generate(call, prompt, kit);
  const { screened } = call;
  if (!screened?.answers) return askWith(once, call, kit);
  const calls = screenedCall(call, kit, { screened, answers: screened.answers, ask: once });
  return finallyDo(askWith(calls.ask, call, kit, calls.hits), calls.tell);
}

/** One call of a provider, its answer screened where that is wanted. */
function screenedBy(
  call: Call,
  kit: Kit,
  once: (call: Call, kit: Kit) => AsyncGenerator<readonly Part[]>,
): AsyncGenerator<readonly Part[]> {
  const { screened } = call;
  if (!screened?.answers) return once(call, kit);
  const calls = screenedCall(call, kit, { screened, answers: screened.answers, ask: () => once(call, kit) });
  return finallyDo(calls.ask(call.prompt, 0), calls.tell);
}

function askWith(
  once: Ask,
  call: Call,
  kit: Kit,
  shown?: ScreenedCall["hits"],
): AsyncGenerator<readonly Part[]> {
  const { arrival, prompt, model, shape, size, reservation } = call;
  if (shape.search) {
    return searchLoop(prompt, {
      websearch: arrival.steps.followed === null
        ? kit.websearch
        : followedSearch(kit.websearch, arrival.steps),
      ask: (p) => once(p, 0),
      screen: (query) => call.screened?.query(query) ?? Promise.resolve(query),
      shown,
      searched: (ms, outcome, hits) =>
        call.arrival.steps.add("search", kit.websearch.engine, ms, outcome, { hits }),
      chars: size.chars,
      mostOutput: prompt.maxOutput ?? model.maxCompletion,
      affords: (spent, next) => reservation.extend(spent, nextRound(prompt, model, size, next)),
    });
  }
  if (shape.calls === 1) return once(prompt, 0);
  return choices(shape.calls, (choice) => once({ ...prompt, n: 1 }, choice));
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
