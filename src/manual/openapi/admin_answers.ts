/** Responses of the administration API and the console. */
import type {
  CreditsView,
  KeyReport,
  LeaseView,
  TeamView,
  TokenView,
} from "../../accounts/administration/views.ts";
import type { GenerationDetails } from "../../accounts/administration/generation_details.ts";
import type { StatementFoot, StatementHead } from "../../accounts/administration/statement.ts";
import type { CatalogChange } from "../../http/endpoint.ts";
import type { ModelChange } from "../../models/changes.ts";
import type { DryScan } from "../../pipeline/screening/dry_scan.ts";
import type { Trial } from "../../pipeline/try_provider.ts";
import type { ProviderHealth } from "../../providers/states.ts";
import { GENERATION_FIELDS, KEY_FIELDS, SPEND, SPEND_LIMIT } from "./answers.ts";
import {
  choice,
  closed,
  exactly,
  flag,
  list,
  map,
  moment,
  money,
  number,
  object,
  orNull,
  page,
  ref,
  type Schema,
  storedPage,
  text,
  whole,
} from "./schema.ts";

const LEASE = orNull(
  exactly<LeaseView>({ granted: money(), used: money(), reserved: money() }, {
    description: "While the store is unavailable: the amount that this process may still spend.",
  }),
);
/** Fields that are absent while the store is unavailable. */
const UNKNOWN = { optional: ["lease"] };
const KEY = {
  ...KEY_FIELDS,
  spend: orNull({
    ...SPEND,
    description: "Spend of the current period. Null: unknown, because the store is unavailable.",
  }),
  last_used: orNull(moment("Time of the last call. Null: never used.")),
  lease: LEASE,
};
const TOKEN: { readonly [K in keyof TokenView]: Schema } = {
  id: text(),
  name: text(),
  role: choice("owner", "operator", "auditor"),
  created: orNull(moment()),
  created_by: text("Name of the administrator who created the token."),
  expires_at: orNull(moment()),
  revoked_at: orNull(moment()),
  last_used: orNull(moment("Time of the last use, accurate to one minute. Null: never used.")),
};
const COUNTS = {
  generations: whole(),
  failed: whole(),
  input_tokens: whole(),
  cached_tokens: whole(),
  cache_write_tokens: whole(),
  output_tokens: whole(),
  reasoning_tokens: whole(),
  searches: whole(),
  cost: money(),
};
const DIMENSIONS = {
  key: text(),
  key_id: text(),
  model: text(),
  day: text("Date in UTC, such as `2026-01-31`."),
  account: text(),
  provider: text(),
  format: text(),
  team: text(),
  session: text(),
  tool_calls: orNull(
    whole("Number of tool calls. Only in sums by team, session or tag; null for calls without one."),
  ),
  latency_ms: orNull(
    whole(
      "Sum of the durations of all calls in milliseconds. Only in sums by team, session or tag; null for calls without one.",
    ),
  ),
};
const USAGE: Schema = {
  ...closed({ ...COUNTS, cache_saved: money(), ...DIMENSIONS }, {
    optional: Object.keys(DIMENSIONS),
    description: "Sums of one group. It has the fields of the dimensions named in `by`.",
  }),
  patternProperties: { "^tag:": text("The value of the tag.") },
};
const FIRST_OUTPUT = orNull(closed({ p50: number(), p95: number() }));
const STEP = choice(
  "admission",
  "screening",
  "search",
  "attempt",
  "streaming",
  "provider_tools",
  "answer_screening",
);
/** Fields of an audit entry about a change. */
const CHANGED = {
  by: orNull(text("How the change was made: `admin_key`, `token`, `session`, `command` or `process`.")),
  role: choice("owner", "operator", "auditor", "member"),
  name: text("Name of the person or token that made the change."),
  credential: orNull(text("Id of the token or session that was used.")),
  route: orNull(text()),
  action: text(),
  target: orNull(text()),
  fields: object({}, { description: "The fields of the request." }),
  before: object({}, { description: "The values of these fields before the change." }),
  result: text("`done`, or the error code if the change was refused."),
  from: text("Address of the client whose sign-in failed."),
  untold: whole("Number of further failed sign-ins that have no entries of their own."),
  mistakes: whole("Number of mistakes in a configuration that was not loaded."),
};
/** Fields of an audit entry about findings of a DLP scan. */
const FOUND = {
  generation: text(),
  policy: orNull(text()),
  of: choice("request", "answer"),
  mode: text(),
  findings: whole(),
  types: map(whole(), "Number of findings by entity type."),
  rules: map(whole(), "Number of findings by pattern of the policy."),
  places: map(whole(), "Number of findings by location."),
  unscanned: whole("Number of parts that could not be screened."),
};
const ROLE = choice("owner", "operator", "auditor", "member");

const MODEL_CHANGE = {
  model: text(),
  what: choice("price", "added", "removed", "changed"),
  field: text("The field of the model that changed, or the kind of price."),
  before: text("The value before the change; prices are in dollars per million tokens."),
  after: text(),
};
const MAY_LACK = { optional: ["field", "before", "after"] };

export const ADMIN_ANSWERS: Readonly<Record<string, Schema>> = {
  Key: exactly<KeyReport>(KEY, UNKNOWN),
  KeyList: storedPage(ref("Key")),
  KeyWithSecret: exactly<KeyReport & { secret: string }>({
    ...KEY,
    secret: text("The secret, `sk_live_…`. It is returned only in this answer."),
  }, UNKNOWN),
  KeyModelList: page(closed({
    id: text(),
    name: text(),
    permitted: flag("Whether the access policies permit the key to call this model."),
    context_length: orNull(whole()),
    max_completion_tokens: orNull(whole()),
    pricing: map(orNull(text())),
    features: list(text()),
  })),
  UsageList: storedPage(USAGE, {
    incomplete_before: moment(
      "Records before this time may be missing from the sums: for some minutes after the upgrade of a large store, and for sums by two labels that would read too many records. Absent: the sums are complete.",
    ),
  }),
  GenerationDetails: {
    description:
      "The record of a generation with its steps, prices and findings. Members get only the record.",
    oneOf: [
      exactly<GenerationDetails>({
        ...GENERATION_FIELDS,
        steps: list({
          ...closed({ kind: STEP, name: text(), start_ms: number(), ms: number(), outcome: text() }),
          additionalProperties: {
            type: ["string", "number", "boolean"],
            description: "A detail of the step.",
          },
        }),
        prices: list(closed({ version: text(), prices: map(text()) })),
        findings: list(
          ref("AuditEntry"),
          "Findings of data-loss prevention: types, locations and counts, never text.",
        ),
      }),
      ref("Generation"),
    ],
  },
  GenerationList: storedPage(ref("Generation")),
  AuditEntry: closed({
    id: text(),
    created: moment(),
    kind: choice("dlp", "admin"),
    key_id: orNull(text()),
    key: orNull(text()),
    account: orNull(text()),
    ...CHANGED,
    ...FOUND,
  }, {
    optional: [...Object.keys(CHANGED), ...Object.keys(FOUND)],
    description:
      "An entry of the audit log: a change by an administrator, or findings of data-loss prevention.",
  }),
  AuditList: storedPage(ref("AuditEntry")),
  Token: exactly<TokenView>(TOKEN),
  TokenList: storedPage(ref("Token")),
  TokenWithSecret: exactly<TokenView & { secret: string }>({
    ...TOKEN,
    secret: text("The secret, `sk_admin_…`. It is returned only in this answer."),
  }),
  Team: exactly<TeamView>({
    name: text(),
    source: choice("config", "store"),
    account: orNull(text()),
    spend_limit: SPEND_LIMIT,
    models: orNull(list(text())),
    access_policy: orNull(text()),
    dlp_policy: orNull(text()),
    keys: whole("Number of keys that are not revoked."),
    spend: orNull(SPEND),
    lease: LEASE,
  }, UNKNOWN),
  TeamList: storedPage(ref("Team")),
  Credits: exactly<CreditsView>({
    account: text(),
    unlimited: flag(),
    granted: orNull(money()),
    added: orNull(money("Credits that were added. Null: unknown, because the store is unavailable.")),
    spent: orNull(money()),
    balance: orNull(money()),
    lease: LEASE,
  }, UNKNOWN),
  AccountList: storedPage(ref("Credits")),
  Statement: exactly<StatementHead & StatementFoot & { lines: unknown }>({
    account: text(),
    month: text("Month in UTC, such as `2026-01`."),
    from: moment(),
    to: moment(),
    created: moment(),
    by: choice("generation", "day"),
    lines: list({ oneOf: [ref("Generation"), USAGE] }),
    totals: closed(COUNTS),
    models: list(closed({ model: text(), ...COUNTS })),
    prices: list(closed({
      version: text(),
      model: orNull(
        text("The model. Null: these prices belong to no single model; `version` identifies them."),
      ),
      since: orNull(moment()),
      prices: orNull(map(text())),
    })),
    credits_added: list(closed({ created: moment(), amount: money(), note: orNull(text()) })),
  }),
  ProviderList: page(exactly<ProviderHealth>({
    provider: text(),
    api: text(),
    in_flight: whole(),
    queued: whole(),
    max_concurrent: orNull(whole()),
    models: list(exactly<ProviderHealth["models"][number]>({
      model: text(),
      state: text("State of the circuit breaker: `closed`, `open` or `half-open`."),
      calls: whole("Number of calls within the time window of the circuit breaker."),
      failures: whole(),
      retry_in_seconds: orNull(number()),
      attempts: whole("Number of calls of the provider since the start of the process."),
      attempts_failed: whole(),
      retries: whole(),
      first_output_ms: FIRST_OUTPUT,
      last_error: orNull(closed({ at: moment(), code: text(), message: text() })),
    })),
  })),
  ClosedBreakers: closed({
    closed: list(closed({ provider: text(), model: text() })),
    everywhere: flag("False: the store is unavailable, so other nodes keep their circuit breakers open."),
  }),
  ProviderTrial: exactly<Trial>({
    ok: flag(),
    by: choice("models", "call"),
    models: orNull(whole("Number of models that the provider lists.")),
    model: orNull(text("Catalog id of the model that was called.")),
    latency_ms: number(),
    cost: money(),
    error: orNull(text()),
  }),
  Policies: closed({
    dlp: list(closed({
      name: text(),
      mode: text(),
      answers: text(),
      entity_types: orNull(list(text())),
      regexes: list(text()),
      stop_words: whole("Number of stop words."),
      allowed_values: whole("Number of allowed values."),
    })),
    access: list(closed({ name: text(), allow: list(text()), deny: list(text()) })),
    screening: closed({ enabled: flag(), on_unscannable: text(), restore: flag(), model: flag() }),
  }),
  DlpScan: exactly<DryScan>({
    mode: text(),
    action: text("What the gateway would do with the request: `pass`, `alert`, `mask` or `block`."),
    findings: list(exactly<DryScan["findings"][number]>({
      category: text(),
      entity_type: text(),
      message_index: orNull(whole()),
      location: text(),
      start: whole("Start of the finding in the field, in UTF-16 code units."),
      end: whole(),
      confidence: number(),
    })),
    findings_count: whole(),
    unscanned: whole(),
  }),
  CatalogList: page(closed({
    id: text(),
    name: text(),
    pricing: orNull(map(text())),
    pricing_tiers: whole(),
    context_length: orNull(whole()),
    max_completion_tokens: orNull(whole()),
    features: list(text()),
    modality_input: list(text()),
    modality_output: list(text()),
    order: choice("written", "price", "latency"),
    routes: list(closed({
      provider: text(),
      model: text(),
      api: orNull(text()),
      weight: orNull(number()),
      state: orNull(choice("closed", "open", "half-open")),
      attempts: whole(),
      first_output_ms: FIRST_OUTPUT,
      share: orNull(number()),
    })),
  })),
  CatalogChangeList: page(exactly<CatalogChange>({ ...MODEL_CHANGE, at: moment() }, MAY_LACK)),
  CatalogDifferences: page(exactly<ModelChange>(MODEL_CHANGE, MAY_LACK)),
  Session: closed({
    role: ROLE,
    name: text(),
    team: orNull(text()),
    member: orNull(
      text("Issuer and subject of the person, joined by `#`. Null: signed in without an identity provider."),
    ),
    csrf: text("The value to send in the header `x-svc-csrf` with each change."),
    signed_in_with: choice("admin_key", "token", "oidc"),
    expires_at: moment(),
    member_rule: closed({
      keys: whole("Maximum number of keys of a member."),
      spend_limit: SPEND_LIMIT,
    }),
  }, { optional: ["member_rule"] }),
  SignedOut: closed({
    signed_out: flag(),
    end_session_url: orNull(
      text("URL at which the browser signs out of the identity provider. Null: there is none."),
    ),
  }),
  SignInWays: closed({ signed_in: flag(), oidc: flag(), docs: flag() }),
};
