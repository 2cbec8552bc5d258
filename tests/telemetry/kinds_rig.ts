/** A gateway with everything switched on that could keep a word: its configuration, store, collector, pages and administration. */
import { assert, assertEquals } from "@std/assert";
import { S3_KEYS } from "../payloads/s3_server.ts";
import { makeCluster, postgresHere } from "../support/cluster.ts";
import { CLIENT, type OidcProvider } from "../support/oidc_provider.ts";
import type { Serving } from "../support/program.ts";
import { APIS, PASSING } from "./kinds.ts";
import { SECRETS } from "./kinds_provider.ts";
import { latin1 } from "./receiver.ts";

export const BUCKET = "payloads";

/** Of operators. */
export const OWN = {
  admin: "canary-admin-key-000000-44aa",
  database: "canarydatabase3c7f",
  oidc: "canary-oidc-secret-9b2d",
  smtp: "canary-smtp-password-6a1e",
  webhook: "canary-webhook-token-7f03",
  signature: "canary-webhook-secret-2d58",
  slack: "canary-slack-token-c4b9",
  payloads: "canary-payload-key-f1d6",
  pepper: "canary-pepper-e8a0",
  search: "canary-search-key-5b47",
  access: "canary-access-token-1c88",
  collector: "canary-collector-key-0e93",
  s3: S3_KEYS.secret_access_key,
} as const;

/** A collector that speaks gRPC, and keeps the bytes. `node:http2` may end the process with a failed assertion when a session goes away (Deno 2.9.6). */
export function grpcReceiver() {
  const raw: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    raw.push(latin1(new Uint8Array(await request.arrayBuffer())));
    return new Response(new Uint8Array(5), {
      headers: { "content-type": "application/grpc", "grpc-status": "0" },
    });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    raw,
    close: () => server.shutdown(),
  };
}

/** The bytes of all files, each a character. */
async function bytesIn(folder: string, wanted: (path: string) => boolean): Promise<string> {
  let text = "";
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) text += await bytesIn(path, wanted);
    else if (wanted(path)) text += latin1(await Deno.readFile(path).catch(() => new Uint8Array()));
  }
  return text;
}

interface Store {
  url: string;
  bytes(): Promise<string>;
  close(): Promise<void>;
}

export async function storeOf(kind: "sqlite" | "postgres", cwd: string): Promise<Store> {
  if (kind === "sqlite" || postgresHere === null) {
    return {
      url: "sqlite:./canary.db",
      bytes: () => bytesIn(cwd, (path) => path.includes("canary.db")),
      close: () => Promise.resolve(),
    };
  }
  const cluster = await makeCluster();
  return {
    url: cluster.url.replace("sluice@", `sluice:${OWN.database}@`),
    // Tables and the log of changes, without what was there before and room that is not used yet.
    bytes: async () =>
      (await bytesIn(`${cluster.folder}/data`, (path) => /\/(?:base\/5|pg_wal)\//.test(path)))
        .replaceAll(/\0{2,}/g, "\0"),
    close: () => cluster.remove(),
  };
}

export function configuration(urls: {
  provider: string;
  engine: string;
  hook: string;
  slack: string;
  mailPort: number;
  store: string;
  s3: string;
  issuer: string;
}) {
  const priced = { prompt: "0.000001", completion: "0.000001" };
  const capabilities = { features: ["tools"], modality_input: ["text", "image", "file"] };
  const provider = (api: string, more = {}) => ({
    api,
    base_url: urls.provider,
    api_key: SECRETS.provider,
    retries: 1,
    breaker: { failures: 1_000_000 },
    trace_context: true,
    ...more,
  });
  const model = (name: string) => ({
    id: `${name}/m`,
    routes: [{ provider: name, model: "m" }],
    pricing: priced,
    capabilities,
  });
  const policy = (mode: string) => ({ mode, entity_types: ["EMAIL_ADDRESS"], answers: mode });
  return {
    logs: "json",
    telemetry: { langfuse: true },
    admin_key: OWN.admin,
    store: { url: urls.store, pepper: OWN.pepper },
    oidc: {
      issuer: urls.issuer,
      client_id: CLIENT.id,
      client_secret: OWN.oidc,
      roles: { claim: "groups", map: { admins: "owner" } },
    },
    alerts: [{
      name: "errors",
      when: { metric: "error_rate", above: 0.001, over: "10m", least: 5 },
      for: "0s",
      to: [
        { slack: `${urls.slack}/${OWN.slack}` },
        { email: ["ops@example.com"] },
        { webhook: `${urls.hook}/${OWN.webhook}`, secret: OWN.signature },
      ],
    }],
    smtp: {
      host: "127.0.0.1",
      port: urls.mailPort,
      security: "none",
      user: "sluice",
      password: OWN.smtp,
      from: "sluice@example.com",
    },
    payloads: {
      to: `s3://${BUCKET}/x`,
      endpoint: urls.s3,
      region: "eu-central-1",
      key: OWN.payloads,
      ...S3_KEYS,
    },
    providers: {
      ...Object.fromEntries(APIS.map((api) => [api, provider(api)])),
      ...Object.fromEntries(
        PASSING.map((api) => [`passing-${api}`, provider(api, { pass_credentials: true })]),
      ),
    },
    models: [...APIS, ...PASSING.map((api) => `passing-${api}`)].map(model),
    search: { engine: "searxng", base_url: urls.engine, api_key: OWN.search, price: "0" },
    dlp_policies: { strict: policy("block"), masked: policy("mask") },
    keys: [
      { name: "open", secret: SECRETS.open },
      { name: "strict", secret: SECRETS.strict, dlp_policy: "strict", payloads: true },
      { name: "masked", secret: SECRETS.masked, dlp_policy: "masked" },
      { name: "kept", secret: SECRETS.kept, payloads: true },
    ],
  };
}

/** All of the administration that an operator can read. */
const PAGES = [
  "accounts",
  "attention",
  "audit",
  "audit?kind=dlp",
  "config",
  "generations?limit=200",
  "keys",
  "models",
  "overview",
  "policies",
  "providers",
  "sessions",
  "teams",
  "tokens",
  "usage?by=key,model",
];

/** What the console shows of calls as they come and go, which has no end by itself. */
export async function watch(program: Serving): Promise<{ text(): string; stop(): Promise<void> }> {
  const response = await fetch(`${program.url}/admin/live`, {
    headers: { authorization: `Bearer ${OWN.admin}` },
  });
  assertEquals(response.status, 200);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const reading = (async () => {
    for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value;
  })();
  return {
    text: () => text,
    async stop() {
      await reader.cancel();
      await reading;
    },
  };
}

export async function administration(
  program: Serving,
  issuer: OidcProvider,
): Promise<{ pages: string; created: string[] }> {
  const admin = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${program.url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${OWN.admin}`, accept: "application/json" },
    });
    return { status: response.status, text: await response.text() };
  };
  const created: string[] = [];
  for (
    const [path, body] of [["/admin/tokens", { name: "t", role: "auditor" }], ["/admin/keys", {
      name: "k",
    }]] as const
  ) {
    const { status, text } = await admin(path, { method: "POST", body: JSON.stringify(body) });
    assert(status < 300, text);
    created.push(JSON.parse(text).secret);
  }
  // Whoever shows a secret in the wrong place is refused, and not repeated.
  const wrong = await fetch(`${program.url}/admin/keys?token=${created[0]}`, {
    headers: { authorization: `Bearer ${created[0]}x` },
  });
  assertEquals(wrong.status, 401);
  let pages = await wrong.text();
  for (const page of PAGES) {
    const { status, text } = await admin(`/admin/${page}`);
    assertEquals(status, 200, `${page}: ${text}`);
    pages += `\n${page}: ${text}`;
  }
  const { data } = JSON.parse((await admin("/admin/generations?limit=50")).text);
  for (const { id } of data) pages += (await admin(`/admin/generations/${id}`)).text;
  const metrics = await admin("/metrics");
  assert(metrics.text.includes("sluice_generations_total"));
  // The browser alone has the code and the cookies.
  const start = await fetch(`${program.url}/console/oidc/start`, { redirect: "manual" });
  await start.body?.cancel();
  const back = new URL(await issuer.authorize(start.headers.get("location")!));
  const [flow] = start.headers.getSetCookie()[0].split(";");
  const signedIn = await fetch(back, { redirect: "manual", headers: { cookie: flow } });
  const shown = await signedIn.text();
  assertEquals(signedIn.status, 303, shown);
  const session = signedIn.headers.getSetCookie().find((cookie) => !cookie.startsWith("sluice_oidc"))!;
  created.push(back.searchParams.get("code")!, session.split(";")[0].split("=")[1], flow.split("=")[1]);
  pages += (await admin("/admin/audit")).text + (await admin("/admin/sessions")).text + shown;
  return { pages: pages + metrics.text + start.headers.get("location"), created };
}
