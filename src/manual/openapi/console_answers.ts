/** Responses of the console's own endpoints: overview, open issues, sessions, payloads, the running configuration. */
import type { SessionView } from "../../accounts/mod.ts";
import type { Matter } from "../../console/attention.ts";
import type { overview } from "../../console/overview.ts";
import { DIMENSIONS, RANGES } from "../../console/overview_ranges.ts";
import type { NodeStatus } from "../../http/endpoint.ts";
import { configJsonSchema } from "../../config/schema.ts";
import { GENERATION_FIELDS } from "./answers.ts";
import {
  always,
  any,
  choice,
  closed,
  exactly,
  flag,
  list,
  map,
  moment,
  money,
  number,
  orNull,
  ref,
  type Schema,
  storedPage,
  text,
  whole,
} from "./schema.ts";

type Overview = Awaited<ReturnType<typeof overview>>;

const MS = orNull(whole());
const PERCENTILES = exactly<Overview["total"]["ttft_ms"]>({ p50: MS, p95: MS, p99: MS });
const OVER_TIME = exactly<Overview["series"]["ttft_ms"]>({ p50: list(MS), p95: list(MS), p99: list(MS) });
const SUMS: { readonly [K in keyof Overview["total"]]: Schema } = {
  requests: whole(),
  errors: whole(),
  input_tokens: whole(),
  cached_tokens: whole(),
  output_tokens: whole(),
  searches: whole(),
  cost: money(),
  cache_saved: money(),
  ttft_ms: PERCENTILES,
  latency_ms: PERCENTILES,
};

const STATUS: { readonly [K in keyof NodeStatus]: Schema } = {
  worker: orNull(whole()),
  started: moment(),
  reload: orNull(closed({ at: moment(), ok: flag(), mistakes: list(text()) })),
  warnings: list(text()),
};

/**
 * The content of a section is as in `/config.schema.json`, except that secrets and variables are replaced by
 * strings.
 */
const SECTIONS = Object.fromEntries(
  Object.entries(configJsonSchema().properties as Record<string, Schema>)
    .map(([name, { description }]) => [name, any(description as string | undefined)]),
);

export const CONSOLE_ANSWERS: Readonly<Record<string, Schema>> = {
  Overview: exactly<Overview>({
    range: choice(...Object.keys(RANGES)),
    by: choice(...DIMENSIONS),
    from: moment(),
    to: moment(),
    step_seconds: whole(),
    store: flag("False: the store is unavailable; the values are those of this process in the last hour."),
    complete: flag("False: there were too many calls to read, so only the newest ones are counted."),
    source: choice("spans", "sums by day"),
    incomplete_before: moment("Records before this time may be missing from the sums."),
    times: list(moment(), "Start times of the intervals of `series`."),
    total: exactly<Overview["total"]>(SUMS),
    series: exactly<Overview["series"]>({
      requests: list(whole()),
      errors: list(whole()),
      input_tokens: list(whole()),
      cached_tokens: list(whole()),
      output_tokens: list(whole()),
      cost: list(money()),
      cache_saved: list(money()),
      ttft_ms: OVER_TIME,
      latency_ms: OVER_TIME,
    }),
    groups: list(exactly<Overview["groups"][number]>({
      value: text(),
      ...SUMS,
      series: closed({ requests: list(whole()), cost: list(money()), latency_p95_ms: list(MS) }),
    })),
    more_groups: whole(),
  }, {
    optional: ["incomplete_before"],
    description:
      "Requests, errors, spend, tokens and durations, in total and for each value of one dimension.",
  }),
  Attention: closed({
    data: list(exactly<Matter>({
      level: choice("bad", "warn", "info"),
      kind: choice("breaker", "store", "load", "configuration", "budget", "key", "account", "price"),
      name: text(),
      text: text(),
      of: choice("key", "team"),
      share: number("Spent share of the budget, from 0 to 1."),
      at: moment(),
    }, { optional: ["of", "share", "at"] })),
    left_out: map(whole(), "Number of further items of each kind, which are not listed."),
    store: always("away"),
  }, { optional: ["store"], description: "Current problems, and what needs a decision." }),
  SessionView: exactly<SessionView>({
    id: text(),
    name: text("Name of the person or token."),
    role: choice("owner", "operator", "auditor", "member"),
    team: orNull(text()),
    member: orNull(
      text("Issuer and subject of the person, joined by `#`. Null: signed in without an identity provider."),
    ),
    signed_in_with: choice("admin_key", "token", "oidc"),
    began: moment(),
    ends: moment("When the session ends if it is not used any more."),
    own: flag("Whether this is the session of the request itself."),
  }),
  SessionList: storedPage(ref("SessionView")),
  EndedSessions: closed({ data: list(ref("SessionView")) }),
  Payload: closed({
    id: GENERATION_FIELDS.id,
    created: moment(),
    key: text(),
    key_id: text(),
    account: text(),
    format: GENERATION_FIELDS.format,
    model: text(),
    provider: orNull(text()),
    stream: flag(),
    status: GENERATION_FIELDS.status,
    error: orNull(closed({ code: text(), message: text() })),
    ttft_ms: MS,
    latency_ms: whole(),
    dlp: GENERATION_FIELDS.dlp,
    answer_cut: flag("Whether the stored answer was truncated."),
    answer: any("The answer in the caller's format. Null: there was none."),
    request: any("The request in the caller's format, after masking."),
  }, { description: "The stored request and answer of a generation." }),
  RunningConfiguration: closed({
    config: closed(SECTIONS, {
      optional: Object.keys(SECTIONS),
      description:
        "The sections of the configuration file, without secrets. Environment variables are shown by name.",
    }),
    defaults: list(text(), "Paths of the fields that are not in the file and have their default values."),
    ...STATUS,
    nodes: orNull(list(closed({ node: text(), self: flag(), about: orNull(exactly<NodeStatus>(STATUS)) }))),
  }),
};
