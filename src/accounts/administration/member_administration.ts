/**
 * The administration for members: they can see their own keys, usage and generations, and create, rotate and
 * revoke their own keys. All other methods, including future ones, are refused: the allowed ones are listed
 * here by name.
 */
import { Failure } from "../../exchange/failure.ts";

import type { MemberRules } from "../configured.ts";
import { invalid, type KeyInput } from "./input.ts";
import { NAME_TAKEN } from "./key_administration.ts";
import { formatAmount, parseAmount } from "../budgets/money.ts";
import type { Principal } from "../keys/roles.ts";
import { newId } from "../keys/secrets.ts";

/** Methods that are restricted to the member's own keys by the scope of the administration. */
const OWN: readonly string[] = [
  "listKeys",
  "getKey",
  "keyOf",
  "rotateKey",
  "revokeKey",
  "usage",
  "generations",
  "generation",
  "timeline",
  "watch",
  "concerns",
];

/** Fields of a key that a member may set. The others follow from the team. */
const CHOSEN: readonly string[] = [
  "name",
  "models",
  "spend_limit",
  "rate_limit",
  "session_limit",
  "tag_limits",
  "repair",
  "resume_seconds",
  "expires_at",
];

export interface MemberOptions {
  principal: Principal;
  rules: MemberRules;
  hasTeam(name: string): boolean;
}

/** The part of an administration that is needed here. */
interface Keys<Made> {
  createKey(input: KeyInput): Promise<Made>;
  getKey(idOrName: string): Promise<{ revoked_at: string | null }>;
}

/** @param own an administration whose scope is the member's keys */
export function memberAdministration<Made, A extends Keys<Made>>(own: A, options: MemberOptions): A {
  const methods = Object.entries(own).map(([name, method]) => [name, OWN.includes(name) ? method : refused]);
  return {
    ...Object.fromEntries(methods) as A,
    createKey: (input: KeyInput) => createKey(own, input, options),
  };
}

async function createKey<Made>(
  own: Keys<Made>,
  input: KeyInput,
  { principal, rules, hasTeam }: MemberOptions,
): Promise<Made> {
  const { name: person, team } = principal;
  if (team === null || !hasTeam(team)) {
    throw new Failure(
      "permission_denied",
      "A member without a team cannot make keys: keys follow the team's limits.",
    );
  }
  const other = Object.keys(input).find((field) => !CHOSEN.includes(field));
  if (other !== undefined) {
    throw new Failure("permission_denied", `A member cannot set ${other}: it follows from the team.`, {
      param: other,
    });
  }
  const named = (name: string): KeyInput => ({
    ...input,
    name: typeof input.name === "string" ? `${person}/${name}` : input.name,
    team,
    spend_limit: withinLimit(input.spend_limit, rules.spendLimit),
  });
  try {
    return await own.createKey(named(input.name));
  } catch (error) {
    const taken = error instanceof Failure && error.errors?.[0]?.msg.startsWith(NAME_TAKEN);
    if (!taken || await exists(own, named(input.name).name)) throw error;
    // Another key has this name; that must not be disclosed to the member.
    return await own.createKey(named(`${input.name}-${newId("").slice(0, 4)}`));
  }
}

async function exists(own: Keys<unknown>, name: string): Promise<boolean> {
  return await own.getKey(name).then(({ revoked_at }) => revoked_at === null, () => false);
}

/** The spend limit of a member's key: as requested, within the configured rule. */
function withinLimit(
  asked: KeyInput["spend_limit"],
  most: MemberRules["spendLimit"],
): KeyInput["spend_limit"] {
  if (most === null) return asked;
  const allowed = { amount: formatAmount(most.amount), period: most.period };
  if (asked === undefined || asked === null) return allowed;
  const amount = typeof asked === "object" && typeof asked.amount === "string"
    ? parseAmount(asked.amount)
    : null;
  if (amount !== null && amount <= most.amount && asked.period === most.period) return asked;
  throw invalid(
    "spend_limit",
    `expected at most ${allowed.amount} for each ${allowed.period}, which is what a member's key may spend`,
  );
}

function refused(): Promise<never> {
  return Promise.reject(
    new Failure("permission_denied", "A member can only see and create own keys."),
  );
}
