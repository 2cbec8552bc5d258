/** One call from admission to bill: the order of the steps, and nothing else. */
import { restore } from "../dlp/restore.ts";
import { Failure } from "../exchange/failure.ts";
import type { Part } from "../exchange/part.ts";
import { admit } from "./admit.ts";
import { choices } from "./choices.ts";
import { generate } from "./generate.ts";
import type { Arrival, Call } from "./call.ts";
import type { Kit } from "./kit.ts";
import { meter } from "./meter.ts";
import { screen } from "./screen.ts";
import { searchLoop, wantsSearch } from "./search_loop.ts";

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

function ask(call: Call, kit: Kit): AsyncGenerator<readonly Part[]> {
  const { prompt, model } = call;
  const n = prompt.n ?? 1;
  if (wantsSearch(prompt) && model.features.has("tools")) {
    return searchLoop(
      prompt,
      kit.websearch,
      (p) => generate(call, p, kit),
      (query) => call.screened?.query(query) ?? Promise.resolve(query),
    );
  }
  // Whichever route answers, it must be able to.
  const several = n === 1 ||
    model.routes.every((route) => kit.providers.get(route.provider)?.api.severalAnswers(prompt.stream));
  if (several) return generate(call, prompt, kit);
  return choices(n, () => generate(call, { ...prompt, n: 1 }, kit));
}
