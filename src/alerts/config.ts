/** The sections `alerts` and `smtp` of the configuration: what operators are told of, and by whom. */
import {
  between,
  choice,
  fields,
  listOf,
  matching,
  nonBlank,
  postAddress,
  says,
  stringField,
  title,
  type Value,
  whole,
} from "../schema/fields.ts";
import { WARNINGS } from "../store/mod.ts";
import { ALERT_METRICS, alertMetric, type AlertMetricName } from "./metrics.ts";

const NAMES = ALERT_METRICS.map(({ name }) => name) as [AlertMetricName, ...AlertMetricName[]];
const SHARES: readonly number[] = WARNINGS;
const SHARE_WORDS = `one of ${SHARES.join(", ")}`;
const LABELS = ["all", "model", "provider", "scope", "type"] as const;
const DURATION = 'a time like "30s", "5m" or "2h", up to a day';
const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
const DAY_MS = 86_400_000;

function durationOf(text: string): number {
  const [, count, unit] = /^(\d{1,5})([smh])$/.exec(text) ?? [];
  const ms = Number(count) * UNITS[unit];
  return ms <= DAY_MS ? ms : NaN;
}

/** In the code milliseconds. */
function duration(least = 0) {
  return stringField(DURATION).refine((text) => durationOf(text) >= least, says(DURATION)).transform(
    durationOf,
  );
}

const WHEN = fields({
  metric: choice(...NAMES).describe("What is measured; see the manual's page on alerts."),
  above: between(0, 1e12).optional().describe(
    "Limit beyond which it is an alert. Left out: the metric's own.",
  ),
  clear: between(0, 1e12).optional().describe(
    "Limit at or below which the alert is over. Left out: that of `above`.",
  ),
  by: choice(...LABELS).optional().describe(
    "What an alert is for: each model, each provider, …, or `all` together. Left out: the metric's own.",
  ),
  over: duration(1000).prefault("5m").describe("Time that is looked at, for what is counted."),
  least: whole(1, 1e9).prefault(10).describe(
    "Calls within that time below which a share or a duration says nothing.",
  ),
  percent: whole(1, 100).refine((percent) => SHARES.includes(percent), says(SHARE_WORDS)).prefault(100)
    .describe(
      "For `budget`: the share of the limit in per cent, 50, 80 or 100.",
    ),
}).superRefine(({ metric, above, clear, by }, context) => {
  const known = alertMetric(metric);
  const wrong = (path: string, message: string, input: unknown) =>
    context.addIssue({ code: "custom", path: [path], message, input });
  if (above === undefined && known.above === null) {
    wrong("above", `a number: ${metric} has no limit of its own`, above);
  }
  const label = by === "all" ? null : by;
  if (label !== undefined && !known.by.includes(label)) {
    wrong("by", `one of ${known.by.map((one) => one ?? "all").join(", ")} for ${metric}`, by);
  }
  if (clear !== undefined && clear > (above ?? known.above ?? Infinity)) {
    wrong("clear", "a number up to `above`", clear);
  }
}).transform(({ above, clear, by, ...rest }) => {
  const known = alertMetric(rest.metric);
  const limit = above ?? known.above ?? 0;
  return {
    ...rest,
    above: limit,
    clear: clear ?? limit,
    by: by === undefined ? known.by[0] : by === "all" ? null : by,
  };
});

const MAILBOX = "a mail address";

function mailbox() {
  return matching(/^[\w.!#$%&'*+\/=?^`{|}~-]{1,64}@[a-z\d-]+(?:\.[a-z\d-]+)*$/i, MAILBOX).max(
    254,
    says(MAILBOX),
  );
}

const WAYS = "an object with one of `webhook` (and `secret`), `slack` or `email`";

const DESTINATION = fields({
  webhook: postAddress().optional().describe(
    "Address that alerts are posted to as JSON, signed. Redirects are not followed.",
  ),
  secret: nonBlank(512, "a secret").optional().describe(
    "Secret of the webhook's signature, as of `webhooks`.",
  ),
  slack: postAddress().optional().describe(
    "Address of an incoming webhook in Slack's format; Mattermost and others take it too.",
  ),
  email: listOf(mailbox(), "addresses").min(1, says("a list of at least one address")).max(
    50,
    says("a list of at most 50 addresses"),
  )
    .optional().describe("Addresses that get a mail, by way of `smtp`."),
}).superRefine(({ webhook, secret, slack, email }, context) => {
  const ways = [webhook, slack, email].filter((way) => way !== undefined).length;
  if (ways !== 1) context.addIssue({ code: "custom", message: WAYS });
  else if ((webhook === undefined) !== (secret === undefined)) {
    context.addIssue({
      code: "custom",
      path: ["secret"],
      message: "a secret with `webhook`, and none without",
      input: secret,
    });
  }
});

export const ALERTS = listOf(
  fields({
    name: title().describe("Name of the rule, in what is told of it."),
    when: WHEN.describe("What is an alert."),
    for: duration().prefault("1m").describe(
      "Time that it has to last before it is told, and that it has to be over before the recovery is.",
    ),
    to: listOf(DESTINATION, "receivers").min(1, says("a list of at least one receiver")).describe(
      "Who is told.",
    ),
  }),
  "rules",
);

export const SMTP = fields({
  host: nonBlank(253, "a host").describe("Mail server."),
  port: whole(1, 65_535).prefault(587).describe("Its port."),
  security: choice("starttls", "tls", "none").prefault("starttls").describe(
    "`starttls`: the connection is encrypted before anything is sent, or nothing is. `tls`: from its beginning. `none`: never.",
  ),
  user: nonBlank(254, "a user").nullable().prefault(null).describe("Who signs in. Null: nobody does."),
  password: nonBlank(1024, "a password").nullable().prefault(null).describe("The user's password."),
  from: mailbox().describe("Address that mails come from."),
});

export type AlertRule = Value<typeof ALERTS>[number];
export type AlertDestination = AlertRule["to"][number];
export type SmtpConfig = Value<typeof SMTP>;
