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
    .describe("Failures within the window that open the breaker, if half of the calls or more failed."),
  window_seconds: seconds(0.01).prefault(30).describe("Window that failures are counted in, in seconds."),
  open_seconds: seconds(0.01).prefault(15)
    .describe("How long, in seconds, an open breaker lets no call through before it tries one."),
});

const API = choice(FIRST_API, ...OTHER_APIS);
const [FIRST_PRESET, ...OTHER_PRESETS] = PRESET_NAMES;

/** A part of a host name or path. */
const place = (what: string) =>
  matching(/^[a-zA-Z\d][\w.:-]{0,127}$/, `${what} of letters, digits, "-", "_", "." and ":"`).optional();

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
    "Known provider whose API, address and environment variable for the key count where other fields are left out. Left out: the provider's name, if it is a preset's.",
  ),
  api: API.optional().describe(
    "API that the provider speaks. `demo` is a provider inside the gateway, for trying it out. Left out: the preset's.",
  ),
  base_url: urlOrNone().prefault("")
    .describe(
      "Address that the paths of the API follow, with its version: `https://api.openai.com/v1`. Not needed for `demo` and presets.",
    ),
  region: place("a region").describe(
    "For the presets `bedrock` and `bedrock-mantle`: region of AWS. Left out: `AWS_REGION`, `AWS_DEFAULT_REGION`, the profile's.",
  ),
  project: place("a project").describe(
    "For the preset `vertex`: project of Google Cloud. Left out: `GOOGLE_CLOUD_PROJECT`.",
  ),
  location: place("a location").describe(
    "For the preset `vertex`: location, as `global`, `eu` or `europe-west4`. Left out: `GOOGLE_CLOUD_LOCATION`, else `global`.",
  ),
  resource: place("a resource").describe(
    "For the preset `azure`: name of the resource, the first part of its host. Left out: `AZURE_RESOURCE_NAME`.",
  ),
  deployments: DEPLOYMENTS.prefault({}).describe(
    "For the preset `azure`: names of deployments by the names that routes have for the models, or a list of names where the two are the same. Those that no entry of `models` has a route to are in the catalog by themselves.",
  ),
  api_key: headerValue().prefault("")
    .describe(
      "API key, sent in the header that the API has for it. Empty: none is sent, as for a server of one's own.",
    ),
  auth: AUTH.prefault({ type: "key" }).describe("Where the provider's credential comes from."),
  headers: HEADERS.prefault({})
    .describe(
      "Headers added to every request. They win over those of the caller; lists of `anthropic-beta` are joined.",
    ),
  max_version: matching(/^\d{4}-\d{2}-\d{2}$/, 'a date, as "2023-06-01"').nullable().prefault(null)
    .describe(
      "Newest `anthropic-version` that the provider knows; callers who ask for a newer one are served with it. Null: " +
        "whichever callers ask for.",
    ),
  first_byte_seconds: seconds(0.01).prefault(120)
    .describe("Longest wait for the first byte of an answer, in seconds. Beyond it: 408 `provider_timeout`."),
  idle_seconds: seconds(0.01).prefault(120)
    .describe("Longest silence within an answer, in seconds. Beyond it: `provider_timeout`."),
  http2: flag().prefault(true)
    .describe(
      "Whether streams from the provider use HTTP/2, if it supports that. False: HTTP/1.1, if it supports that.",
    ),
  retries: whole(0, 10).prefault(2)
    .describe("Further tries of a route that fails before the first byte of its answer."),
  breaker: BREAKER.prefault({})
    .describe(
      "Circuit breaker that each model of the provider has: it stops calls to one that keeps failing.",
    ),
  pass_credentials: flag().prefault(false)
    .describe(
      "Whether callers pay this provider themselves: their credential, in the provider's own header, goes to it and to no other, " +
        "and their key of the gateway comes in `x-svc-key`. Calls are metered and limited, and billed at 0. `api_key` then only asks for the list of models.",
    ),
  max_concurrent: whole(1, 1_000_000).nullable().prefault(null)
    .describe("Most calls to the provider at once; others wait in line. Null: no limit. Workers divide it."),
  trace_context: flag().prefault(false)
    .describe(
      "Whether the provider is told, by `traceparent` and `tracestate`, where its requests stand in the caller's trace.",
    ),
}).superRefine(({ preset, api, region, project, location, resource }, context) => {
  const kind = presetNamed(preset);
  const given = { region, project, location, resource };
  for (const [field, input] of Object.entries(given)) {
    if (input === undefined || kind?.cloud?.fields.some(({ name }) => name === field)) continue;
    context.addIssue({
      code: "custom",
      path: [field],
      input,
      message: "no such field, which only certain presets have",
    });
  }
  if (kind?.cloud !== undefined || api !== undefined) return;
  for (const issue of API.schema.safeParse(undefined).error?.issues ?? []) {
    context.addIssue({ code: "custom", path: ["api"], input: undefined, message: issue.message });
  }
}).transform((provider): Omit<ConfiguredProvider, "name"> => {
  const { preset, api: name, apiKey, auth, region, project, location, resource, deployments, ...rest } =
    provider;
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
