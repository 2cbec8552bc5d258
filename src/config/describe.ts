/** A summary of a configuration for `sluice check`: a few lines, without secrets. */
import { countOf } from "../exchange/printable.ts";
import type { Model } from "../models/catalog.ts";
import { withoutPassword } from "../schema/mistakes.ts";
import type { Config } from "./schema.ts";

/** The lines to print, without a line break at the end. */
export function describe(config: Config): string {
  const { server, store, search, dlp } = config;
  const host = server.hostname.includes(":") ? `[${server.hostname}]` : server.hostname;
  const lines = [
    `listens on ${server.tls ? "https" : "http"}://${host}:${server.port}${
      server.workers > 1 ? ` with ${server.workers} workers` : ""
    }`,
    `store      ${withoutPassword(store.url)}, generations kept ${countOf(store.retentionDays, "day")}`,
    `admin      ${config.adminKey === null && config.oidc === null ? "off (no admin_key)" : "on"}${
      config.oidc === null ? "" : `, sign-in with ${config.oidc.issuer}`
    }`,
    `providers  ${config.providers.length}`,
    ...config.providers.map(({ name, api, baseUrl }) =>
      `  ${name}: ${api.name}${baseUrl && ` at ${new URL(baseUrl).host}`}`
    ),
    `models     ${config.models.length > 0 ? config.models.length : "those that the providers list"}`,
    ...config.models.map((model) => `  ${model.id}: ${routes(model)}`),
    `svc/auto   ${
      config.auto.models.length ? `over ${config.auto.models.join(", ")}` : "off (no auto.models)"
    }`,
    `keys       ${config.keys.length} in the configuration, of ${countOf(config.accounts.length, "account")}`,
    ...(config.teams.length === 0 ? [] : [`teams      ${config.teams.map(({ name }) => name).join(", ")}`]),
    `search     ${search.engine}${search.baseUrl && ` at ${new URL(search.baseUrl).host}`}`,
    ...(config.payloads === null ? [] : [`payloads   ${describePayloads(config.payloads)}`]),
    ...(config.alerts.length === 0 ? [] : [`alerts     ${config.alerts.map(({ name }) => name).join(", ")}`]),
    ...(config.webhooks.length === 0 ? [] : [`webhooks   ${config.webhooks.length}`]),
    `DLP        ${dlp.enabled ? "on" : "off"}, ${
      countOf(Object.keys(config.dlpPolicies).length, "policy", "policies")
    }`,
  ];
  return lines.join("\n");
}

function describePayloads({ to, retentionDays, readers }: NonNullable<Config["payloads"]>): string {
  const place = to.kind === "file" ? `files in ${to.folder}` : `s3://${to.bucket}/${to.prefix}`;
  return `${place}, kept ${countOf(retentionDays, "day")}, read by ${readers.join(", ") || "nobody"}`;
}

function routes(model: Model): string {
  return model.routes.map(({ provider, model: name, api, weight }) =>
    `${provider} (${name}${api === undefined ? "" : ` over ${api}`}${
      weight === null ? "" : `, weight ${weight}`
    })`
  ).join(", then ");
}
