/** The built-in demo provider, which uses chat-completions. */
import type { ProviderApi } from "./api.ts";
import { openaiChatApi } from "./openai_chat.ts";

export const demoApi: ProviderApi = {
  ...openaiChatApi,
  name: "demo",
  needsBaseUrl: false,
  modelsList: null,
  reply: async (body, stream) => (await import("../demo_model.ts")).demoReply(body, stream),
};
