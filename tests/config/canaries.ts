/** A configuration with a secret in every place that may hold one, each told from all others, and a look for all of them in a text. */
import { assert } from "@std/assert";
import { disguises } from "../../src/outgoing/disguises.ts";

let made = 0;
const canary = (what: string) => `canary${++made}x${what}x7d1f44a90b3e`;

export const ADMIN = canary("admin");
export const KEY = `sk_live_${canary("key")}`;
export const S = {
  pepper: canary("pepper"),
  database: canary("database"),
  provider: canary("provider"),
  header: canary("header"),
  awsSecret: canary("awssecret"),
  awsSession: canary("awssession"),
  azure: canary("azure"),
  google: canary("google"),
  search: canary("search"),
  oidc: canary("oidc"),
  webhook: canary("webhook"),
  slack: canary("slack"),
  alert: canary("alert"),
  smtp: canary("smtp"),
  payload: canary("payload"),
  s3: canary("sthree"),
};
/** Of those who call and sign in. */
export const OF_OTHERS = {
  vendor: canary("vendor"),
  code: canary("code"),
  token: canary("token"),
};
export const ALL = [ADMIN, KEY, ...Object.values(S), ...Object.values(OF_OTHERS)];

/** @param text as told @param where for the message */
export function clean(text: string, where: string, but: readonly string[] = []): void {
  for (const secret of ALL) {
    if (but.includes(secret)) continue;
    // Long texts are looked at piece by piece.
    for (let at = 0; at < text.length; at += 80_000) {
      const piece = text.slice(at, at + 100_000);
      const told = piece.includes(secret) || disguises(piece, [secret]);
      assert(
        !told,
        `${where} tells ${secret.split("x")[1]}: ${
          piece.slice(Math.max(0, piece.indexOf(secret) - 200), piece.indexOf(secret) + 60)
        }`,
      );
    }
  }
}

const model = (name: string) => ({
  id: `a/${name}`,
  routes: [{ provider: name, model: "m" }],
  pricing: { prompt: "0.000001", completion: "0.000001" },
});

export function configuration(url: string, folder: string, smtpPort = 9) {
  const named = { api: "openai-chat", base_url: `${url}/v1`, retries: 0 };
  return {
    server: { shutdown_grace_seconds: 1 },
    admin_key: ADMIN,
    store: { url: `sqlite:${folder}/data/s.db`, pepper: S.pepper },
    oidc: {
      issuer: url,
      client_id: "client",
      client_secret: S.oidc,
      roles: { claim: "groups", map: { admins: "owner" } },
    },
    providers: {
      plain: { ...named, api_key: S.provider, headers: { "x-extra-secret": S.header } },
      aws: {
        ...named,
        auth: {
          type: "aws",
          region: "eu-central-1",
          access_key_id: "AKIDEXAMPLE",
          secret_access_key: S.awsSecret,
          session_token: S.awsSession,
        },
      },
      role: {
        ...named,
        auth: {
          type: "aws",
          region: "eu-central-1",
          role_arn: "arn:aws:iam::123456789012:role/r",
          access_key_id: "AKIDEXAMPLE",
          secret_access_key: S.awsSecret,
          session_token: S.awsSession,
        },
      },
      azure: {
        ...named,
        auth: { type: "azure", tenant_id: "t", client_id: "c", client_secret: S.azure },
      },
      google: { ...named, auth: { type: "google", credentials_file: `${folder}/google.json` } },
      passing: { ...named, pass_credentials: true },
    },
    models: ["plain", "aws", "role", "azure", "google", "passing"].map(model),
    search: { engine: "brave", base_url: url, api_key: S.search },
    keys: [{ name: "k", secret: KEY, payloads: true }],
    webhooks: [{ url: `${url}/hook`, secret: S.webhook, events: ["budget.50", "budget.80", "budget.100"] }],
    alerts: [{
      name: "errors",
      when: { metric: "error_rate", above: 0, least: 1 },
      for: "0s",
      to: [
        { webhook: `${url}/alert`, secret: S.alert },
        { slack: `${url}/services/${S.slack}` },
        { email: ["ops@corp.example"] },
      ],
    }],
    smtp: {
      host: "127.0.0.1",
      port: smtpPort,
      security: "none",
      user: "mailer",
      password: S.smtp,
      from: "sluice@corp.example",
    },
    payloads: {
      to: "s3://bucket/x",
      key: S.payload,
      endpoint: url,
      region: "eu-central-1",
      access_key_id: "AKIDEXAMPLE",
      secret_access_key: S.s3,
    },
  };
}

/** All places of a value, with what stands there. */
export function* places(
  value: unknown,
  path: (string | number)[] = [],
): Generator<[(string | number)[], string]> {
  if (typeof value === "string") yield [path, value];
  else if (typeof value === "object" && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      yield* places(inner, [...path, Array.isArray(value) ? Number(name) : name]);
    }
  }
}

/** A copy with one change at this place. */
export function withAt(
  value: unknown,
  path: readonly (string | number)[],
  change: (node: Record<string, unknown>, name: string) => void,
): unknown {
  const copy = structuredClone(value) as Record<string, unknown>;
  let node = copy;
  for (const step of path.slice(0, -1)) node = node[step] as Record<string, unknown>;
  change(node, String(path.at(-1)));
  return copy;
}
