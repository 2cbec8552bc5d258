/**
 * The whole configuration: every field, its default and what it may hold.
 *
 * Each field says in words what it allows, and those words become the mistake an operator reads. Objects are strict: a
 * field that is not here is a mistake. References between fields are checked in references.ts, since this schema gives
 * up on an object at its first mistake and an operator wants all of them at once.
 */
import { z } from "zod";
import type { Effort } from "../exchange/prompt.ts";

/** What a value must look like, in words for the operator. */
const says = (allowed: string) => ({ error: allowed });

function whole(least: number, most: number) {
  const allowed = says(`a whole number from ${least} to ${most}`);
  return z.int(allowed).min(least, allowed).max(most, allowed);
}

function between(least: number, most: number, unit = "") {
  const allowed = says(`a number${unit} from ${least} to ${most}`);
  return z.number(allowed).min(least, allowed).max(most, allowed);
}

function matching(pattern: RegExp, allowed: string) {
  return z.string(says(allowed)).regex(pattern, says(allowed));
}

function choice<const T extends readonly [string, ...string[]]>(...values: T) {
  return z.enum(values, says(`one of ${values.join(", ")}`));
}

function listOf<T extends z.ZodType>(item: T, what: string) {
  return z.array(item, says(`a list of ${what}`));
}

function fields<T extends z.ZodRawShape>(shape: T) {
  return z.strictObject(shape, { error: (issue) => issue.code === "invalid_type" ? "an object" : undefined });
}

function named<T extends z.ZodType>(name: z.ZodString, value: T) {
  return z.record(name, value, {
    error: (issue) => issue.code === "invalid_type" ? "an object of named entries" : undefined,
  });
}

const DAY = 86_400;
const seconds = (least: number) => between(least, DAY, " of seconds");
const flag = () => z.boolean(says("true or false"));
/** A name that also goes into response headers and metric labels, hence ASCII. */
const label = () =>
  matching(
    /^[!-~](?:[ -~]{0,62}[!-~])?$/,
    "a name of 1 to 64 printable ASCII characters without spaces at its ends",
  );
/** A value that goes into a request header. A line break at the end of a secret file is the usual mistake. */
const credential = () => matching(/^[!-~]*$/, "printable ASCII without spaces or line breaks");
/** At most twelve digits before the point and eighteen after it. Never a JSON number: those are binary fractions. */
const money = () =>
  matching(
    /^\d{1,12}(?:\.\d{1,18})?$/,
    'a decimal string like "0.0000025", at most 12 digits before the point and 18 after it',
  );
const url = () =>
  matching(
    /^https?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?(?:\/[^\s?#]*)?$/i,
    "an http:// or https:// address without user, query or fragment",
  ).refine((text) => URL.canParse(text), says("an http:// or https:// address"))
    .transform((text) => text.replace(/\/+$/, ""));
const urlOrNone = () =>
  z.union([z.literal(""), url()], says("an http:// or https:// address without user, query or fragment"))
    .default("");
/** Over catalog ids; `*` stands for any run of characters. */
const pattern = () => matching(/^[!-~]{1,256}$/, 'a catalog pattern like "mistral/*"');

const SERVER = fields({
  hostname: matching(/^[\w.:%-]+$/, "a host name or an address without port").default("127.0.0.1"),
  port: whole(0, 65_535).default(8787),
  max_body_bytes: whole(1024, 2 ** 30).default(33_554_432),
  max_file_bytes: whole(1024, 2 ** 30).default(20_971_520),
  max_text_chars: whole(1, 2 ** 30).default(4_000_000),
  max_messages: whole(1, 1_000_000).default(2000),
  max_in_flight: whole(1, 1_000_000).default(4096),
  /** Of the request bodies of calls under way, together; of those being answered a quarter counts. */
  max_in_flight_bytes: whole(1024, 2 ** 40).default(536_870_912),
  keepalive_seconds: seconds(0.01).default(15),
  shutdown_grace_seconds: seconds(0).default(60),
  /** Processes that share the port. */
  workers: whole(1, 64).default(1),
  /** Origins that browsers may call from; `*` is any. Empty: no CORS headers at all. */
  cors_origins: listOf(
    matching(
      /^(?:\*|[a-z][a-z\d+.-]*:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?)$/i,
      'an origin like "https://app.example" or "*"',
    ),
    "origins",
  ).default([]),
});

const STORE = fields({
  url: matching(
    /^(?:sqlite:[^\0]+|postgres(?:ql)?:\/\/\S+)$/,
    '"sqlite:PATH", "sqlite::memory:" or "postgres://USER:PASSWORD@HOST/DATABASE"',
  ).default("sqlite:./data/sluice.db"),
  /**
   * Over PostgreSQL: where a node writes what the database does not have yet, as a path without ending. Null, or nothing
   * can be written there: in bounded memory. With SQLite that is always beside the file.
   */
  journal: matching(/^[^\0]*[^\0/]$/, "a path of a file, or null").nullable().default("./data/node"),
  /** How long keys of the store are trusted after the database was last heard of. */
  offline_seconds: seconds(1).default(3600),
  /** Generations older than this are kept as sums by day only. */
  retention_days: whole(1, 36_500).default(90),
  /** Key of the hashes of secrets. Null: made on first start and kept beside the store. */
  pepper: matching(/^[^]{16,}$/, "a secret of at least 16 characters, or null").nullable().default(null),
});

const BREAKER = fields({
  failures: whole(1, 1_000_000).default(5),
  window_seconds: seconds(0.01).default(30),
  open_seconds: seconds(0.01).default(15),
});

const PROVIDER = fields({
  api: choice("openai-chat", "openai-responses", "anthropic-messages", "gemini", "demo"),
  /** With the version, without a slash at its end. Empty only for the demo provider. */
  base_url: urlOrNone(),
  /** Empty: no credential is sent, as for a server on the own machine. */
  api_key: credential().default(""),
  headers: named(
    matching(/^[\w!#$%&'*+.^`|~-]+$/, "a header name"),
    matching(/^[\t -~\x80-\xff]*$/, "a header value without line breaks"),
  ).default({}),
  first_byte_seconds: seconds(0.01).default(120),
  idle_seconds: seconds(0.01).default(120),
  retries: whole(0, 10).default(2),
  breaker: BREAKER.prefault({}),
  max_concurrent: whole(1, 1_000_000).nullable().default(null),
});

/**
 * Prices per token. The names are those of OpenRouter's catalog, the most copied one; where it counts whole images, here
 * as everywhere else a price is for one token. A kind without a price costs what its total costs: `prompt` for input,
 * `completion` for output.
 */
const PRICING = fields({
  prompt: money(),
  completion: money(),
  input_cache_read: money().optional(),
  input_cache_write: money().optional(),
  input_cache_write_1h: money().optional(),
  internal_reasoning: money().optional(),
  /** Input tokens that are images, and output tokens that are. */
  image: money().optional(),
  image_output: money().optional(),
  /** Likewise for audio. */
  audio: money().optional(),
  audio_output: money().optional(),
});

const FEATURES = ["tools", "reasoning", "prompt_caching", "structured_outputs", "response_format"] as const;
const EFFORTS = [
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
] as const satisfies readonly Effort[];

const MODEL = fields({
  id: matching(/^[!-)+-.0-~]+\/[!-)+-~]+$/, 'a model id "<provider>/<model>" in printable ASCII without "*"')
    .max(256, says("a model id of at most 256 characters")),
  /** Left out: the id. */
  name: matching(/\S/, "a display name").optional(),
  routes: listOf(
    fields({
      provider: z.string(says("the name of a provider")),
      model: matching(/\S/, "the provider's own name of the model"),
      /** Null: tried strictly in order. */
      weight: z.number(says("a number above 0")).positive(says("a number above 0")).nullable().default(null),
    }),
    "routes",
  ).min(1, says("a list of at least one route")),
  context_length: whole(1, 2 ** 31).nullable().default(null),
  max_completion_tokens: whole(1, 2 ** 31).nullable().default(null),
  pricing: PRICING.default({ prompt: "0", completion: "0" }),
  capabilities: fields({
    modality_input: listOf(choice("text", "image", "file", "audio", "video"), "modalities").default(["text"]),
    modality_output: listOf(choice("text", "image", "audio", "video"), "modalities").default(["text"]),
    features: listOf(choice(...FEATURES), "features").default([]),
  }).prefault({}),
  /** Null: not stated, so any level is passed on. */
  reasoning_efforts: listOf(choice(...EFFORTS), "reasoning efforts").nullable().default(null),
  short_names: listOf(
    matching(/^(?:[!-)+-.0-~]+\*?|\*)$/, 'a name without "/", with "*" only at its end'),
    "short names",
  ).default([]),
}).transform((model) => ({ ...model, name: model.name ?? model.id }));

const SEARCH = fields({
  engine: choice("searxng", "brave", "tavily", "mediawiki", "none").default("none"),
  /** Empty: the engine's public address. */
  base_url: urlOrNone(),
  api_key: credential().default(""),
  results: whole(1, 20).default(5),
  timeout_seconds: seconds(0.01).default(10),
  price: money().default("0.005"),
});

const STOP_WORD = fields({
  value: matching(/\S/, "some text"),
  match: choice("exact", "fuzzy").default("exact"),
});
const ALLOWED = fields({ value: matching(/\S/, "some text"), match: choice("exact").default("exact") });

const DLP_POLICY = fields({
  mode: choice("alert", "mask", "block"),
  /** Left out: the default set. Empty: none. */
  entity_types: listOf(matching(/\S/, "the name of an entity type"), "entity types").optional(),
  stop_words: listOf(STOP_WORD, "stop words").default([]),
  allowlist: listOf(ALLOWED, "allowed values").default([]),
  regexes: listOf(
    fields({
      name: matching(/\S/, "a name"),
      pattern: matching(/^[^]{1,512}$/, "an RE2 pattern of 1 to 512 characters"),
    }),
    "patterns",
  ).default([]),
});

const ACCESS_POLICY = fields({
  allow: listOf(pattern(), "catalog patterns").default(["*"]),
  deny: listOf(pattern(), "catalog patterns").default([]),
});

const KEY = fields({
  name: matching(/^[^\p{Cc}]{1,128}$/u, "a name of 1 to 128 characters"),
  secret: matching(/^sk_live_\S+$/, 'a secret that begins with "sk_live_"'),
  account: z.string(says("the name of an account")).default("default"),
  access_policy: z.string(says("the name of an access policy, or null")).nullable().default(null),
  dlp_policy: z.string(says("the name of a DLP policy, or null")).nullable().default(null),
  models: listOf(pattern(), "catalog patterns").nullable().default(null),
  spend_limit: fields({ amount: money(), period: choice("day", "week", "month", "total") }).nullable()
    .default(null),
  rate_limit: fields({
    requests_per_minute: whole(1, 2 ** 31).nullable().default(null),
    tokens_per_minute: whole(1, 2 ** 40).nullable().default(null),
  }).nullable().default(null),
  expires_at: z.iso.datetime({ offset: true, error: 'a time like "2030-01-31T00:00:00Z", or null' })
    .nullable().default(null),
});

export const CONFIG = fields({
  server: SERVER.prefault({}),
  store: STORE.prefault({}),
  admin_key: matching(/^[!-~]+$/, "printable ASCII without spaces or line breaks, or null").nullable()
    .default(null),
  providers: named(label(), PROVIDER),
  models: listOf(MODEL, "models").min(1, says("a list of at least one model")),
  auto: fields({
    models: listOf(z.string(says("the id of a model")), "model ids").default([]),
    quality: between(0, 1).default(0.5),
  }).prefault({}),
  search: SEARCH.prefault({}),
  dlp: fields({
    enabled: flag().default(true),
    /** What a policy in block mode does with an image, a PDF or anything else that has no text to scan. */
    on_unscannable: choice("pass", "block").default("pass"),
    /** Puts the originals back where an answer repeats the placeholders of a masked request. */
    restore: flag().default(false),
  }).prefault({}),
  dlp_policies: named(label(), DLP_POLICY).default({}),
  access_policies: named(label(), ACCESS_POLICY).default({}),
  accounts: listOf(
    fields({ name: label(), credits: money().nullable().default(null) }),
    "accounts",
  ).default([{ name: "default", credits: null }]),
  keys: listOf(KEY, "keys").default([]),
});

export type Config = z.infer<typeof CONFIG>;
export type ServerConfig = Config["server"];
export type StoreConfig = Config["store"];
export type ProviderConfig = Config["providers"][string];
export type ProviderApi = ProviderConfig["api"];
export type ModelConfig = Config["models"][number];
export type RouteConfig = ModelConfig["routes"][number];
export type Pricing = ModelConfig["pricing"];
export type AutoConfig = Config["auto"];
export type SearchConfig = Config["search"];
export type DlpConfig = Config["dlp"];
export type DlpPolicyConfig = Config["dlp_policies"][string];
export type AccessPolicyConfig = Config["access_policies"][string];
export type AccountConfig = Config["accounts"][number];
export type KeyConfig = Config["keys"][number];
