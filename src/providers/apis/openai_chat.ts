/** OpenAI's Chat Completions API and compatible servers. */
import type { Loose } from "../../exchange/json.ts";
import type { ToolForms } from "../../exchange/tools.ts";
import { chatCompletions } from "../../formats/chat_completions/mod.ts";
import { present } from "../../exchange/lazy.ts";
import type { ProviderApi } from "./api.ts";
import { SERVER_SENT_EVENTS } from "./framing.ts";
import { orderMessages } from "./message_order.ts";
import { withReasoning } from "./message_reasoning.ts";
import { withTools } from "./older_functions.ts";
import { bearer, OPENAI_MODELS } from "./openai.ts";

/**
 * Custom tools are supported by few servers besides OpenAI, so they are only sent for callers of the same
 * format.
 */
const OWN: ToolForms = { custom: true, namespaces: false, builtIn: true };
const FOREIGN: ToolForms = { custom: false, namespaces: false };

export const openaiChatApi: ProviderApi = {
  name: "openai-chat",
  formatName: "chat_completions",
  format: present(chatCompletions),
  framing: SERVER_SENT_EVENTS,
  headers: {},
  needsBaseUrl: true,
  modelsList: OPENAI_MODELS,
  keyHeaders: bearer,
  address: (baseUrl) => `${baseUrl}/chat/completions`,
  toolForms: (from) => from === "chat_completions" ? OWN : FOREIGN,
  severalAnswers: () => true,
  finish(request, model) {
    const { body } = request;
    withTools(body);
    body.messages = withReasoning(body, orderMessages(body.messages as Loose[], model, {}), model);
    return request;
  },
};
