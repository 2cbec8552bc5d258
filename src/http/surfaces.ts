/**
 * The surfaces of the gateway: error envelope, headers that may carry a key, and label in metrics.
 *
 * An unknown path belongs to a surface by its prefix, so that the client gets the error envelope that it
 * expects.
 */
import { LAZY_CALLERS, type LazyCallerFormat } from "../formats/callers.ts";

export interface Surface {
  /** Label in metrics. */
  name: string;
  /** The format of error envelopes. */
  format: LazyCallerFormat;
  /** 401 has the body `{error: "unauthorized"}` (chat-completions and messages). */
  shortUnauthorized: boolean;
  /** Whether the key may also be sent as `x-api-key`; the name of a header: only in requests with that header. */
  apiKeyHeader: boolean | "anthropic-version";
}

const { chat_completions, messages, responses } = LAZY_CALLERS;

export const CHAT = {
  name: "chat_completions",
  format: chat_completions,
  shortUnauthorized: true,
  apiKeyHeader: false,
} as const satisfies Surface;
export const MESSAGES = {
  name: "messages",
  format: messages,
  shortUnauthorized: true,
  apiKeyHeader: true,
} as const satisfies Surface;
export const RESPONSES = {
  name: "responses",
  format: responses,
  shortUnauthorized: false,
  apiKeyHeader: false,
} as const satisfies Surface;
/** Model catalog and a key's own account. Anthropic's clients, which name a version of their API, list models too. */
export const CATALOG: Surface = {
  name: "v1",
  format: chat_completions,
  shortUnauthorized: false,
  apiKeyHeader: "anthropic-version",
};
/** Stored streams of all formats, each with the credential headers of its format. */
export const STREAMS: Surface = { ...CATALOG, apiKeyHeader: true };
/** Administration, console, manual and operations. */
export const OPERATION: Surface = { ...CATALOG, name: "other", apiKeyHeader: false };

const BY_PREFIX: readonly (readonly [string, Surface])[] = [
  ["/v1/messages", MESSAGES],
  ["/v1/responses", RESPONSES],
  ["/v1/chat/", CHAT],
  ["/v1/", CATALOG],
];

/** The surface of an unknown path. */
export function surfaceOfUnknown(path: string): Surface {
  return BY_PREFIX.find(([prefix]) => path.startsWith(prefix))?.[1] ?? OPERATION;
}
