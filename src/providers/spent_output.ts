/**
 * The refusal of OpenAI's reasoning models, also on Azure, to chat-completions whose output limit leaves no
 * room for any visible token. It is no mistake of the request: other models answer with nothing, cut by the
 * limit. Clients that test a model with a limit of one token take a refusal for a model that does not exist.
 */
import type { Reply } from "../outgoing/reply.ts";
import type { Upstream } from "./provider.ts";

const SPENT = /could not finish the message because max_tokens or model output limit was reached/i;

/** Whether a refusal says that the output limit is used up. */
export function isSpent({ api }: Upstream, status: number, text: string): boolean {
  return status === 400 && api.formatName === "chat_completions" && SPENT.test(text);
}

/** An answer without content that the output limit cut, and its only bytes. */
export function cutAnswer(model: string): { reply: Reply; first: Uint8Array } {
  const first = new TextEncoder().encode(JSON.stringify({
    object: "chat.completion",
    model,
    choices: [{ index: 0, message: { role: "assistant", content: "" }, finish_reason: "length" }],
  }));
  const reply: Reply = {
    status: 200,
    ended: true,
    header: (name) => name === "content-type" ? "application/json" : null,
    read: () => null,
    close: () => {},
  };
  return { reply, first };
}
