/**
 * Schemas of keys, accounts and access policies, shared by the configuration and the administration API,
 * which the commands use too. Each field of a key is defined once.
 */
import {
  between,
  catalogPattern,
  choice,
  fields,
  flag,
  label,
  listOf,
  matching,
  moment,
  MOMENT_WORDS,
  named,
  nonBlank,
  postAddress,
  says,
  stringField,
  title,
  titleInUse,
  type Value,
  whole,
} from "../schema/fields.ts";
import { TAG_NAME, TAG_NAME_WORDS } from "../exchange/labels.ts";
import { WARNINGS } from "../store/mod.ts";
import { parseAmount } from "./budgets/money.ts";
import type { AccessPolicy } from "./types.ts";
import type { Period } from "./budgets/period.ts";

const AMOUNT = 'a decimal string like "25.00" from 0 to 9000000, with at most 12 digits after the point';

/** An amount of money, converted to picodollars. Not a JSON number, since these are binary fractions. */
function amount() {
  return stringField(AMOUNT).refine(
    (text) => !text.startsWith("-") && parseAmount(text) !== null,
    says(AMOUNT),
  )
    .transform((text) => parseAmount(text) ?? 0n);
}

/** An amount added to an account, or subtracted from it. */
const ADDITION =
  'a decimal string like "25.00" from -9000000 to 9000000, not zero, with at most 12 digits after the point';

export const CREDIT_ADDITION = fields({
  amount: stringField(ADDITION).refine((text) => (parseAmount(text) ?? 0n) !== 0n, says(ADDITION))
    .transform((text) => parseAmount(text) ?? 0n).describe(
      "Amount to add, as a decimal string. A negative amount is subtracted.",
    ),
  note: matching(/^[^\p{Cc}\p{Cs}]{0,500}$/u, "at most 500 printable characters").nullable().prefault(null)
    .describe("Reason for the change."),
});

export const ACCOUNT_NAME = title();
export const ACCOUNT_IN_USE = titleInUse();

const PERIODS = ["day", "week", "month", "total"] as const satisfies readonly Period[];
const MOST_PATTERNS = 1000;

export const SPEND_LIMIT = fields({
  amount: amount().describe("Maximum spend in one period, as a decimal string."),
  period: choice(...PERIODS).describe(
    "Period after which the spend is counted from zero again, in the UTC calendar. Weeks begin on Monday. `total` never ends.",
  ),
});

const SESSION_LIMIT_WORDS = "an object with `amount`, `requests_per_minute`, or both";

const SESSION = {
  amount: amount().nullable().describe(
    "Maximum spend of one session of the key, as a decimal string. Null: no limit.",
  ),
  requests_per_minute: whole(1, 1e12).nullable()
    .describe("Maximum number of requests of one session per minute. Null: no limit."),
};

const SESSION_LIMIT = fields({
  amount: SESSION.amount.prefault(null),
  requests_per_minute: SESSION.requests_per_minute.prefault(null),
}).refine(
  ({ amount, requestsPerMinute }) => amount !== null || requestsPerMinute !== null,
  says(SESSION_LIMIT_WORDS),
);

/** In a change: a limit that is not named is left unchanged. */
const SESSION_LIMIT_CHANGE = fields({
  amount: SESSION.amount.optional(),
  requests_per_minute: SESSION.requests_per_minute.optional(),
}).refine(
  ({ amount, requestsPerMinute }) => amount !== undefined || requestsPerMinute !== undefined,
  says(SESSION_LIMIT_WORDS),
);

const MOST_TAG_LIMITS = 8;

/** Stored streams contain conversation text, so the time is limited. */
const MOST_RESUME_SECONDS = 600;

const TAG_LIMIT = fields({
  tag: matching(TAG_NAME, TAG_NAME_WORDS).describe(
    "Name of the tag. Each value of the tag has its own budget.",
  ),
  amount: amount().describe(
    "Maximum spend of the key's calls with one value of the tag in one period, as a decimal string.",
  ),
  period: choice(...PERIODS).describe(
    "Period after which the spend is counted from zero again, in the UTC calendar. Weeks begin on Monday. `total` never ends.",
  ),
});

const rate = () => whole(1, 1e12).nullable();

const RATE_LIMIT_WORDS = "an object with `requests_per_minute`, `tokens_per_minute`, or both";

/**
 * An object without any rate would be no limit, which is not what its author means; null for a rate states it
 * explicitly.
 */
const RATE_LIMIT = fields({
  requests_per_minute: rate().optional().describe(
    "Maximum number of requests per minute. Null or not set: no limit.",
  ),
  tokens_per_minute: rate().optional().describe(
    "Maximum number of input and output tokens per minute. Null or not set: no limit.",
  ),
}).refine(
  (limit) => limit.requestsPerMinute !== undefined || limit.tokensPerMinute !== undefined,
  says(RATE_LIMIT_WORDS),
);

/** Every field of a key except its secret, without defaults: in a change, an omitted field is left unchanged. */
const KEY = {
  name: title().describe("Name of the key in records, usage and commands. It must be unique."),
  account: ACCOUNT_IN_USE.nullable().describe(
    "Account that pays for the key's calls. Null: the account of the team, else `default`.",
  ),
  access_policy: titleInUse().nullable()
    .describe("Access policy of the key. Null: none. If the policy does not exist, every call is refused."),
  dlp_policy: titleInUse().nullable()
    .describe("DLP policy of the key. Null: none. If the policy does not exist, every call is refused."),
  models: listOf(catalogPattern(), "catalog patterns").max(
    MOST_PATTERNS,
    says(`a list of at most ${MOST_PATTERNS} catalog patterns`),
  ).nullable()
    .describe("Models that are visible to the key, as patterns such as `mistral/*`. Null: all models."),
  spend_limit: SPEND_LIMIT.nullable().describe("Maximum spend of the key. Null: no limit."),
  rate_limit: RATE_LIMIT.nullable().describe("Maximum usage of the key per minute. Null: no limit."),
  team: titleInUse().nullable().describe(
    "Team of the key. The limits of both the team and the key apply. Null: none.",
  ),
  session_limit: SESSION_LIMIT.nullable().describe("Limits of each session of the key. Null: no limit."),
  tag_limits: listOf(TAG_LIMIT, "limits of tags").max(
    MOST_TAG_LIMITS,
    says(`a list of at most ${MOST_TAG_LIMITS} limits of tags`),
  ).refine(
    (limits) => new Set(limits.map(({ tag, period }) => `${tag} ${period}`)).size === limits.length,
    says("a list with one limit for each tag and period"),
  ).describe("Maximum spend of the key's calls for each value of a tag."),
  repair: flag().describe(
    "Whether the arguments of tool calls are repaired if they are not valid JSON, or if their values have other types than declared.",
  ),
  hedge: flag().describe(
    "Whether a request is also sent to the next route if the first route takes longer than 95 % of its calls. Both are reserved from the budget. The slower one is cancelled and billed for its output so far.",
  ),
  resume_seconds: between(0, MOST_RESUME_SECONDS, " of seconds").transform((value) =>
    Math.round(value * 1000)
  ).nullable().describe(
    "Time in seconds for which the key's streams are stored, encrypted, after their end, so that clients can resume them. 0: never. Null: only if the request asks for it, for 300 seconds.",
  ),
  payloads: flag().describe(
    "Whether requests of the key, and their answers, are written to the payload log.",
  ),
  expires_at: moment().nullable()
    .describe(`Time at which the key expires: ${MOMENT_WORDS}. Null: never.`),
};

const NEW_KEY = {
  ...KEY,
  account: KEY.account.prefault(null),
  access_policy: KEY.access_policy.prefault(null),
  dlp_policy: KEY.dlp_policy.prefault(null),
  models: KEY.models.prefault(null),
  spend_limit: KEY.spend_limit.prefault(null),
  rate_limit: KEY.rate_limit.prefault(null),
  expires_at: KEY.expires_at.prefault(null),
  team: KEY.team.prefault(null),
  session_limit: KEY.session_limit.prefault(null),
  tag_limits: KEY.tag_limits.prefault([]),
  repair: KEY.repair.prefault(false),
  hedge: KEY.hedge.prefault(false),
  resume_seconds: KEY.resume_seconds.prefault(null),
  payloads: KEY.payloads.prefault(false),
};

type Rates = { requestsPerMinute: number | null; tokensPerMinute: number | null };

/** A key has its rates without an enclosing object. */
function ratesOf(limit: Partial<Rates> | null): Rates {
  return {
    requestsPerMinute: limit?.requestsPerMinute ?? null,
    tokensPerMinute: limit?.tokensPerMinute ?? null,
  };
}

/** `sk_live_…` is a placeholder in manuals. It is not a valid header value, so such a key can never be used. */
export const LEFT_OUT = "sk_live_…";

const SECRET = new RegExp(`^(?:sk_live_[!-~]{1,504}|${LEFT_OUT})$`);

/** A key in the configuration. */
export const CONFIG_KEY = fields({
  ...NEW_KEY,
  secret: matching(SECRET, '"sk_live_" and up to 504 characters of printable ASCII without spaces')
    .describe("Secret that callers send. It begins with `sk_live_`."),
}).transform(({ rateLimit, ...rest }) => ({ ...rest, ...ratesOf(rateLimit) }));

/** A key created by the administration API or a command. */
export const CREATED_KEY = fields(NEW_KEY).transform(({ rateLimit, ...rest }) => ({
  ...rest,
  ...ratesOf(rateLimit),
}));

/** An administration token. Members have no tokens; their rights are those of their keys. */
export const CREATED_TOKEN = fields({
  name: title().describe("Name of the token in the audit log."),
  role: choice("owner", "operator", "auditor").describe("Role of the token."),
  expires_at: moment().nullable().prefault(null).describe(
    `Time at which the token expires: ${MOMENT_WORDS}. Null: never.`,
  ),
});

/** The rates that a change names; null removes both. */
function changedRates(limit: Partial<Rates> | null): Partial<Rates> {
  if (limit === null) return ratesOf(null);
  const { requestsPerMinute, tokensPerMinute } = limit;
  return {
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute }),
  };
}

/** A change of a key: only the named fields. */
export const KEY_CHANGE = fields({
  name: KEY.name.optional(),
  account: KEY.account.optional(),
  access_policy: KEY.access_policy.optional(),
  dlp_policy: KEY.dlp_policy.optional(),
  models: KEY.models.optional(),
  spend_limit: KEY.spend_limit.optional(),
  rate_limit: KEY.rate_limit.optional(),
  expires_at: KEY.expires_at.optional(),
  team: KEY.team.optional(),
  session_limit: SESSION_LIMIT_CHANGE.nullable().describe(
    "Limits of each session of the key. Null: no limit.",
  ).optional(),
  tag_limits: KEY.tag_limits.optional(),
  repair: KEY.repair.optional(),
  hedge: KEY.hedge.optional(),
  resume_seconds: KEY.resume_seconds.optional(),
  payloads: KEY.payloads.optional(),
}).transform(({ rateLimit, ...rest }) =>
  rateLimit === undefined ? rest : { ...rest, ...changedRates(rateLimit) }
);

export const KEYS = listOf(CONFIG_KEY, "keys");

const TEAM = {
  account: ACCOUNT_IN_USE.nullable().describe(
    "Account that pays for the calls of the team's keys. Null: the account of each key.",
  ),
  spend_limit: SPEND_LIMIT.nullable().describe(
    "Maximum spend of all keys of the team together. Null: no limit.",
  ),
  models: KEY.models.describe(
    "Models that are visible to the team's keys, as patterns. Null: all models that are visible to the key.",
  ),
  access_policy: KEY.access_policy.describe(
    "Access policy for the team's keys, in addition to the policies of the keys. Null: none. If the policy does not exist, every call is refused.",
  ),
  dlp_policy: KEY.dlp_policy.describe(
    "DLP policy for the team's keys, in addition to the policies of the keys. Null: none. If the policy does not exist, every call is refused.",
  ),
};

/** A team in the configuration, or created by the administration API. */
export const NEW_TEAM = fields({
  name: title().describe("Name of the team, which keys use to refer to it."),
  account: TEAM.account.prefault(null),
  spend_limit: TEAM.spend_limit.prefault(null),
  models: TEAM.models.prefault(null),
  access_policy: TEAM.access_policy.prefault(null),
  dlp_policy: TEAM.dlp_policy.prefault(null),
});

/** A change of a team: only the named fields. The name cannot change, since records and sums refer to it. */
export const TEAM_CHANGE = fields({
  account: TEAM.account.optional(),
  spend_limit: TEAM.spend_limit.optional(),
  models: TEAM.models.optional(),
  access_policy: TEAM.access_policy.optional(),
  dlp_policy: TEAM.dlp_policy.optional(),
});

export const TEAMS = listOf(NEW_TEAM, "teams");

/** An account in the configuration, or created by the administration API. */
export const CREATED_ACCOUNT = fields({
  name: ACCOUNT_NAME.describe("Name of the account, which keys and teams use to refer to it."),
  credits: amount().nullable().prefault(null)
    .describe("Total amount that the account may spend, as a decimal string. Null: unlimited."),
});

export const ACCOUNTS = listOf(CREATED_ACCOUNT, "accounts");

const ACCESS_POLICY = fields({
  allow: listOf(catalogPattern(), "catalog patterns").prefault(["*"]).describe(
    "Models that the policy permits, as patterns.",
  ),
  deny: listOf(catalogPattern(), "catalog patterns").prefault([])
    .describe("Models that the policy forbids, as patterns, even if `allow` matches them."),
  payloads: flag().prefault(false).describe(
    "Whether requests under this policy, and their answers, are written to the payload log.",
  ),
});

export const ACCESS_POLICIES = named(label(), ACCESS_POLICY)
  .transform((policies): AccessPolicy[] =>
    Object.entries(policies).map(([name, policy]) => ({ name, ...policy }))
  );

export type ConfigKey = Value<typeof CONFIG_KEY>;
const EVENTS = WARNINGS.map((share) => `budget.${share}`) as [string, ...string[]];

export const WEBHOOKS = listOf(
  fields({
    url: postAddress().describe(
      "URL to which events are posted. It may be on this machine or network. Redirects are not followed.",
    ),
    secret: nonBlank(512, "a secret").describe(
      "Secret for the signature: the header `x-svc-signature` is `sha256=` and the HMAC-SHA256 of the body with this secret, in hexadecimal digits.",
    ),
    events: listOf(choice(...EVENTS), "events").prefault([...EVENTS]).describe(
      "Events to send: 50, 80 or 100 per cent of a budget are used.",
    ),
  }),
  "webhooks",
);

export type ConfigWebhook = Value<typeof WEBHOOKS>[number];
export type ConfigTeam = Value<typeof TEAMS>[number];
export type ConfigAccount = Value<typeof ACCOUNTS>[number];
