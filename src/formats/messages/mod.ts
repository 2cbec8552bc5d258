/** The messages format (Anthropic Messages), for callers and for providers (`anthropic-messages` in the configuration). */
import type { CallerFormat, ProviderFormat } from "../format.ts";
import { messagesCaller } from "./caller.ts";
import { messagesProvider } from "./provider.ts";

export const messages: CallerFormat & ProviderFormat = { ...messagesProvider, ...messagesCaller };
