/** Determines which calls are written to the payload log: those of keys, or of policies, with `payloads: true`. */
import type { Key } from "../accounts/mod.ts";
import type { PolicyRules } from "../dlp/config.ts";
import type { Part } from "../exchange/part.ts";
import type { OpenPayloads, PayloadLog } from "../payloads/mod.ts";
import type { Call } from "./call.ts";
import { type Keeper, keepPayload } from "./keep_payload.ts";

type Parts = AsyncGenerator<readonly Part[]>;

export interface Payloads {
  log: OpenPayloads;
  keeps(key: Key): boolean;
  keep(parts: Parts, of: { call: Call; body: unknown; kit: Keeper }): Parts;
}

/**
 * Creates the payload log with the rule which keys' calls are stored.
 * @param to takes the payloads, also those of calls that end after the log was replaced
 */
export function keepingPayloads(
  log: OpenPayloads,
  to: PayloadLog,
  policies: Readonly<Record<string, PolicyRules>>,
): Payloads {
  const wanted = new Set(Object.keys(policies).filter((name) => policies[name].payloads));
  const wants = ({ accessPolicy, dlpPolicy }: Pick<Key, "accessPolicy" | "dlpPolicy">) =>
    dlpPolicy !== null && wanted.has(dlpPolicy) ||
    accessPolicy !== null && accessPolicy !== "missing" && accessPolicy.payloads === true;
  return {
    log,
    keeps: (key) => key.payloads || wants(key) || key.team !== null && wants(key.team),
    keep: (parts, of) => keepPayload(parts, { ...of, log: to }),
  };
}
