/** OpenAI's Chat Completions API, and the many servers that speak it. */
import type { ToolForms } from "../../exchange/tools.ts";
import { chatCompletions } from "../../formats/chat_completions/mod.ts";
import { present } from "../../exchange/lazy.ts";
import type { ProviderApi } from "./api.ts";
import { SERVER_SENT_EVENTS } from "./framing.ts";
import { bearer, OPENAI_MODELS } from "./openai.ts";

/** Besides OpenAI's, few servers know custom tools, so they are sent only for callers who wrote them in this format. */
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
};
