/** The configuration sections `alerts` and `smtp`: which conditions raise an alert, and who is notified. */
import {
  between,
  choice,
  fields,
  host,
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

/** Validates a duration and converts it to milliseconds. */
function duration(least = 0) {
  return stringField(DURATION).refine((text) => durationOf(text) >= least, says(DURATION)).transform(
    durationOf,
  );
}

const WHEN = fields({
  metric: choice(...NAMES).describe("Metric to watch; the manual's page Alerts describes the metrics."),
  above: between(0, 1e12).optional().describe(
    "Threshold: the alert begins when the value is above it. Not set: the default of the metric.",
  ),
  clear: between(0, 1e12).optional().describe(
    "Threshold: the alert ends when the value is at or below it. Not set: the value of `above`.",
  ),
  by: choice(...LABELS).optional().describe(
    "How values are grouped: one alert for each model, provider, and so on, or `all` for one alert in total. Not set: the default of the metric.",
  ),
  over: duration(1000).prefault("5m").describe(
    "Time window of the measurement, for metrics that count events.",
  ),
  least: whole(1, 1e9).prefault(10).describe(
    "Minimum number of calls in the time window. With fewer calls, rates and durations are not evaluated.",
  ),
  percent: whole(1, 100).refine((percent) => SHARES.includes(percent), says(SHARE_WORDS)).optional()
    .describe(
      "For the metric `budget` only: percentage of the limit that is used: 50, 80 or 100. Not set: 100.",
    ),
}).superRefine(({ metric, above, clear, by, percent }, context) => {
  const known = alertMetric(metric);
  const wrong = (path: string, message: string, input: unknown) =>
    context.addIssue({ code: "custom", path: [path], message, input });
  if (above === undefined && known.above === null) {
    wrong("above", `a number: ${metric} has no limit of its own`, above);
  }
  if (above !== undefined && above >= known.largest) {
    wrong("above", `a number below ${known.largest}, the largest value of ${metric}`, above);
  }
  const label = by === "all" ? null : by;
  if (label !== undefined && !known.by.includes(label)) {
    wrong("by", `one of ${known.by.map((one) => one ?? "all").join(", ")} for ${metric}`, by);
  }
  if (clear !== undefined && clear > (above ?? known.above ?? Infinity)) {
    wrong("clear", "a number up to `above`", clear);
  }
  if (percent !== undefined && metric !== "budget") {
    wrong("percent", `no value: only the metric budget has it, not ${metric}`, percent);
  }
}).transform(({ above, clear, by, percent, ...rest }) => {
  const known = alertMetric(rest.metric);
  const limit = above ?? known.above ?? 0;
  return {
    ...rest,
    percent: percent ?? 100,
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
    "URL to which alerts are posted as signed JSON. Redirects are not followed.",
  ),
  secret: nonBlank(512, "a secret").optional().describe(
    "Secret for the signature of the webhook, as in `webhooks`.",
  ),
  slack: postAddress().optional().describe(
    "URL of an incoming webhook of Slack, or of a service with the same format such as Mattermost.",
  ),
  email: listOf(mailbox(), "addresses").min(1, says("a list of at least one address")).max(
    50,
    says("a list of at most 50 addresses"),
  )
    .optional().describe("Recipients of a mail, which is sent through `smtp`."),
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
    name: title().describe("Name of the rule, used in its notifications."),
    when: WHEN.describe("Condition of the alert."),
    for: duration().prefault("1m").describe(
      "Time for which the condition must hold before the alert is sent, and for which it must be over before the recovery is sent.",
    ),
    to: listOf(DESTINATION, "receivers").min(1, says("a list of at least one receiver")).describe(
      "Receivers of the notifications.",
    ),
  }),
  "rules",
);

export const SMTP = fields({
  host: host().describe("Host name or IP address of the mail server."),
  port: whole(1, 65_535).prefault(587).describe("Port of the mail server."),
  security: choice("starttls", "tls", "none").prefault("starttls").describe(
    "`starttls`: the connection is encrypted before a mail is sent; without encryption nothing is sent. `tls`: encrypted from the beginning. `none`: not encrypted.",
  ),
  user: nonBlank(254, "a user").nullable().prefault(null).describe(
    "User name for the mail server. Null: no authentication.",
  ),
  password: nonBlank(1024, "a password").nullable().prefault(null).describe("Password of the user."),
  from: mailbox().describe("Sender address of the mails."),
}).superRefine(({ user, password }, context) => {
  if ((user === null) === (password === null)) return;
  const [path, message] = user === null
    ? ["user", "a user with `password`, and none without"]
    : ["password", "a password with `user`, and none without"];
  context.addIssue({ code: "custom", path: [path], message, input: undefined });
});

export type AlertRule = Value<typeof ALERTS>[number];
export type AlertDestination = AlertRule["to"][number];
export type SmtpConfig = Value<typeof SMTP>;
