/**
 * Requests by chance reach every model in a form that it accepts, with all that was said, and with every field that has no
 * place there listed. `SLUICE_SEED` and `SLUICE_RUNS` make other ones, and more.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Failure } from "../../src/exchange/failure.ts";
import { isObject, wellFormed } from "../../src/exchange/json.ts";
import type { EncodeRequest } from "../../src/formats/format.ts";
import { checkModelRequest, TARGETS } from "./check_model_request.ts";
import { CALLERS, convert } from "./conversions.ts";
import { REQUESTS } from "./random_requests.ts";

const SEED = Number(Deno.env.get("SLUICE_SEED") ?? 15);
const RUNS = Number(Deno.env.get("SLUICE_RUNS") ?? 250);

/** Fields that not every API has, and the names that they have elsewhere. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  seed: ["seed"],
  logit_bias: ["logit_bias"],
  metadata: ["metadata", "user", "requestMetadata"],
  user: ["user", "metadata", "requestMetadata"],
  safety_identifier: ["safety_identifier", "user", "metadata"],
  prompt_cache_key: ["prompt_cache_key"],
  vendor_field: [],
  truncation: [],
  max_tool_calls: [],
  context_management: [],
  service_tier: ["service_tier", "serviceTier"],
  verbosity: ["text", "verbosity"],
  frequency_penalty: ["frequency_penalty", "frequencyPenalty"],
  presence_penalty: ["presence_penalty", "presencePenalty"],
  top_k: ["top_k", "topK"],
  stop: ["stop", "stop_sequences", "stopSequences"],
  stop_sequences: ["stop", "stopSequences"],
};

/** What is known of a model: nothing, little, all. */
const CONTEXTS: readonly Partial<EncodeRequest>[] = [
  {},
  { features: new Set(["tools"]) },
  {
    features: new Set(["tools", "reasoning", "structured_outputs", "response_format"]),
    efforts: ["low", "high"],
    maxOutput: 5000,
  },
];

const REFUSED = /^Cannot send (?:(?:messages|input): expected some|.* nothing is fetched)/;

function says(value: unknown): boolean {
  return value !== 0 && !(Array.isArray(value) && value.length === 0) &&
    !(isObject(value) && Object.keys(value).length === 0);
}

for (const caller of CALLERS) {
  Deno.test(`${caller}: requests by chance reach every model in a form that it accepts`, () => {
    const wrong = new Map<string, string>();
    let sent = 0;
    for (const body of fc.sample(REQUESTS[caller], { numRuns: RUNS, seed: SEED })) {
      const written = JSON.stringify(body);
      for (const [target, model] of TARGETS) {
        if (target === caller) continue;
        const note = (what: string) => {
          const key = `${target}: ${what}`;
          if (!wrong.has(key)) wrong.set(key, written);
        };
        try {
          const context = CONTEXTS[sent % CONTEXTS.length];
          const { body: made, dropped } = convert(caller, structuredClone(body), target, model, context);
          sent++;
          checkModelRequest(target, model, made);
          const text = wellFormed(JSON.stringify(made));
          if (/\\ud[89a-f]/.test(text.replaceAll("\\\\", ""))) note("half a character");
          const spoken = JSON.stringify({ ...body, stop: undefined, stop_sequences: undefined });
          for (const [word] of spoken.matchAll(/W\w+Z/g)) if (!text.includes(word)) note("words are lost");
          for (const [field, names] of Object.entries(ELSEWHERE)) {
            const value = field === "seed" && body.seed === 0 ? 1 : body[field];
            if (value === undefined || !says(value) || dropped.includes(field)) continue;
            // The default of both.
            if (
              (target === "converse" || target === "gemini") &&
              (value === "auto" || value === "standard_only")
            ) continue;
            if (!names.some((name) => text.includes(`"${name}":`))) note(`${field} vanished`);
          }
        } catch (thrown) {
          // There are no words in it, or the API fetches nothing.
          if (thrown instanceof Failure && REFUSED.test(thrown.message)) continue;
          note((thrown as Error).message.slice(0, 300));
        }
      }
    }
    assertEquals([...wrong].slice(0, 5), []);
    assert(sent > RUNS * 4, String(sent));
  });
}
