/** A thousand calls of every kind, none of which leaves a secret or a word of its conversation where operators look. */
import { assert, assertEquals } from "@std/assert";
import { SECRET } from "../support/gateway.ts";
import { serveProgram } from "../support/program.ts";
import { loopbackProvider, type Seen, sseResponse } from "../support/provider.ts";
import { leastAnswer } from "../support/answers.ts";
import { formsOf } from "../support/forms.ts";
import { eventually } from "../support/time.ts";
import { mailServer, posts } from "../alerts/support.ts";
import { AT_THE_END, exporting, latin1, otlpReceiver } from "./receiver.ts";

const PROMPT = "canary-prompt-5f1c";
const ANSWER = "canary-answer-77ab";
const TOOL = "canary-argument-31d0";
const HIT = "canary-hit-90ce";
const MODEL = "canary-model-22f4";
const PROVIDER_KEY = "canary-provider-key-8d21";
const ADMIN_KEY = "canary-admin-key-000000-44aa";
const KEYS = {
  open: SECRET,
  strict: "sk_live_canarystrictcanarystrict01",
  masked: "sk_live_canarymaskedcanarymasked01",
};
const CANARIES = [
  PROMPT,
  ANSWER,
  TOOL,
  HIT,
  MODEL,
  PROVIDER_KEY,
  ADMIN_KEY,
  ...Object.values(KEYS),
  "sk_live_wrongcanary",
];
const CALLS = 1000;

const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
const message = (message: Record<string, unknown>, finish_reason: string) =>
  Response.json({
    id: "c",
    object: "chat.completion",
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason }],
    usage,
  });
const call = (name: string, text: string) => ({
  content: null,
  tool_calls: [{ id: `call_${name}`, type: "function", function: { name, arguments: text } }],
});
const frame = (choice: Record<string, unknown>) =>
  `data: ${
    JSON.stringify({
      id: "c",
      object: "chat.completion.chunk",
      model: "m",
      choices: [{ index: 0, ...choice }],
    })
  }\n\n`;

/** A provider that answers what the prompt asks for, and repeats secrets where it fails. */
function answerTo(text: string, streams: boolean): Response {
  const leaks = `key ${PROVIDER_KEY} is bad, you said ${PROMPT}`;
  if (text.includes("fail with 500")) return Response.json({ error: { message: leaks } }, { status: 500 });
  if (text.includes("fail with 401")) return Response.json({ error: { message: leaks } }, { status: 401 });
  if (text.includes("fail with 400")) return Response.json({ error: { message: leaks } }, { status: 400 });
  if (text.includes("fail as text")) return new Response(`<html>${leaks}`, { status: 502 });
  if (text.includes("break off")) {
    return sseResponse([frame({ delta: { content: ANSWER } }), `data: {"error":{"message":"${leaks}"}}\n\n`]);
  }
  if (text.includes("look it up") && !text.includes("call_web_search")) {
    return message(call("web_search", `{"query":"${PROMPT} news"}`), "tool_calls");
  }
  if (text.includes("use the tool")) return message(call("weather", `{"city":"${TOOL}"}`), "tool_calls");
  if (!streams) return message({ content: ANSWER }, "stop");
  return sseResponse([
    frame({ delta: { role: "assistant", content: ANSWER } }),
    `data: ${
      JSON.stringify({ ...JSON.parse(frame({ delta: {}, finish_reason: "stop" }).slice(6)), usage })
    }\n\n`,
    "data: [DONE]\n\n",
  ]);
}

/** Providers of other APIs. They answer "say it" in their own words; else what is none of theirs, or an error that repeats everything. */
const OTHERS = ["anthropic-messages", "gemini", "openai-responses", "bedrock-converse"];
const OTHER_PATH = /\/(?:messages|responses|converse)$|generateContent/i;

/** The answer in the words of another provider's API, whole or streamed; of Converse whole only. */
async function otherAnswer(seen: Seen): Promise<Response> {
  if (seen.path.endsWith("/converse")) {
    return Response.json({
      output: { message: { role: "assistant", content: [{ text: ANSWER }] } },
      stopReason: "end_turn",
      usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4 },
    });
  }
  const least = leastAnswer(seen);
  const text = (await least.text()).replaceAll('"hi"', JSON.stringify(ANSWER));
  return new Response(text, { headers: { "content-type": least.headers.get("content-type")! } });
}

const WISHES = [
  "say it",
  "fail with 500",
  "fail with 401",
  "fail with 400",
  "fail as text",
  "break off",
  "look it up",
  "use the tool",
  "mail jane.canary@example.org",
];
const TOOLS = [{
  type: "function",
  function: { name: "weather", parameters: { type: "object", properties: {} } },
}];

/** The nth of the calls: each format, key and wish comes with each other. */
function callOf(nth: number): { path: string; key: string; body: Record<string, unknown> } {
  const wish = WISHES[nth % WISHES.length];
  const format = Math.floor(nth / WISHES.length) % 3;
  const stream = nth % 2 === 0;
  const key = nth % 50 === 0 ? "sk_live_wrongcanary" : Object.values(KEYS)[Math.floor(nth / 7) % 3];
  const model = nth % 41 === 0 ? `${MODEL}-${nth}/x` : nth % 5 === 3 ? `${OTHERS[nth % 4]}/m` : "v/m";
  const content = `${PROMPT} ${wish}`;
  const tools = wish === "use the tool";
  if (format === 0) {
    return {
      path: "/v1/chat/completions",
      key,
      body: {
        model,
        stream,
        messages: [{ role: "user", content }],
        ...(tools && { tools: TOOLS }),
        ...(wish === "look it up" && { web_search_options: {} }),
      },
    };
  }
  if (format === 1) {
    return {
      path: "/v1/messages",
      key,
      body: {
        model,
        stream,
        max_tokens: 100,
        messages: [{ role: "user", content }],
        ...(tools && { tools: [{ name: "weather", input_schema: { type: "object" } }] }),
        ...(wish === "look it up" && { tools: [{ type: "web_search_20250305", name: "web_search" }] }),
      },
    };
  }
  return {
    path: "/v1/responses",
    key,
    body: {
      model,
      stream,
      input: content,
      ...(tools && { tools: [{ type: "function", name: "weather", parameters: { type: "object" } }] }),
      ...(wish === "look it up" && { tools: [{ type: "web_search" }] }),
    },
  };
}

/** One turn over a WebSocket. */
function overSocket(url: string, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`, {
      headers: { authorization: `Bearer ${SECRET}` },
    } as unknown as string[]);
    socket.onopen = () => socket.send(JSON.stringify({ type: "response.create", model: "v/m", input: text }));
    socket.onmessage = ({ data }) => {
      if (/"type":"(?:response\.(?:completed|failed|incomplete)|error)"/.test(data)) socket.close();
    };
    socket.onclose = () => resolve();
    socket.onerror = (event) => reject(event);
  });
}

/** Bytes of the store's files, of the log beside it too, each as a character. */
async function storeIn(folder: string): Promise<string> {
  let text = "";
  for await (const { name } of Deno.readDir(folder)) {
    if (name.startsWith("canary.db")) text += latin1(await Deno.readFile(`${folder}/${name}`));
  }
  return text;
}

Deno.test("a thousand calls of every kind leave no secret and no word in logs, traces, metrics, alerts and the store", async () => {
  const receiver = otlpReceiver();
  const upstream = loopbackProvider((seen) =>
    OTHER_PATH.test(seen.path) && seen.text.includes("say it")
      ? otherAnswer(seen)
      : answerTo(seen.text, seen.body.stream === true || /stream/i.test(seen.path))
  );
  const engine = loopbackProvider(() =>
    Response.json({ results: [{ url: `https://site.test/${HIT}`, title: HIT, content: HIT }] })
  );
  const [slack, hook, mail] = [posts(), posts(), mailServer()];
  const cwd = await Deno.makeTempDir();
  const policy = (mode: string) => ({ mode, entity_types: ["EMAIL_ADDRESS"], answers: mode });
  const program = await serveProgram(["serve"], {
    cwd,
    env: {
      ...exporting(receiver),
      ...AT_THE_END,
      SLUICE_CONFIG: JSON.stringify({
        logs: "json",
        telemetry: { langfuse: true },
        admin_key: ADMIN_KEY,
        store: { url: "sqlite:./canary.db" },
        alerts: [{
          name: "errors",
          when: { metric: "error_rate", above: 0.01, over: "5m", least: 5 },
          for: "1s",
          to: [{ slack: slack.url }, { email: ["ops@example.com"] }, { webhook: hook.url, secret: "whsec" }],
        }],
        smtp: { host: "127.0.0.1", port: mail.port, security: "none", from: "sluice@example.com" },
        providers: Object.fromEntries(
          ["openai-chat", ...OTHERS].map((api) => [api === "openai-chat" ? "up" : api, {
            api,
            base_url: upstream.url,
            api_key: PROVIDER_KEY,
            retries: 0,
            breaker: { failures: 1_000_000 },
            trace_context: true,
          }]),
        ),
        models: [
          ...OTHERS.map((provider) => ({
            id: `${provider}/m`,
            routes: [{ provider, model: "m" }],
            pricing: { prompt: "0.000001", completion: "0.000001" },
            capabilities: { features: ["tools"] },
          })),
          {
            id: "v/m",
            routes: [{ provider: "up", model: "m" }],
            pricing: { prompt: "0.000001", completion: "0.000001" },
            capabilities: { features: ["tools"] },
          },
        ],
        search: { engine: "searxng", base_url: engine.url, price: "0" },
        dlp_policies: { strict: policy("block"), masked: policy("mask") },
        keys: [
          { name: "open", secret: KEYS.open },
          { name: "strict", secret: KEYS.strict, dlp_policy: "strict" },
          { name: "masked", secret: KEYS.masked, dlp_policy: "masked" },
        ],
      }),
    },
  });
  const statuses = new Map<number, number>();
  let next = 0;
  async function caller(): Promise<void> {
    while (next < CALLS) {
      const nth = next++;
      if (nth % 25 === 13) {
        await overSocket(program.url, `${PROMPT} ${WISHES[nth % WISHES.length]}`);
        continue;
      }
      const { path, key, body } = callOf(nth);
      const response = await fetch(program.url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      if (nth % 17 === 0) await response.body?.cancel();
      else await response.text();
    }
  }
  try {
    await Promise.all(Array.from({ length: 8 }, caller));
    for (const body of [`{"name": "${PROMPT}", "secret`, `{"${PROMPT}": 1}`, `{"name": ["${PROMPT}"]}`]) {
      for (const path of ["/admin/keys", "/admin/teams", "/admin/tokens", "/v1/estimate"]) {
        const refused = await fetch(program.url + path, {
          method: "POST",
          headers: { authorization: `Bearer ${path.startsWith("/v1") ? KEYS.open : ADMIN_KEY}` },
          body,
        });
        await refused.text();
        assert(refused.status >= 400, `${path}: ${refused.status}`);
      }
    }
    const metrics = await fetch(`${program.url}/metrics`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    });
    const shown = await metrics.text();
    await eventually(() => [slack.got, hook.got, mail.mails].every(({ length }) => length > 0));
    // While it runs, pages are in the log beside the file; as it ends, they come into the file.
    const store = await storeIn(cwd);
    program.kill("SIGTERM");
    assertEquals(await program.ended, 0);
    const names = (text: string) => text.includes("v/m") && text.includes("masked");
    for (const api of OTHERS) {
      const done = `"model":"${api}/m"`;
      assert(
        program.out().split("\n").some((line) =>
          line.includes(done) && line.includes('"status":"completed"')
        ),
        `no call of ${api} was completed`,
      );
    }
    assert(names(store) && names(await storeIn(cwd)), "the store is not where it is looked for");
    // What was not exported by then was with the process's end.
    assert([200, 400, 401, 403, 404, 502].every((status) => statuses.has(status)), `${[...statuses]}`);
    const lines = program.out().split("\n").filter((line) => line.includes('"event":"generation"'));
    assert(lines.length > 400, `${lines.length} lines`);
    assert(receiver.spans.filter(({ kind }) => kind === 2).length > 900, `${receiver.spans.length} spans`);
    const places = {
      log: program.out(),
      errors: program.err(),
      metrics: shown,
      traces: receiver.raw.join("\n"),
      slack: slack.got.map(({ text }) => text).join("\n"),
      webhook: hook.got.map(({ text }) => text).join("\n"),
      mail: mail.mails.map(({ data }) => data).join("\n"),
      store: store + await storeIn(cwd),
    };
    for (const [place, text] of Object.entries(places)) {
      for (const canary of [...CANARIES, "jane.canary"]) {
        for (const form of formsOf(canary)) {
          const at = text.indexOf(form);
          assert(at < 0, `${form} in ${place}: ${text.slice(Math.max(0, at - 300), at + 60)}`);
        }
      }
    }
  } finally {
    await upstream.close();
    await engine.close();
    await receiver.close();
    await slack.close();
    await hook.close();
    mail.close();
    await Deno.remove(cwd, { recursive: true });
  }
});
