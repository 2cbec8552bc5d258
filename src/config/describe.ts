/** What would run with a configuration, for `sluice check`: a few lines to read, without any secret. */
import { withoutPassword } from "./mistakes.ts";
import type { Config, ModelConfig } from "./schema.ts";

export function describe(config: Config): string {
  const { server, store, search, dlp } = config;
  const host = server.hostname.includes(":") ? `[${server.hostname}]` : server.hostname;
  const providers = Object.entries(config.providers);
  const lines = [
    `listens on http://${host}:${server.port}${server.workers > 1 ? ` with ${server.workers} workers` : ""}`,
    `store      ${withoutPassword(store.url)}, generations kept ${store.retention_days} days`,
    `admin      ${config.admin_key === null ? "off (no admin_key)" : "on"}`,
    `providers  ${providers.length}`,
    ...providers.map(([name, { api, base_url }]) =>
      `  ${name}: ${api}${base_url && ` at ${new URL(base_url).host}`}`
    ),
    `models     ${config.models.length}`,
    ...config.models.map((model) => `  ${model.id}: ${routes(model)}`),
    `svc/auto   ${
      config.auto.models.length ? `over ${config.auto.models.join(", ")}` : "off (no auto.models)"
    }`,
    `keys       ${config.keys.length} in the configuration, of ${plural(config.accounts.length, "account")}`,
    `search     ${search.engine}${search.base_url && ` at ${new URL(search.base_url).host}`}`,
    `DLP        ${dlp.enabled ? "on" : "off"}, ${
      plural(Object.keys(config.dlp_policies).length, "policy", "policies")
    }`,
  ];
  return lines.join("\n");
}

function routes(model: ModelConfig): string {
  return model.routes.map(({ provider, model: name, weight }) =>
    `${provider} (${name}${weight === null ? "" : `, weight ${weight}`})`
  ).join(", then ");
}

function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
