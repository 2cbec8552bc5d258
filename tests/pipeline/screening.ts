/** A gateway with a provider that repeats what it is told, and what callers of each format see of findings. */
import { type LoopbackProvider, loopbackProvider, sseResponse } from "../support/provider.ts";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";

export const CARD = "4111 1111 1111 1111";
export const MAIL = "jane@corp.example";
export const PATHS = {
  chat_completions: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
} as const;
export type Format = keyof typeof PATHS;
export const FORMATS = Object.keys(PATHS) as Format[];

// deno-lint-ignore no-explicit-any
export type Loose = any;

/** Says, in pieces of three characters, what `say` makes of the request. */
function echo(say: (body: Loose) => string): LoopbackProvider {
  return loopbackProvider(({ body }) => {
    const text = say(body);
    const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
    if (body.stream !== true) {
      const message = { role: "assistant", content: text };
      return Response.json({ id: "c", choices: [{ index: 0, message, finish_reason: "stop" }], usage });
    }
    const chunk = (fields: unknown) => `data: ${JSON.stringify(fields)}\n\n`;
    const pieces = text.match(/[^]{1,3}/g) ?? [];
    return sseResponse([
      ...pieces.map((content) =>
        chunk({ id: "c", choices: [{ index: 0, delta: { content }, finish_reason: null }] })
      ),
      chunk({ id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
      chunk({ id: "c", choices: [], usage }),
      "data: [DONE]\n\n",
    ]);
  });
}

export const lastText = (body: Loose): string => {
  const { content } = body.messages.at(-1);
  // deno-lint-ignore no-explicit-any
  return typeof content === "string" ? content : content.map((part: any) => part.text).join("");
};

export async function withGateway(
  config: Record<string, unknown>,
  use: (gateway: TestGateway, provider: LoopbackProvider) => Promise<void>,
  say = lastText,
): Promise<void> {
  const provider = echo(say);
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } }, config);
  try {
    await use(gateway, provider);
  } finally {
    await gateway.close();
    await provider.close();
  }
}

export function request(
  format: Format,
  text: string,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  const common = { model: "p/model", ...more };
  if (format === "responses") return { ...common, input: text };
  return { ...common, max_tokens: 50, messages: [{ role: "user", content: text }] };
}

export function blockOf(format: Format, error: Loose): Loose {
  return format === "chat_completions" ? error.error.extra : error.error.details;
}

export function keyed(mode: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    keys: [{ name: "test", secret: SECRET, dlp_policy: "p" }],
    dlp_policies: { p: { mode, entity_types: ["EMAIL_ADDRESS"], ...more } },
  };
}
