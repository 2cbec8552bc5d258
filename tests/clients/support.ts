/**
 * What the tests of clients share: the gateway in front of a provider that plays a script, and a dialogue in which the
 * model reasons, calls a tool, and answers. Whatever way a client takes through it, the provider must get its proofs
 * back as it gave them.
 */
import { assertEquals } from "@std/assert";
import { SECRET, testGateway } from "../support/gateway.ts";
import type { Seen } from "../support/provider.ts";
import { type Line, type ScriptedApi, scriptedProvider, SCRIPTS } from "../support/script/mod.ts";

export { SECRET };

/** Every API that gives a proof of its reasoning. */
export const APIS: readonly ScriptedApi[] = [
  "openai-chat",
  "openai-responses",
  "anthropic-messages",
  "gemini",
  "bedrock-converse",
];

/** Names that tell each encoder a model which reasons. */
const MODELS: Readonly<Record<ScriptedApi, string>> = {
  "openai-chat": "vendor/model-1",
  "openai-responses": "gpt-5",
  "anthropic-messages": "claude-sonnet-4-5",
  gemini: "gemini-3.5-flash",
  "bedrock-converse": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
};

export interface Stage extends AsyncDisposable {
  api: ScriptedApi;
  /** The gateway, `http://127.0.0.1:PORT`. */
  url: string;
  /** Its only model's catalog id. */
  model: string;
  /** What the provider got. */
  seen: Seen[];
}

export async function stage(
  api: ScriptedApi,
  lines: readonly Line[],
  config: Record<string, unknown> = {},
): Promise<Stage> {
  const provider = scriptedProvider(api, lines);
  const gateway = await testGateway({
    p: {
      api,
      url: provider.url,
      model: {
        routes: [{ provider: "p", model: MODELS[api] }],
        pricing: { prompt: "0.00001", completion: "0.00001" },
      },
    },
  }, config);
  return {
    api,
    url: gateway.url,
    model: "p/model",
    seen: provider.seen,
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await provider.close();
    },
  };
}

export const QUESTION = "What should I pack for Oslo?";
export const THANKS = "Thanks. And in winter?";
export const CITY = "Oslo";
export const WEATHER = "rain, 8 °C";
export const ANSWER = "Take an umbrella.";
export const LAST = "A warm coat.";
export const PROOFS = ["EqQBCkYIBxgCKkDcW1+/first==", "EvEFCu4FARFNMg+/second=="];
export const REASONINGS = ["I need the weather in Oslo.", "Rain means an umbrella."];

export const WEATHER_TOOL = {
  name: "weather",
  description: "Weather of a city",
  schema: {
    type: "object" as const,
    properties: { city: { type: "string" as const } },
    required: ["city"],
    additionalProperties: false as const,
  },
};

/** Reasons and calls; reasons and answers; answers. */
export const DIALOGUE: readonly Line[] = [
  {
    reasoning: { text: REASONINGS[0], proof: PROOFS[0] },
    calls: [{ id: "call_Kx1aB2cD3eF4", name: WEATHER_TOOL.name, input: { city: CITY } }],
  },
  { reasoning: { text: REASONINGS[1], proof: PROOFS[1] }, text: ANSWER },
  { text: LAST },
];

/** The nth request carries these proofs and this result, as the provider gave them. */
export function assertCarried(at: Stage, nth: number, proofs: readonly string[]): void {
  const { body } = at.seen[nth];
  const script = SCRIPTS[at.api];
  assertEquals(script.proofs(body), proofs, `proofs in request ${nth} to ${at.api}`);
  assertEquals(script.results(body), [WEATHER], `tool results in request ${nth} to ${at.api}`);
}

/**
 * The nth request is one that the provider takes although the client dropped the proofs, as those do that send only the
 * fields their format documents.
 */
export function assertGoesOnWithout(at: Stage, nth: number): void {
  const { body } = at.seen[nth];
  // Gemini 3 demands a signature, and documents this value for calls that have none.
  assertCarried(at, nth, at.api === "gemini" ? ["skip_thought_signature_validator"] : []);
  // Claude refuses to think on after a call whose thinking is missing.
  if (at.api === "anthropic-messages") assertEquals(body.thinking, undefined);
}

/** A refusal of the provider, in a shape that all its APIs share. */
export function refusal(status: number, message: string, headers: Record<string, string> = {}): Line {
  return () => Response.json({ error: { message, type: "error", code: null } }, { status, headers });
}
