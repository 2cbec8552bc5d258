/**
 * The pipeline and its two codecs without a socket: a provider whose answer is bytes in pieces, and accounts that only
 * count how often a call is accounted for.
 */
import type { Accounts, Key } from "../../src/accounts/mod.ts";
import { Failure } from "../../src/exchange/failure.ts";
import type { GenerationEnd } from "../../src/exchange/generation.ts";
import { Slices } from "../../src/timing/slices.ts";
import { countAll } from "../../src/formats/tokens/tokenizer.ts";
import { openRe2 } from "../../src/dlp/re2.ts";
import { CALLER_FORMATS } from "../../src/formats/mod.ts";
import { respondStream, respondWhole } from "../../src/http/respond.ts";
import { openCatalog } from "../../src/models/catalog.ts";
import type { Kit } from "../../src/pipeline/kit.ts";
import { Metrics } from "../../src/pipeline/metrics.ts";
import { run } from "../../src/pipeline/run.ts";
import { sealer } from "../../src/pipeline/seal.ts";
import { Steps } from "../../src/pipeline/steps.ts";
import { SERVER_SENT_EVENTS } from "../../src/providers/apis/framing.ts";
import { keyCredential } from "../../src/providers/credentials/key.ts";
import type { Opened, Providers } from "../../src/providers/mod.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { openStates } from "../../src/providers/states.ts";
import { Ticker } from "../../src/timing/ticker.ts";
import { API_OF } from "./apis.ts";
import type { Caller, Target } from "./scenarios.ts";
import { Withheld } from "../../src/outgoing/withheld.ts";

const KEY: Key = {
  id: "k",
  name: "k",
  account: "a",
  accessPolicy: null,
  dlpPolicy: null,
  models: null,
  team: null,
  repair: false,
  hedge: false,
  resumeMs: null,
  payloads: false,
};

export interface Account {
  settled: GenerationEnd[];
  released: number;
}

/** What a provider sends: the pieces of its body, in the end of which the connection may break. */
export interface Sent {
  pieces: readonly Uint8Array[];
  stream: boolean;
  broken?: boolean;
}

const ticker = new Ticker({ now: () => 0 });

/** One call from a caller's body to the caller's answer, and the account of it. */
export async function call(
  caller: Caller,
  body: Record<string, unknown>,
  target: Target,
  sent: Sent,
): Promise<{ response: Response | null; text: string; thrown: unknown; account: Account }> {
  const account: Account = { settled: [], released: 0 };
  const kit = kitOf(target, sent, account);
  const format = CALLER_FORMATS[caller];
  let response: Response | null = null;
  let text = "";
  let thrown: unknown = null;
  try {
    const arrival = {
      id: "gen_0",
      format,
      formatName: caller,
      key: KEY,
      body: { ...body, model: "p/m" },
      headers: () => ({}),
      large: false,
      header: () => null,
      disconnected: () => false,
      steps: new Steps(kit.ticker),
    };
    const { call, parts } = await run(arrival, kit);
    const respond = call.prompt.stream ? respondStream : respondWhole;
    response = await respond({
      format,
      parts,
      context: {
        id: "gen_0",
        created: 0,
        model: () => "p/m",
        prompt: call.prompt,
        seal: kit.sealer.of("default").seal,
      },
      headers: () => call.headers,
      large: () => null,
      keepAliveMs: 60_000,
      ticker,
      left: () => {},
      over: () => {},
    });
    text = await response.text();
  } catch (failed) {
    thrown = failed;
  }
  return { response, text, thrown, account };
}

function kitOf(target: Target, sent: Sent, account: Account): Kit {
  const model = {
    id: "p/m",
    name: "m",
    routes: [{ provider: "p", model: "m", weight: null }],
    contextLength: null,
    maxCompletion: null,
    pricing: {},
    inputs: ["text"],
    outputs: ["text"],
    features: new Set(["tools", "reasoning", "structured_outputs", "response_format"]),
    efforts: null,
    parameters: {},
    stickyCache: true,
    shortNames: [],
  };
  return {
    accounts: accountsOf(account),
    catalog: openCatalog([model], [], 0),
    auto: null,
    providers: providersOf(target, sent),
    websearch: { engine: "none", search: () => Promise.reject(new Error("nothing is searched")) },
    dlp: {
      dlp: { enabled: false, onUnscannable: "pass", restore: false },
      dlpPolicies: {},
      secrets: [],
      re2: openRe2(),
      documents: { read: () => Promise.resolve(null), close: () => {} },
      model: null,
    },
    payloads: null,
    sealer: sealer(new Uint8Array(32)),
    limits: { maxTextChars: 1e6, maxFileBytes: 1e6, maxMessages: 1000 },
    metrics: new Metrics(),
    slices: new Slices(),
    telemetry: null,
    tokens: { countAll, close: () => {} },
    ticker,
    now: () => 0,
    log: () => {},
  };
}

function accountsOf(account: Account): Accounts {
  return {
    requestsPerMinute: () => null,
    withSearchPrice: (prices) => prices,
    probe: () => Promise.resolve(),
    isLimited: () => false,
    isSecret: () => false,
    hasSeveralKeys: () => true,
    audit: () => {},
    refused: () => {},
    authenticate: () => KEY,
    admit: ({ estimate }) =>
      Promise.resolve({
        rates: null,
        output: estimate.output,
        extend: () => Promise.resolve(true),
        settle: (end) => Promise.resolve(void account.settled.push(end)),
        release: () => Promise.resolve(void account.released++),
      }),
  };
}

function providersOf(target: Target, sent: Sent): Providers {
  const provider: Provider = {
    name: "p",
    // Scenarios have the messages of binary streams as events.
    api: { ...API_OF[target], framing: SERVER_SENT_EVENTS },
    baseUrl: "",
    credential: keyCredential(""),
    headers: {},
    firstByteMs: 1,
    idleMs: 1,
    retries: 0,
    breaker: { failures: 5, windowMs: 1, openMs: 1 },
    maxConcurrent: null,
    maxVersion: null,
  };
  return {
    acceptsCallerCredentials: false,
    get: () => provider,
    apiOf: () => provider.api,
    healthy: () => true,
    rest: () => false,
    mayRetry: () => Promise.resolve(false),
    inTurn: (routes) => routes,
    p95: () => null,
    health: () => [],
    states: openStates([], { ticker, routes: [], log: () => {} }),
    async open(_, opening) {
      const format = await provider.api.format.open();
      await opening.prepare({ provider, api: provider.api }, format, "m");
      let next = 0;
      const read = () => {
        if (next < sent.pieces.length) return Promise.resolve(sent.pieces[next++]);
        return sent.broken
          ? Promise.reject(new Failure("provider_unavailable", "The connection broke."))
          : Promise.resolve(null);
      };
      const first = await read();
      if (first === null) throw new Failure("provider_unavailable", "The provider's answer is empty.");
      const opened: Opened = {
        route: { provider: provider.name, model: "m", weight: null },
        followed: null,
        provider,
        api: provider.api,
        format,
        model: "m",
        first,
        withheld: new Withheld({}),
        reply: {
          status: 200,
          header: (name) =>
            name === "content-type" ? sent.stream ? "text/event-stream" : "application/json" : null,
          read,
          close: () => {},
        },
        failed: () => {},
        close: () => {},
      };
      return { opened, begun: await opening.begin(opened) };
    },
  };
}
