/** The section `providers` of the configuration. */
import {
  choice,
  Field,
  fields,
  flag,
  headerValue,
  label,
  listOf,
  matching,
  named,
  nonBlank,
  says,
  seconds,
  urlOrNone,
  whole,
} from "../schema/fields.ts";
import { z } from "zod/mini";
import { inDialect } from "./apis/chat_dialects.ts";
import { API_NAMES, apiNamed } from "./apis/mod.ts";
import { AUTH } from "./credentials/config.ts";
import type { AuthSettings } from "./credentials/open_credential.ts";
import { PRESET_NAMES, PRESETS } from "./presets.ts";
import type { Provider } from "./provider.ts";

const [FIRST_API, ...OTHER_APIS] = API_NAMES;

/** Headers set by the gateway itself: other values would make the request or its answer unreadable. */
const OWN_HEADERS = new Set([
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const HEADERS = named(
  matching(/^[\w!#$%&'*+.^`|~-]+$/, "a header name").refine(
    (name) => !OWN_HEADERS.has(name.toLowerCase()),
    says(`a header that is not the gateway's own, as ${[...OWN_HEADERS].join(", ")} are`),
  ),
  matching(/^[\t -~\x80-\xff]*$/, "a header value without line breaks"),
).superRefine((headers, context) => {
  const seen = new Set<string>();
  for (const name of Object.keys(headers)) {
    const folded = name.toLowerCase();
    if (seen.has(folded)) {
      context.addIssue({
        code: "custom",
        input: headers[name],
        path: [name],
        message: "one value for a header, in whatever case its name is",
      });
    }
    seen.add(folded);
  }
});

const BREAKER = fields({
  failures: whole(1, 1_000_000).prefault(5)
    .describe(
      "Number of failures within the window that opens the breaker, if at least half of the calls failed.",
    ),
  window_seconds: seconds(0.01).prefault(30).describe(
    "Length of the window in which failures are counted, in seconds.",
  ),
  open_seconds: seconds(0.01).prefault(15)
    .describe(
      "Time in seconds for which an open breaker refuses all calls, before it lets at most two at a time through as a test.",
    ),
});

const API = choice(FIRST_API, ...OTHER_APIS);
const [FIRST_PRESET, ...OTHER_PRESETS] = PRESET_NAMES;

/** A part of a host name or path. */
const place = (what: string) =>
  matching(/^[a-zA-Z\d][\w.:-]{0,127}$/, `${what} of letters, digits, "-", "_", "." and ":"`).optional();

const pemFile = (what: string) =>
  nonBlank(4096, "the path of a file").nullable().prefault(null).describe(what);

const TLS = fields({
  ca: pemFile("Path of a PEM file with authorities that are trusted besides those of the machine."),
  cert: pemFile(
    "Path of a PEM file with the certificate that the gateway sends, followed by its intermediate certificates.",
  ),
  key: pemFile("Path of a PEM file with the private key of `cert`."),
}).superRefine(({ cert, key }, context) => {
  if ((cert === null) === (key === null)) return;
  const path = cert === null ? "cert" : "key";
  context.addIssue({ code: "custom", path: [path], input: null, message: "both cert and key, or neither" });
});

const THINK_TAGS = fields({
  name: matching(/^[\w:|-]{1,32}$/, "the name of a tag, as think for <think>").prefault("think").describe(
    "Name of the tag: `think` for `<think>` and `</think>`.",
  ),
  prefilled: flag().prefault(false).describe(
    "Whether the chat template of the model writes the first tag, so that the answer begins within the reasoning and has only the second one.",
  ),
});

const MODEL_NAME = matching(/^[^\p{Cc}\p{Z}]{1,256}$/u, "the name of a model without spaces");

const BY_MODEL = named(
  MODEL_NAME,
  matching(/^[^\p{Cc}\p{Z}]{1,256}$/u, "the name of a deployment without spaces"),
);

const DEPLOYMENTS = new Field(() =>
  z.union(
    [BY_MODEL.schema, listOf(MODEL_NAME, "names of deployments").schema],
    says("names of deployments by the names of models, or a list of names that are both"),
  )
).transform((deployments): Readonly<Record<string, string>> =>
  Array.isArray(deployments) ? Object.fromEntries(deployments.map((name) => [name, name])) : deployments
);

/** Values of a preset are defaults for the configured fields. */
const presetNamed = (name: string | undefined) => PRESETS.find((known) => known.name === name);

const PROVIDER = fields({
  preset: choice(FIRST_PRESET, ...OTHER_PRESETS).optional().describe(
    "Preset whose API, URL and environment variable for the key are used for fields that are not set. Not set: the preset with the same name as the provider, if there is one.",
  ),
  api: API.optional().describe(
    "API of the provider. `demo` is a model inside the gateway, for tests. Not set: the API of the preset.",
  ),
  base_url: urlOrNone().prefault("")
    .describe(
      "Base URL, including the version: `https://api.openai.com/v1`. Required except for `demo` and presets.",
    ),
  region: place("a region").describe(
    "For the presets `bedrock` and `bedrock-mantle`: AWS region. Not set: `AWS_REGION`, `AWS_DEFAULT_REGION`, or the region of the AWS profile.",
  ),
  project: place("a project").describe(
    "For the preset `vertex`: Google Cloud project. Not set: `GOOGLE_CLOUD_PROJECT`.",
  ),
  location: place("a location").describe(
    "For the preset `vertex`: location, for example `global`, `eu` or `europe-west4`. Not set: `GOOGLE_CLOUD_LOCATION`, else `global`.",
  ),
  resource: place("a resource").describe(
    "For the preset `azure`: name of the resource, which is the first part of its host name. Not set: `AZURE_RESOURCE_NAME`.",
  ),
  deployments: DEPLOYMENTS.prefault({}).describe(
    "For the preset `azure`: an object that maps the model names in routes to names of deployments, or a list of names if both are the same. Deployments without a route in `models` are added to the catalog.",
  ),
  api_key: headerValue().prefault("")
    .describe(
      "API key, sent in the header that the API requires. Empty: the environment variable of the preset, if a preset applies; otherwise no key is sent.",
    ),
  auth: AUTH.prefault({ type: "key" }).describe(
    "Type and source of the provider's credential. Not set: that of the preset, else `api_key`.",
  ),
  headers: HEADERS.prefault({})
    .describe(
      "Headers that are added to every request. They override headers of the caller; the values of `anthropic-beta` are merged.",
    ),
  max_version: matching(/^\d{4}-\d{2}-\d{2}$/, 'a date, as "2023-06-01"').nullable().prefault(null)
    .describe(
      "Newest `anthropic-version` that the provider supports; it replaces newer versions in callers' requests. Null: the callers' versions are sent.",
    ),
  first_byte_seconds: seconds(0.01).prefault(120)
    .describe("Timeout for the first byte of an answer, in seconds. Then: 408 `provider_timeout`."),
  idle_seconds: seconds(0.01).prefault(120)
    .describe("Timeout for each pause within an answer, in seconds. Then: `provider_timeout`."),
  tls: TLS.nullable().prefault(null).describe(
    "TLS of the connections to this provider: a certificate that the gateway sends (mutual TLS), an authority that signed the provider's certificate. Streams use HTTP/1.1 then. A reload (SIGHUP) reads the files again. Null: no certificate is sent, and the authorities of the machine are trusted.",
  ),
  http2: flag().prefault(true)
    .describe(
      "Whether streams from the provider use HTTP/2, if the provider supports it. False: HTTP/1.1, if the provider supports it.",
    ),
  retries: whole(0, 10).prefault(2)
    .describe("Maximum number of retries of a route that fails before the first byte of its answer."),
  breaker: BREAKER.prefault({})
    .describe(
      "Circuit breaker. Each model of the provider has its own; it stops calls to a model that keeps failing.",
    ),
  pass_credentials: flag().prefault(false)
    .describe(
      "Whether callers pay this provider themselves. They send their own credential in the provider's usual header, and their Sluice key in `x-svc-key`. The credential is sent to this provider only. The calls are metered and limited, and billed at 0. `api_key` is then used only to request the list of models.",
    ),
  think_tags: THINK_TAGS.nullable().prefault(null).describe(
    "Tags at the beginning of an answer's text between which the provider's models write their reasoning: `{}` for `<think>` and `</think>`. What is between them becomes reasoning, and is sent back within the tags. Null: it is text.",
  ),
  max_concurrent: whole(1, 1_000_000).nullable().prefault(null)
    .describe(
      "Maximum number of concurrent calls to the provider; further calls wait in a queue. Null: no limit. Divided among the workers.",
    ),
  trace_context: flag().prefault(false)
    .describe(
      "Whether `traceparent` and `tracestate`, or the headers of `OTEL_PROPAGATORS`, are sent to the provider, so that its spans join the trace of the caller.",
    ),
}).superRefine(({ preset, api, region, project, location, resource, baseUrl, tls }, context) => {
  if (tls !== null && /^http:/i.test(baseUrl)) {
    context.addIssue({
      code: "custom",
      path: ["tls"],
      input: tls,
      message: "no value (base_url has no TLS)",
    });
  }
  const kind = presetNamed(preset);
  const given = { region, project, location, resource };
  for (const [field, input] of Object.entries(given)) {
    if (input === undefined || kind?.cloud?.fields.some(({ name }) => name === field)) continue;
    const having = PRESETS.filter(({ cloud }) => cloud?.fields.some(({ name }) => name === field));
    const message = `no value (only for ${having.map(({ name }) => `the preset ${name}`).join(" and ")})`;
    context.addIssue({ code: "custom", path: [field], input, message });
  }
  if (kind?.cloud !== undefined || api !== undefined) return;
  for (const issue of API.schema.safeParse(undefined).error?.issues ?? []) {
    context.addIssue({ code: "custom", path: ["api"], input: undefined, message: issue.message });
  }
}).transform((provider): Omit<ConfiguredProvider, "name"> => {
  const {
    preset,
    api: name,
    apiKey,
    auth,
    region,
    project,
    location,
    resource,
    deployments,
    tls,
    thinkTags,
    ...others
  } = provider;
  const rest = { ...others, ...(tls !== null && { tls }), ...(thinkTags !== null && { thinkTags }) };
  const credential: AuthSettings = auth.type === "key" ? { type: "key", key: apiKey } : auth;
  const kind = presetNamed(preset);
  if (kind?.cloud !== undefined) {
    const cloud = kind.cloud.open({
      api: name ?? null,
      region: region ?? null,
      project: project ?? null,
      location: location ?? null,
      resource: resource ?? null,
      deployments,
    });
    return {
      ...rest,
      preset: preset!,
      api: { ...cloud.api(undefined, ""), modelsList: kind.cloud.modelsList },
      cloud,
      auth: credential,
    };
  }
  const api = inDialect(apiNamed(name!), preset ?? null, rest.baseUrl);
  const listed = kind?.list === undefined ? api : { ...api, modelsList: kind.list };
  return { ...rest, preset: preset ?? null, api: listed, auth: credential };
});

/** A provider whose credential has not been created yet. */
export interface ConfiguredProvider extends Omit<Provider, "credential"> {
  /** Its preset; null: none. */
  preset: string | null;
  auth: AuthSettings;
}

export const PROVIDERS = named(label(), PROVIDER)
  .transform((providers): ConfiguredProvider[] =>
    Object.entries(providers).map(([name, provider]) => ({ name, ...provider }))
  );
