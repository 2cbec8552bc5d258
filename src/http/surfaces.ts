/**
 * The surfaces of the gateway: which envelope a failure has, which headers carry a key, and how the metrics name it.
 *
 * A path that no endpoint has still belongs to a surface, by its prefix, so that a client gets the envelope that it reads.
 */
import { LAZY_CALLERS, type LazyCallerFormat } from "../formats/callers.ts";

export interface Surface {
  /** Label of metrics. */
  name: string;
  /** Whose failure envelope is used. */
  format: LazyCallerFormat;
  /** 401 has the short body `{error: "unauthorized"}` (chat-completions and messages). */
  shortUnauthorized: boolean;
  /** A key may also come as `x-api-key`. */
  apiKeyHeader: boolean;
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
/** Catalog and a key's own account. */
export const CATALOG: Surface = {
  name: "v1",
  format: chat_completions,
  shortUnauthorized: false,
  apiKeyHeader: false,
};
/** Streams of all formats: each with the credentials of its own. */
export const STREAMS: Surface = { ...CATALOG, apiKeyHeader: true };
/** Administration, console, manual and operation. */
export const OPERATION: Surface = { ...CATALOG, name: "other" };

const BY_PREFIX: readonly (readonly [string, Surface])[] = [
  ["/v1/messages", MESSAGES],
  ["/v1/responses", RESPONSES],
  ["/v1/chat/", CHAT],
  ["/v1/", CATALOG],
];

/** The surface of a path that no endpoint has. */
export function surfaceOfUnknown(path: string): Surface {
  return BY_PREFIX.find(([prefix]) => path.startsWith(prefix))?.[1] ?? OPERATION;
}
