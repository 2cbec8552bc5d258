/** The provider inside of this process, which speaks chat-completions. */
import type { ProviderApi } from "./api.ts";
import { demoReply } from "../demo_model.ts";
import { openaiChat } from "./openai_chat.ts";

export const demo: ProviderApi = {
  ...openaiChat,
  name: "demo",
  needsBaseUrl: false,
  modelsList: null,
  reply: demoReply,
};
