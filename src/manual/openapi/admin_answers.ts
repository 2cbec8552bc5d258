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
import type { DryScan } from "../../pipeline/dry_scan.ts";
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
    description: "While the store is away: what this process may spend without asking it.",
  }),
);
/** Fields that are absent while the store is unavailable. */
const UNKNOWN = { optional: ["lease"] };
const KEY = {
  ...KEY_FIELDS,
  spend: orNull({ ...SPEND, description: "Null: the store, which knows, is away." }),
  last_used: orNull(moment()),
  lease: LEASE,
};
const TOKEN: { readonly [K in keyof TokenView]: Schema } = {
  id: text(),
  name: text(),
  role: choice("owner", "operator", "auditor"),
  created: orNull(moment()),
  created_by: text("Name of who made it."),
  expires_at: orNull(moment()),
  revoked_at: orNull(moment()),
  last_used: orNull(moment("Exact to a minute.")),
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
  day: text("`2026-01-31`, in UTC."),
  account: text(),
  provider: text(),
  format: text(),
  team: text(),
  session: text(),
  tool_calls: orNull(whole("Of sums by team, session or tag; null for calls that have none.")),
  latency_ms: orNull(whole("Of all calls together; null likewise.")),
};
const USAGE: Schema = {
  ...closed({ ...COUNTS, cache_saved: money(), ...DIMENSIONS }, {
    optional: Object.keys(DIMENSIONS),
    description: "Has the dimensions that `by` names.",
  }),
  patternProperties: { "^tag:": text("Value of the tag.") },
};
const FIRST_OUTPUT = orNull(closed({ p50: number(), p95: number() }));
const STEP = choice("admission", "screening", "search", "attempt", "streaming", "answer_screening");
/** Fields of an audit entry about a change. */
const CHANGED = {
  by: orNull(text("`admin_key`, `token`, `session`, `command`, `process`.")),
  role: choice("owner", "operator", "auditor", "member"),
  name: text("Of who made the change."),
  credential: orNull(text("Id of the token or the session.")),
  route: orNull(text()),
  action: text(),
  target: orNull(text()),
  fields: object({}, { description: "As they were given." }),
  before: object({}, { description: "As they were before." }),
  result: text("`done`, or the code of the refusal."),
  from: text("Address of who could not sign in."),
  untold: whole("Others who could not, and are not told one by one."),
  mistakes: whole("Of a configuration that was not taken over."),
};
/** Fields of an audit entry about findings of a DLP scan. */
const FOUND = {
  generation: text(),
  policy: orNull(text()),
  of: choice("request", "answer"),
  mode: text(),
  findings: whole(),
  types: map(whole(), "How many of each type."),
  rules: map(whole(), "How many of each pattern of the policy."),
  places: map(whole(), "How many in each place."),
  unscanned: whole("Parts that could not be screened."),
};
const ROLE = choice("owner", "operator", "auditor", "member");

const MODEL_CHANGE = {
  model: text(),
  what: choice("price", "added", "removed", "changed"),
  field: text("Of the model, or the kind of price."),
  before: text("A price as dollars for a million."),
  after: text(),
};
const MAY_LACK = { optional: ["field", "before", "after"] };

export const ADMIN_ANSWERS: Readonly<Record<string, Schema>> = {
  Key: exactly<KeyReport>(KEY, UNKNOWN),
  KeyList: storedPage(ref("Key")),
  KeyWithSecret: exactly<KeyReport & { secret: string }>({
    ...KEY,
    secret: text("Shown this once: `sk_live_…`."),
  }, UNKNOWN),
  KeyModelList: page(closed({
    id: text(),
    name: text(),
    permitted: flag("Whether access policies let the key call it."),
    context_length: orNull(whole()),
    max_completion_tokens: orNull(whole()),
    pricing: map(orNull(text())),
    features: list(text()),
  })),
  UsageList: storedPage(USAGE, {
    incomplete_before: moment(
      "Records before may be missing from the sums, for some minutes after an update of a large store, and where a sum by two labels would read too many. Absent: none is.",
    ),
  }),
  GenerationDetails: {
    description: "A member gets the record alone.",
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
        findings: list(ref("AuditEntry"), "What screening found: types, places and counts, never text."),
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
    description: "What somebody changed, or what screening found.",
  }),
  AuditList: storedPage(ref("AuditEntry")),
  Token: exactly<TokenView>(TOKEN),
  TokenList: storedPage(ref("Token")),
  TokenWithSecret: exactly<TokenView & { secret: string }>({
    ...TOKEN,
    secret: text("Shown this once: `sk_admin_…`."),
  }),
  Team: exactly<TeamView>({
    name: text(),
    source: choice("config", "store"),
    account: orNull(text()),
    spend_limit: SPEND_LIMIT,
    models: orNull(list(text())),
    access_policy: orNull(text()),
    dlp_policy: orNull(text()),
    keys: whole("Those that are not revoked."),
    spend: orNull(SPEND),
    lease: LEASE,
  }, UNKNOWN),
  TeamList: storedPage(ref("Team")),
  Credits: exactly<CreditsView>({
    account: text(),
    unlimited: flag(),
    granted: orNull(money()),
    added: orNull(money("Null: the store, which knows, is away.")),
    spent: orNull(money()),
    balance: orNull(money()),
    lease: LEASE,
  }, UNKNOWN),
  AccountList: storedPage(ref("Credits")),
  Statement: exactly<StatementHead & StatementFoot & { lines: unknown }>({
    account: text(),
    month: text("`2026-01`."),
    from: moment(),
    to: moment(),
    created: moment(),
    by: choice("generation", "day"),
    lines: list({ oneOf: [ref("Generation"), USAGE] }),
    totals: closed(COUNTS),
    models: list(closed({ model: text(), ...COUNTS })),
    prices: list(closed({
      version: text(),
      model: orNull(text("Null: the version says whose prices these are.")),
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
      state: text("Of its circuit breaker: `closed`, `open`, `half-open`."),
      calls: whole("Within the breaker's window."),
      failures: whole(),
      retry_in_seconds: orNull(number()),
      attempts: whole("Since the process began."),
      attempts_failed: whole(),
      retries: whole(),
      first_output_ms: FIRST_OUTPUT,
      last_error: orNull(closed({ at: moment(), code: text(), message: text() })),
    })),
  })),
  ClosedBreakers: closed({
    closed: list(closed({ provider: text(), model: text() })),
    everywhere: flag("False: the store is away, and other nodes do not hear of it."),
  }),
  ProviderTrial: exactly<Trial>({
    ok: flag(),
    by: choice("models", "call"),
    models: orNull(whole("How many the provider lists.")),
    model: orNull(text("The catalog's id of the model that was called.")),
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
      stop_words: whole("How many."),
      allowed_values: whole("How many."),
    })),
    access: list(closed({ name: text(), allow: list(text()), deny: list(text()) })),
    screening: closed({ enabled: flag(), on_unscannable: text(), restore: flag(), model: flag() }),
  }),
  DlpScan: exactly<DryScan>({
    mode: text(),
    action: text("What would happen: `pass`, `alert`, `mask` or `block`."),
    findings: list(exactly<DryScan["findings"][number]>({
      category: text(),
      entity_type: text(),
      message_index: orNull(whole()),
      location: text(),
      start: whole("UTF-16 units of the field as sent."),
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
    member: orNull(text("Issuer and subject of the sign-in.")),
    csrf: text("Value of the header `x-svc-csrf`."),
    signed_in_with: choice("admin_key", "token", "oidc"),
    expires_at: moment(),
    member_rule: closed({
      keys: whole("Keys that a member may have at once."),
      spend_limit: SPEND_LIMIT,
    }),
  }, { optional: ["member_rule"] }),
  SignedOut: closed({
    signed_out: flag(),
    end_session_url: orNull(text("Where the browser leaves the identity provider, too.")),
  }),
  SignInWays: closed({ signed_in: flag(), oidc: flag() }),
};
