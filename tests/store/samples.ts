/** Rows for tests of the store. */
import { NO_USAGE } from "../../src/exchange/usage.ts";
import type { Generation, StoredKey } from "../../src/store/mod.ts";

export const NOW = Date.UTC(2026, 0, 15, 12);

export function generation(id: string, more: Partial<Generation> = {}): Generation {
  return {
    id,
    created: NOW,
    keyId: "key_1",
    key: "dev",
    account: "acme",
    format: "messages",
    requestedModel: "a/b",
    model: "a/b",
    provider: "p",
    stream: true,
    status: "completed",
    errorCode: null,
    usage: { ...NO_USAGE, input: 10, cached: 3, output: 7 },
    estimated: false,
    searches: 0,
    cost: 5n,
    ttftMs: 12,
    latencyMs: 34,
    clientGone: false,
    dlp: null,
    tags: null,
    session: null,
    team: null,
    priceVersion: null,
    cacheSaved: null,
    toolCalls: null,
    repaired: null,
    steps: null,
    listCost: null,
    ...more,
  };
}

export const storedKey = (id: string, more: Partial<StoredKey> = {}): StoredKey => ({
  id,
  name: id,
  account: "acme",
  accessPolicy: null,
  dlpPolicy: null,
  models: null,
  spendLimit: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
  team: null,
  sessionLimit: null,
  tagLimits: [],
  repair: false,
  hedge: false,
  resumeMs: null,
  member: null,
  payloads: false,
  created: NOW,
  expiresAt: null,
  revokedAt: null,
  ...more,
});
