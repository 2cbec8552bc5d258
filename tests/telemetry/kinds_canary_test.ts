/**
 * Calls of every kind at every provider API, with words and secrets that are found nowhere where operators look: not in logs,
 * traces, metrics, alerts, audit, the administration and the store; in the payload log only encrypted, of the key that it is on for,
 * and not after its time. Each of the protocols of OTLP has a gateway of its own.
 */
import { assert, assertEquals } from "@std/assert";
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { openPayloads } from "../../src/payloads/mod.ts";
import { PAYLOADS } from "../../src/payloads/config.ts";
import { mailServer, posts } from "../alerts/support.ts";
import { S3_KEYS, s3Server } from "../payloads/s3_server.ts";
import { makeCluster, postgresHere } from "../support/cluster.ts";
import { formsOf } from "../support/forms.ts";
import { CLIENT, type OidcProvider, oidcProvider } from "../support/oidc_provider.ts";
import { serveProgram, type Serving } from "../support/program.ts";
import { eventually } from "../support/time.ts";
import { type Api, APIS, type Caller, formatOf, KINDS, PASSING } from "./kinds.ts";
import { kindsEngine, kindsProvider, SECRETS, WORDS } from "./kinds_provider.ts";
import { AT_THE_END, exporting, latin1, otlpReceiver } from "./receiver.ts";

/** Rounds over all kinds and APIs: with three protocols more than a thousand calls. */
const ROUNDS = 3;
const AT_ONCE = 6;
const BUCKET = "payloads";
const DAY_MS = 86_400_000;

/** Of operators. */
const OWN = {
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

/** A collector that speaks gRPC, and keeps the bytes. */
async function grpcReceiver() {
  const raw: string[] = [];
  const server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session: ServerHttp2Session) => sessions.add(session));
  server.on("stream", (stream: ServerHttp2Stream) => {
    stream.on("data", (chunk: Uint8Array) => raw.push(latin1(new Uint8Array(chunk))));
    stream.on("error", () => {});
    stream.on("end", () => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(new Uint8Array(5));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    raw,
    close() {
      for (const session of sessions) session.destroy();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
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

async function storeOf(kind: "sqlite" | "postgres", cwd: string): Promise<Store> {
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

function configuration(urls: {
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
async function watch(program: Serving): Promise<{ text(): string; stop(): Promise<void> }> {
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

async function administration(
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

for (
  const [protocol, storeKind] of [["http/json", "sqlite"], ["http/protobuf", "postgres"], [
    "grpc",
    "sqlite",
  ]] as const
) {
  Deno.test(`calls of every kind leave no word and no secret where operators look, with traces by ${protocol}`, async () => {
    const provider = kindsProvider();
    const engine = kindsEngine();
    const [slack, hook, mail] = [posts(), posts(), mailServer()];
    const s3 = s3Server(BUCKET);
    const client = { id: CLIENT.id, secret: OWN.oidc, token: OWN.access };
    const issuer = await oidcProvider("127.0.0.1", client);
    issuer.person = { sub: "someone", groups: ["admins"], preferred_username: "Someone" };
    const receiver = protocol === "grpc" ? await grpcReceiver() : otlpReceiver();
    const cwd = await Deno.makeTempDir();
    const store = await storeOf(storeKind, cwd);
    const program = await serveProgram(["serve"], {
      cwd,
      env: {
        ...exporting({ url: receiver.url }),
        ...AT_THE_END,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${OWN.collector}`,
        SLUICE_CONFIG: JSON.stringify(configuration({
          provider: provider.url,
          engine: engine.url,
          hook: hook.url,
          slack: slack.url,
          mailPort: mail.port,
          store: store.url,
          s3: s3.url,
          issuer: issuer.issuer,
        })),
      },
    });
    const live = await watch(program);
    let running = true;
    const end = async () => {
      if (!running) return;
      running = false;
      program.kill("SIGTERM");
      assertEquals(await program.ended, 0);
    };
    try {
      const caller: Caller = { url: program.url, provider, engine, errors: [] };
      const made = new Map<string, number>();
      const work = Array.from(
        { length: ROUNDS },
        (_, round) =>
          APIS.flatMap((api, a) =>
            Object.keys(KINDS).map((kind, k) => ({ kind, api, format: formatOf(round + a + k) }))
          ),
      )
        .flat();
      let calls = 0;
      const one = async (): Promise<void> => {
        for (let next = work.shift(); next !== undefined; next = work.shift()) {
          const ask: { api: Api; format: ReturnType<typeof formatOf>; ticket: string; caller: Caller } = {
            ...next,
            ticket: `ticket-${++calls * 10}`,
            caller,
          };
          try {
            await KINDS[next.kind](ask);
          } catch (error) {
            throw new Error(
              `a call ${next.kind} at ${next.api} as ${next.format}: ${(error as Error).message}`,
            );
          }
          const name = `${next.kind} at ${next.api}`;
          made.set(name, (made.get(name) ?? 0) + 1);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, one));
      assertEquals(made.size, Object.keys(KINDS).length * APIS.length);
      assert([...made.values()].every((count) => count === ROUNDS));
      assert(calls >= 360, `${calls} calls`);

      await eventually(() => [slack.got, hook.got, mail.mails].every(({ length }) => length > 0));
      const kept = 2 * APIS.length * ROUNDS;
      await eventually(() => s3.objects.size >= kept);
      const { pages, created } = await administration(program, issuer);
      await eventually(() => APIS.every((api) => live.text().includes(`${api}/m`)));
      await live.stop();
      const before = await store.bytes();
      await end();

      const places: Record<string, string> = {
        "the log": program.out(),
        "standard error": program.err(),
        "the administration": pages,
        "the live view": live.text(),
        "what was exported": receiver.raw.join("\n"),
        Slack: slack.got.map(({ text }) => text).join("\n"),
        "the webhook": hook.got.map(({ text, headers }) => text + [...headers]).join("\n"),
        mails: mail.mails.map(({ data }) => data).join("\n"),
        "the store": before + await store.bytes(),
        "the storage of payloads": [...s3.objects].map(([name, bytes]) => name + latin1(bytes)).join("\n"),
      };
      // Something of each call is in each of them.
      for (const place of ["the log", "the administration", "what was exported", "the store"]) {
        for (const api of APIS) assert(places[place].includes(api), `${api} is not in ${place}`);
      }
      const lines = program.out().split("\n").filter((line) => line.includes('"event":"generation"'));
      for (const api of APIS) {
        for (const status of ["completed", "failed"]) {
          const found = lines.some((line) =>
            line.includes(`"model":"${api}/m"`) && line.includes(`"status":"${status}"`)
          );
          assert(found, `no ${status} generation of ${api} is in the log`);
        }
      }
      const [token, key, code, session, flow] = created;
      const everything = { ...WORDS, ...SECRETS, ...OWN, token, key, code, session, flow };
      for (const [place, text] of Object.entries(places)) absent(text, place, everything);
      // A caller may read its own words in an error, and none of these.
      const {
        wrong: _,
        open: _open,
        strict: _strict,
        masked: _masked,
        kept: _kept,
        vendor: _vendor,
        ...ours
      } = SECRETS;
      absent(caller.errors.join("\n"), "errors", { ...ours, ...OWN });
      assert(caller.errors.length > 50);

      const payloads = (now: number) =>
        openPayloads(
          PAYLOADS.parse({
            to: `s3://${BUCKET}/x`,
            endpoint: s3.url,
            region: "eu-central-1",
            key: OWN.payloads,
            ...S3_KEYS,
          }),
          {
            env: () => undefined,
            now: () => now,
            sweeps: false,
            warn(line) {
              throw new Error(line);
            },
          },
        );
      const log = await payloads(Date.now());
      const opened = await Promise.all(
        [...s3.objects.keys()].map(async (name) => JSON.stringify(await log.read(name.split("/").at(-1)!))),
      );
      await log.close();
      assertEquals(opened.length, kept);
      for (const text of opened) {
        assert(text.includes(WORDS.prompt) && text.includes(WORDS.answer), text);
        absent(text, "a payload", { ...SECRETS, ...OWN, baggage: WORDS.baggage, cookie: WORDS.cookie });
      }
      const later = await payloads(Date.now() + 40 * DAY_MS);
      await later.sweep();
      await later.close();
      assertEquals(s3.objects.size, 0);
    } finally {
      await end();
      await Promise.all(
        [provider, engine, slack, hook, s3, issuer, receiver, store].map((one) => one.close()),
      );
      mail.close();
      await Deno.remove(cwd, { recursive: true });
    }
  });
}

/** None of these is in a text, in none of the ways in which it may be written. */
function absent(text: string, place: string, words: Record<string, string>): void {
  for (const [what, word] of Object.entries(words)) {
    for (const form of formsOf(word)) {
      const at = text.indexOf(form);
      assert(at < 0, `${what} as ${form} is in ${place}: ${text.slice(Math.max(0, at - 300), at + 80)}`);
    }
  }
}
