/** A gateway whose three providers, one of each format, have the same three models, and keys that may use some of them. */
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { loopbackProvider, type Seen, sseResponse } from "../support/provider.ts";

export const HELLO = [{ role: "user", content: "hi" }];
export const FORMATS = {
  chat: { api: "openai-chat", path: "/v1/chat/completions", body: { max_tokens: 50, messages: HELLO } },
  messages: { api: "anthropic-messages", path: "/v1/messages", body: { max_tokens: 50, messages: HELLO } },
  responses: { api: "openai-responses", path: "/v1/responses", body: { max_output_tokens: 50, input: "hi" } },
} as const;
export type Format = keyof typeof FORMATS;

export const LISTED = "sk_live_listedlistedlistedlistedlisted01";
export const POLICED = "sk_live_policedpolicedpolicedpoliced0001";
export const OF_TEAM = "sk_live_ofteamofteamofteamofteamofteam01";
export const NARROW = "sk_live_narrownarrownarrownarrownarrow01";

const PRICES = { small: "0.000001", large: "0.00001", hidden: "0.0001" };

/** What a provider of the format answers: `model` in its own words. */
export function answerOf(
  format: Format,
  model: string,
  usage: Record<string, unknown>,
  stream: boolean,
): Response {
  if (format === "messages") {
    const message = { id: "m", type: "message", role: "assistant", model, stop_reason: "end_turn" };
    if (!stream) return Response.json({ ...message, content: [{ type: "text", text: "hello" }], usage });
    const event = (type: string, more: Record<string, unknown>) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
    return sseResponse([
      event("message_start", {
        message: { ...message, content: [], usage: { input_tokens: 1, output_tokens: 0 } },
      }),
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "hello" } }),
      event("content_block_stop", { index: 0 }),
      event("message_delta", { delta: { stop_reason: "end_turn" }, usage }),
      event("message_stop", {}),
    ]);
  }
  const { input_tokens, output_tokens } = usage as { input_tokens: number; output_tokens: number };
  if (format === "chat") {
    const counts = { prompt_tokens: input_tokens, completion_tokens: output_tokens };
    const all = { id: "c", model };
    const message = { role: "assistant", content: "hello" };
    if (!stream) {
      return Response.json({
        ...all,
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage: counts,
      });
    }
    const chunk = (more: Record<string, unknown>) => `data: ${JSON.stringify({ ...all, ...more })}\n\n`;
    return sseResponse([
      chunk({ choices: [{ index: 0, delta: message, finish_reason: null }] }),
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
      chunk({ choices: [], usage: counts }),
      "data: [DONE]\n\n",
    ]);
  }
  const content = [{ type: "output_text", text: "hello", annotations: [] }];
  const output = [{ type: "message", id: "msg", role: "assistant", status: "completed", content }];
  const response = { id: "r", object: "response", status: "completed", model, output, usage };
  if (!stream) return Response.json(response);
  return sseResponse([
    `event: response.completed\ndata: ${JSON.stringify({ type: "response.completed", response })}\n\n`,
  ]);
}

export interface Ground {
  gateway: TestGateway;
  asked: Seen[];
  ask(format: Format, more: Record<string, unknown>, key?: string): Promise<Response>;
}

/** Every format's provider has `small`, `large` and `hidden`; the catalog's ids are `FORMAT/…`. */
export async function onGateway(
  answer: (format: Format, seen: Seen) => Response,
  work: (ground: Ground) => Promise<void>,
  config: Record<string, unknown> = {},
): Promise<void> {
  const asked: Seen[] = [];
  const names = Object.keys(FORMATS) as Format[];
  const providers = names.map((format) =>
    loopbackProvider((seen) => {
      asked.push(seen);
      return answer(format, seen);
    })
  );
  const models = names.flatMap((format) =>
    Object.entries(PRICES).map(([name, price]) => ({
      id: `${format}/${name}`,
      routes: [{ provider: format, model: `${name}-1` }],
      context_length: 10_000,
      max_completion_tokens: 1000,
      pricing: { prompt: price, completion: price },
      capabilities: { modality_input: ["text"], modality_output: ["text"], features: ["tools"] },
    }))
  );
  const gateway = await testGateway(
    Object.fromEntries(
      names.map((format, i) => [format, { api: FORMATS[format].api, url: providers[i].url }]),
    ),
    {
      models,
      access_policies: { cheap: { allow: ["*/small", "*/large"], deny: [] } },
      teams: [{ name: "t", models: ["*/small"] }],
      keys: [
        { name: "free", secret: SECRET },
        { name: "listed", secret: LISTED, models: ["*/small", "*/large"] },
        { name: "policed", secret: POLICED, access_policy: "cheap" },
        { name: "of-team", secret: OF_TEAM, team: "t" },
      ],
      ...config,
    },
  );
  try {
    await work({
      gateway,
      asked,
      ask: (format, more, key = SECRET) =>
        gateway.post(FORMATS[format].path, { model: `${format}/small`, ...FORMATS[format].body, ...more }, {
          headers: { authorization: `Bearer ${key}` },
        }),
    });
  } finally {
    await gateway.close();
    await Promise.all(providers.map((provider) => provider.close()));
  }
}
