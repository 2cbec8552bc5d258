/**
 * The whole configuration, composed of the sections that the rooms describe: a field is added in the schema of the room that
 * uses it. References between sections are checked in references.ts, since a schema gives up on an object at its first mistake
 * and an operator wants all of them at once.
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
  server: SERVER.prefault({}).describe("Where the gateway listens, and how much it takes on."),
  store: STORE.prefault({}).describe("Where keys, records and credits are kept."),
  admin_key: ADMIN_KEY.prefault(null)
    .describe(
      "Credential of the administration API, the console and the metrics. `SLUICE_ADMIN_KEY` wins over it. Null: there is no " +
        "administration.",
    ),
  oidc: OIDC.prefault(null).describe(
    "Identity provider (OpenID Connect) with which people sign in to the console. Null: nobody does.",
  ),
  providers: PROVIDERS.describe("Providers by name."),
  models: MODELS.prefault([]).describe(
    "Catalog of models. Fields that an entry leaves out are those of the model that a provider lists under the same id, if one does.",
  ),
  catalog: CATALOG_SECTION.prefault({}).describe("How models that providers list join the catalog."),
  auto: AUTO_SECTION.prefault({}).describe("What `svc/auto` chooses from, and how."),
  search: SEARCH.prefault({}).describe("Engine that web search asks."),
  dlp: DLP.prefault({}).describe("Data-loss prevention."),
  dlp_policies: DLP_POLICIES.prefault({}).describe("DLP policies by name; a key names one."),
  access_policies: ACCESS_POLICIES.prefault({}).describe("Access policies by name; a key names one."),
  accounts: ACCOUNTS.prefault([{ name: "default", credits: null }])
    .describe(
      "Accounts, each with its credits. Keys and teams of the file name accounts of this list. Keys of the store may have `default`, too, which is always there; it has no end where the list does not name it.",
    ),
  teams: TEAMS.prefault([]).describe("Teams; a key names one, whose limits hold beside its own."),
  webhooks: WEBHOOKS.prefault([]).describe("Addresses that are told when budgets run out."),
  alerts: ALERTS.prefault([]).describe(
    "Rules over what is measured, and who is told when one of them is broken.",
  ),
  smtp: SMTP.nullable().prefault(null).describe(
    "Mail server for alerts that go to `email`. Null: there is none.",
  ),
  payloads: PAYLOADS.nullable().prefault(null).describe(
    "Payload log: requests and answers of the keys and policies that say `payloads: true`, as they are after masking, " +
      "encrypted. Null: nothing is kept.",
  ),
  keys: KEYS.prefault([]).describe("Keys that exist as long as the configuration names them."),
  logs: choice("text", "json").prefault("text")
    .describe(
      "`text`: events as lines on standard error. `json`: events and each generation as lines of JSON on standard output. A " +
        "change takes a restart.",
    ),
  log_level: choice("info", "warn").prefault("info")
    .describe(
      "The least level of lines of the log. `warn`: also of generations only those that failed. A change takes a restart.",
    ),
  log_generations: flag().nullable().prefault(null)
    .describe(
      'Whether each generation is a line of the log. Null: with `logs: "json"`. A change takes a restart.',
    ),
  telemetry: TELEMETRY.prefault({}).describe("OpenTelemetry, where `OTEL_DENO` switches it on."),
  $schema: stringField("the address of a JSON Schema").optional()
    .describe(
      "Address of the JSON Schema of the configuration, for editors: `http://HOST:PORT/config.schema.json`.",
    ),
});

export type Config = Value<typeof CONFIG>;

/** What stands for a variable of the environment, whose value nobody knows who looks at the file. */
const VARIABLE = String.raw`\$\{\w+\}`;

/** The JSON Schema of the configuration as it is written, with every field's description and default. */
export function configJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(CONFIG.schema, {
    io: "input",
    override({ zodSchema, jsonSchema }) {
      // zod leaves it out where a value that is given is transformed.
      const { def } = zodSchema._zod;
      if (def.type === "default") jsonSchema.default = def.defaultValue;
      if (jsonSchema.pattern !== undefined) jsonSchema.pattern = `${jsonSchema.pattern}|${VARIABLE}`;
    },
  });
  return { ...schema, title: "Configuration of Sluice" };
}
