/**
 * What the check accepts, the gateway starts with and answers by: hostile values in every field of the schema, alone and
 * several together. A field that is added is tried without a change here.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { assemble } from "../../src/assemble.ts";
import type { Gateway } from "../../src/assembly/gateway.ts";
import { checked } from "../../src/config/check.ts";
import { ConfigError } from "../../src/config/config_error.ts";
import { examineText } from "../../src/config/load.ts";
import { type Config, configJsonSchema } from "../../src/config/schema.ts";
import { openStore } from "../../src/store/mod.ts";
import { environment, NO_ENV } from "./example.ts";
import { PATIENCE_MS, steadyClock } from "../support/time.ts";

const SECRET = "sk_live_hostile";
const ANSWER = {
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Good morning" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1_000_000, completion_tokens: 1000, total_tokens: 1_001_000 },
};

/** Every section filled, so that every field is there to be spoilt. */
function full(baseUrl: string) {
  const price = "0.000001";
  return {
    server: { cors_origins: ["https://app.example"] },
    store: { url: "sqlite::memory:", pepper: "0123456789abcdef" },
    admin_key: "admin",
    providers: {
      p: { api: "openai-chat", base_url: baseUrl, api_key: "k", headers: { "x-a": "b" }, breaker: {} },
    },
    models: [{
      id: "p/m",
      name: "M",
      routes: [{ provider: "p", model: "m", weight: 1 }, { provider: "p", model: "n" }],
      pricing: { prompt: price, completion: price, input_cache_read: price },
      capabilities: { features: ["tools"] },
      reasoning_efforts: ["low"],
      short_names: ["claude-*"],
    }],
    auto: { models: ["p/m"] },
    search: {},
    dlp: {},
    dlp_policies: {
      d: {
        mode: "alert",
        entity_types: ["EMAIL_ADDRESS"],
        stop_words: [{ value: "secret" }],
        allowlist: [{ value: "public" }],
        regexes: [{ name: "r", pattern: "a+" }],
      },
    },
    access_policies: { a: { allow: ["*"], deny: ["x/*"] } },
    accounts: [{ name: "default", credits: "9000000" }, { name: "other", credits: null }],
    keys: [{
      name: "k",
      secret: SECRET,
      dlp_policy: "d",
      access_policy: "a",
      models: ["*"],
      spend_limit: { amount: "9000000", period: "month" },
      rate_limit: { requests_per_minute: 1000, tokens_per_minute: 1_000_000_000 },
      expires_at: "2999-01-01",
    }],
  };
}

const PATTERNS = ["a+", "[", "(?=a)", "a{1001}", "*", "\\", "\ud800", "日本", "", "x".repeat(2000), 5];

type Step = string | number;
interface Node {
  type?: string | string[];
  properties?: Record<string, Node>;
  additionalProperties?: Node | boolean;
  items?: Node;
  anyOf?: Node[];
}

/** The paths of every field that the schema has, as far as the value reaches. */
function* paths(node: Node, value: unknown, at: Step[] = []): Generator<[path: Step[], node: Node]> {
  for (const choice of node.anyOf ?? []) yield* paths(choice, value, at);
  for (const [name, property] of Object.entries(node.properties ?? {})) {
    yield [[...at, name], property];
    yield* paths(property, (value as Record<string, unknown> | undefined)?.[name], [...at, name]);
  }
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (typeof node.additionalProperties === "object") {
    for (const [name, entry] of entries) {
      yield [[...at, name], node.additionalProperties];
      yield* paths(node.additionalProperties, entry, [...at, name]);
    }
  }
  if (node.items !== undefined && Array.isArray(value)) {
    yield [[...at, 0], node.items];
    yield* paths(node.items, value[0], [...at, 0]);
  }
}

const VALUES: readonly unknown[] = [
  null,
  true,
  [],
  {},
  [null],
  [""],
  { foo: 1 },
  { host: "h" },
  { "content-length": "1" },
  { "X-A": "1", "x-a": "2" },
  { "": "" },
  0,
  -1,
  1,
  0.01,
  1.5,
  -0,
  1e-300,
  2 ** 31,
  2 ** 53,
  1e308,
  "",
  " ",
  "0",
  "1",
  "-1",
  "1e3",
  "1000",
  "1001",
  "9000000",
  "9000001",
  "0.0000000000001",
  "0.000000000000000001",
  "999999999999",
  "a",
  "A B",
  "a\r\nb: c",
  "a\0b",
  "\ud800",
  "ü",
  "日本",
  "x".repeat(2000),
  "[",
  "(?=a)",
  "a{1001}",
  "*",
  "a/*",
  "a/b",
  "svc/auto",
  "../../x",
  "m?x#y",
  "models/m:n",
  "%zz",
  "__proto__",
  "constructor",
  "999.1.1.1",
  "a..b",
  "-a",
  "[::1]",
  "::1",
  "127.0.0.2",
  "http://127.0.0.1:99999/v1",
  "http://127.0.0.1:0/v1",
  "http://[/v1",
  "http://127.0.0.1:1/%zz/ü",
  "http://[::1]:1/v1/",
  "http://999.1.1.1/v1",
  "https://App.Example:443",
  "https://app.example:99999",
  "2030-02-30",
  "2030-01-31T25:00:00Z",
  "0000-01-01",
  "9999-12-31",
  "sk_live_ü",
  "sk_live_",
  "sk_live_" + "x".repeat(505),
  "CREDIT_CARD",
  "NOTHING_LIKE_IT",
  "searxng",
  "brave",
  "gemini",
  "anthropic-messages",
  "demo",
];

/** To a field of another type a text is like any other text, and likewise a number to a text. */
function valuesFor({ type }: Node): readonly unknown[] {
  const isText = type === undefined || [type].flat().includes("string");
  const others = VALUES.filter((value) => (typeof value === "string") !== isText);
  return [...VALUES.filter((value) => !others.includes(value)), ...others.slice(0, 5)];
}

function spoil(root: unknown, path: readonly Step[], value: unknown): void {
  let holder = root as Record<Step, unknown>;
  for (const step of path.slice(0, -1)) {
    const next = holder[step];
    if (typeof next !== "object" || next === null) return;
    holder = next as Record<Step, unknown>;
  }
  holder[path[path.length - 1]] = structuredClone(value);
}

/** Stores are tried apart: one that is a file would be left behind, one that is away be waited for. */
const IN_MEMORY = environment({ SLUICE_STORE: "sqlite::memory:" });

interface Outcome {
  status: number;
  logged: string[];
}

/** One gateway that takes over configuration after configuration, or a new one each time for the store's. */
function trial() {
  let gateway: Gateway | null = null;
  let logged: string[] = [];

  async function close(): Promise<void> {
    await gateway?.close();
    gateway = null;
  }

  async function begin(config: Config): Promise<Gateway> {
    const log = (line: string) => void logged.push(line);
    if (gateway === null) {
      gateway = await assemble(config, {
        now: Date.now,
        log,
        sleep: () => Promise.resolve(),
        clock: steadyClock(),
        storeWaitMs: PATIENCE_MS,
      });
    } else await gateway.reload(config);
    return gateway;
  }

  /** Null: the check refuses it. Else what became of one request. */
  async function tried(value: unknown, { patterns = false, anew = false } = {}): Promise<Outcome | null> {
    let config: Config;
    try {
      const examination = examineText(JSON.stringify(value), { env: IN_MEMORY });
      // To ask about patterns starts a thread.
      ({ config } = patterns ? await checked(examination, { listens: true }) : examination.conclude());
    } catch (error) {
      if (error instanceof ConfigError) return null;
      throw error;
    }
    logged = [];
    if (anew) await close();
    const running = await begin(config);
    const response = await running.handle(
      new Request("http://gateway.test/v1/chat/completions", {
        method: "POST",
        headers: {
          authorization: `Bearer ${config.keys[0]?.secret ?? SECRET}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({ model: config.models[0].id, messages: [{ role: "user", content: "Hello" }] }),
      }),
    );
    await response.text();
    await running.idle();
    await running.accounts.flush();
    return { status: response.status, logged };
  }

  return { tried, close };
}

function troubles(outcome: Outcome | null): string[] {
  const broken = (outcome?.logged ?? []).filter((line) =>
    /turn of the accounts failed|TypeError|RangeError/.test(line)
  );
  return outcome?.status === 500 ? [`status 500, ${outcome.logged.join("; ")}`] : broken;
}

async function withProvider(test: (value: ReturnType<typeof full>) => Promise<void>): Promise<void> {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => Response.json(ANSWER),
  );
  try {
    await test(full(`http://127.0.0.1:${server.addr.port}/v1`));
  } finally {
    await server.shutdown();
  }
}

const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 100);

Deno.test("every hostile value in every field is refused by the check, or started with and answered by", () =>
  withProvider(async (value) => {
    const { tried, close } = trial();
    assertEquals((await tried(value))?.status, 200);
    let accepted = 0;
    let refused = 0;
    const failures: string[] = [];
    for (const [path, node] of paths(configJsonSchema(), value)) {
      const asked = path.at(-1) === "hostname";
      for (const hostile of path.at(-1) === "pattern" ? PATTERNS : valuesFor(node)) {
        const spoilt = structuredClone(value);
        if (asked) spoilt.dlp_policies.d.regexes = [];
        spoil(spoilt, path, hostile);
        const what = () => `${path.join(".")} = ${shown(hostile)}`;
        const outcome = await tried(spoilt, {
          patterns: asked || path.at(-1) === "pattern",
          anew: path[0] === "store",
        }).catch((error) => ({
          status: 500,
          logged: [String(error)],
        }));
        if (outcome === null) refused++;
        else accepted++;
        failures.push(...troubles(outcome).map((trouble) => `${what()}: ${trouble}`));
      }
    }
    await close();
    assertEquals(failures, []);
    assert(refused > 1000 && accepted > 200, `${refused} refused, ${accepted} accepted`);
  }));

Deno.test("several hostile values at once are refused by the check, or started with and answered by", () =>
  withProvider(async (value) => {
    const places = [...paths(configJsonSchema(), value)].map(([path]) => path)
      .filter((path) => path.at(-1) !== "pattern" && path.at(-1) !== "hostname");
    const edit = fc.tuple(fc.constantFrom(...places), fc.oneof(fc.constantFrom(...VALUES), fc.string()));
    const { tried, close } = trial();
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 2, maxLength: 4 }), async (edits) => {
        const spoilt = structuredClone(value);
        for (const [path, hostile] of edits) spoil(spoilt, path, hostile);
        assertEquals(troubles(await tried(spoilt)), [], shown(edits));
      }),
      { numRuns: 300, seed: 20 },
    );
    await close();
  }));

const STORES: [url: string, good: boolean][] = [
  ["postgres://h/d", true],
  ["postgresql://u:p%40w@h:5432/d?sslmode=require", true],
  ["postgres://[::1]:5432/d", true],
  ["postgres:///d?host=/var/run/postgresql", true],
  ["postgres://h", true],
  ["postgres://h:99999/d", false],
  ["postgres://h:0/d", false],
  ["postgres://[/d", false],
  ["postgres://u:%zz@h/d", false],
  ["postgres://%zz:p@h/d", false],
  ["postgres://h/%zz", false],
  ["postgres://%zz/d", false],
  ["postgres://999.1.1.1/d", false],
  ["postgres://a..b/d", false],
  ["postgres://", false],
  ["postgres:///d", false],
  ["postgres:/u:hidden@h", false],
  ["postgres:u:hidden@h", false],
  ["postgres://u:hidden", false],
  ["postgres://h/d?sslmode=strict", false],
  ["postgres://h1:5432,h2:5432/d", false],
  ["postgres://h1,h2/d", false],
  ["postgres://u:p@h1%2Ch2/d", false],
  ["postgres://h/d?host=h1,h2", false],
  ["postgres://h/d?host=/run/a%2C/run/b", false],
  ["postgres://h/d?port=1,2", false],
  ["postgres://u:a,b@h/d,e?application_name=f,g", true],
  ["postgres://u:hidden@h/d?port=70000", false],
  ["postgres:///d?host=db.example&port=6432", true],
  ["postgres:///d?host=a..b", false],
  ["postgres://h/d?target_session_attrs=read-write", true],
  ["postgres://h/d?target_session_attrs=standby", false],
  ["sqlite:", false],
  ["sqlite:file:x.db?mode=ro", false],
  ["sqlite:data/", false],
  ["mysql://u:hidden@h/d", false],
];

Deno.test("an address of a store that the check accepts can be opened, and no password is shown", async () => {
  for (const [url, good] of STORES) {
    const value = { ...full("http://127.0.0.1:1/v1"), store: { url, journal: null } };
    let message = "";
    try {
      await checked(examineText(JSON.stringify(value), { env: NO_ENV }), { listens: false });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      message = error.message;
    }
    assertEquals([url, message === ""], [url, good], message);
    assert(!message.includes("hidden"), message);
    if (good) await openStore(url).close();
  }
});
