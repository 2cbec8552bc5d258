/**
 * The schema of the whole configuration, composed of the sections that other folders define: a field is added
 * in the folder that uses it. References between sections are checked in references.ts, since a schema stops
 * at the first mistake of an object, and an operator needs all of them at once.
 */
import { z } from "zod/mini";
import { ACCESS_POLICIES, ACCOUNTS, KEYS, TEAMS, WEBHOOKS } from "../accounts/config.ts";
import { ALERTS, SMTP } from "../alerts/config.ts";
import { ADMIN_KEY } from "../console/config.ts";
import { DLP, DLP_POLICIES } from "../dlp/config.ts";
import { SERVER } from "../http/config.ts";
import { OIDC } from "../http/oidc_config.ts";
import { AUTO_SECTION, CATALOG_SECTION, MODELS } from "../models/config.ts";
import { PAYLOADS } from "../payloads/config.ts";
import { PROVIDERS } from "../providers/config.ts";
import { choice, fields, flag, stringField, type Value } from "../schema/fields.ts";
import { STORE } from "../store/config.ts";
import { TELEMETRY } from "../telemetry/config.ts";
import { SEARCH } from "../websearch/config.ts";

export const CONFIG = fields({
  server: SERVER.prefault({}).describe("Address, limits and timeouts of the server."),
  store: STORE.prefault({}).describe("The database for keys, records and credits."),
  admin_key: ADMIN_KEY.prefault(null)
    .describe(
      "Credential for the administration API, the console and the metrics. `SLUICE_ADMIN_KEY` overrides it. Null: there is no admin key; without `oidc` there is no administration either.",
    ),
  oidc: OIDC.prefault(null).describe(
    "Identity provider (OpenID Connect) for signing in to the console. Null: no single sign-on.",
  ),
  providers: PROVIDERS.describe("Providers by name."),
  models: MODELS.prefault([]).describe(
    "The catalog of models. Fields that an entry does not set are taken from the model that a provider lists under the same id, if there is one.",
  ),
  catalog: CATALOG_SECTION.prefault({}).describe(
    "How the models in the providers' lists are added to the catalog.",
  ),
  auto: AUTO_SECTION.prefault({}).describe("Automatic choice of the model (`svc/auto`)."),
  search: SEARCH.prefault({}).describe("The search engine for web searches."),
  dlp: DLP.prefault({}).describe("Data-loss prevention (DLP)."),
  dlp_policies: DLP_POLICIES.prefault({}).describe("DLP policies by name; keys and teams refer to them."),
  access_policies: ACCESS_POLICIES.prefault({}).describe(
    "Access policies by name; keys and teams refer to them.",
  ),
  accounts: ACCOUNTS.prefault([{ name: "default", credits: null }])
    .describe(
      "Accounts with their credits. Keys and teams of this file may use only accounts of this list. Keys of the store may also use `default`, which always exists; it has unlimited credits if it is not in the list.",
    ),
  teams: TEAMS.prefault([]).describe(
    "Teams. Keys refer to them; the limits of the team apply in addition to those of the key.",
  ),
  webhooks: WEBHOOKS.prefault([]).describe("Webhooks that are called when budgets run out."),
  alerts: ALERTS.prefault([]).describe("Alert rules and the receivers of their notifications."),
  smtp: SMTP.nullable().prefault(null).describe("Mail server for alerts to `email`. Null: none."),
  payloads: PAYLOADS.nullable().prefault(null).describe(
    "Payload log: stores the requests and answers of keys and policies with `payloads: true`, encrypted, as they are after masking. Null: nothing is stored.",
  ),
  keys: KEYS.prefault([]).describe("Keys that exist as long as they are in this file."),
  logs: choice("text", "json").prefault("text")
    .describe(
      "Format of the log. `text`: lines on standard error. `json`: JSON lines on standard output, including a line for each generation. A change needs a restart.",
    ),
  log_level: choice("info", "warn").prefault("info")
    .describe(
      "Minimum level of log lines. `warn` also leaves out generations that did not fail. A change needs a restart.",
    ),
  log_generations: flag().nullable().prefault(null)
    .describe(
      "Whether each generation is logged as a line. Null: only with `logs: json`. A change needs a restart.",
    ),
  telemetry: TELEMETRY.prefault({}).describe("Settings of OpenTelemetry, which `OTEL_DENO=true` enables."),
  $schema: stringField("the address of a JSON Schema").optional()
    .describe(
      "URL of the JSON Schema of the configuration, for editors: `http://HOST:PORT/config.schema.json`.",
    ),
});

export type Config = Value<typeof CONFIG>;

/** A reference to an environment variable, whose value is unknown to readers of the file. */
const VARIABLE = String.raw`\$\{\w+\}`;

/** The JSON Schema of the configuration as it is written, with the description and default of every field. */
export function configJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(CONFIG.schema, {
    io: "input",
    override({ zodSchema, jsonSchema }) {
      // zod leaves the default out if a given value is transformed.
      const { def } = zodSchema._zod;
      if (def.type === "default") jsonSchema.default = def.defaultValue;
      if (jsonSchema.pattern !== undefined) jsonSchema.pattern = `${jsonSchema.pattern}|${VARIABLE}`;
    },
  });
  return { ...schema, title: "Configuration of Sluice" };
}
