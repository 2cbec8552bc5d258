/** The responses format (OpenAI Responses), for callers and for providers. */
import type { CallerFormat, ProviderFormat } from "../format.ts";
import { responsesCaller } from "./caller.ts";
import { responsesProvider } from "./provider.ts";

export const responses: CallerFormat & ProviderFormat = { ...responsesProvider, ...responsesCaller };
