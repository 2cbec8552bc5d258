/**
 * `sluice replay`: sends the request of a stored payload again and shows the differences. Both answers are
 * decoded by the codec of their format, so that text is compared with text, and tool calls with tool calls.
 */
import type { Administration, GenerationView } from "../accounts/mod.ts";
import type { Config } from "../config/schema.ts";
import { type Answer, Collector } from "../exchange/answer.ts";
import { Failure } from "../exchange/failure.ts";
import type { CallerFormatName } from "../exchange/format_name.ts";
import { isObject, type Loose } from "../exchange/json.ts";
import { PROVIDER_FORMATS } from "../formats/mod.ts";
import type { ReplayCommand } from "./command.ts";

export interface KeptPayload {
  id: string;
  format: CallerFormatName;
  model: string;
  latency_ms: number;
  status: string;
  error: { code: string; message: string } | null;
  request: Loose;
  answer: unknown;
}

export interface ReplayOptions {
  accounts: Pick<Administration, "generation">;
  env(name: string): string | undefined;
}

interface Side {
  id: string;
  model: string;
  /** Why there is no answer; null: there is one. */
  error: string | null;
  text: string;
  calls: string[];
  input: number | null;
  output: number | null;
  /** Null: unknown. */
  cost: string | null;
  ms: number;
}

const PATHS: Readonly<Record<CallerFormatName, string>> = {
  chat_completions: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
};

/** What is printed, and whether the new call was refused or failed. */
export interface Replayed {
  text: string;
  failed: boolean;
}

/**
 * Throws a `Failure` if there is no key to call with, or if the request cannot be sent again.
 */
export async function replay(
  { id, model, url, secret, json }: ReplayCommand,
  payload: KeptPayload,
  config: Config,
  { accounts, env }: ReplayOptions,
): Promise<Replayed> {
  const credential = secret ?? env("SLUICE_KEY");
  if (!credential) {
    throw new Failure(
      "authentication_required",
      "Cannot replay: expected an API key as --key or SLUICE_KEY, got nothing",
    );
  }
  const record = await accounts.generation(id).catch(() => null);
  const before = sideOf(payload.answer, payload, {
    cost: record?.cost ?? null,
    error: payload.error && `${payload.error.code}: ${payload.error.message}`,
    ms: payload.latency_ms,
  });
  const base = (url ?? addressOf(config)).replace(/\/+$/, "");
  const request: Loose = { ...payload.request, ...(model !== undefined && { model }), stream: false };
  delete request.stream_options;
  const after = await ask(base, credential, payload.format, request);
  const text = json ? JSON.stringify({ before, after }, null, 2) : await differences(before, after);
  return { text, failed: after.error !== null };
}

function addressOf({ server: { hostname, port, tls } }: Config): string {
  const host = hostname === "0.0.0.0"
    ? "127.0.0.1"
    : hostname === "::"
    ? "[::1]"
    : hostname.includes(":")
    ? `[${hostname}]`
    : hostname;
  return `${tls ? "https" : "http"}://${host}:${port}`;
}

async function ask(base: string, secret: string, format: CallerFormatName, request: Loose): Promise<Side> {
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  const begun = performance.now();
  const response = await fetch(base + PATHS[format], {
    method: "POST",
    headers,
    body: JSON.stringify(request),
    redirect: "error",
  }).catch((error) => {
    throw noReplay(`${base} does not answer: ${error instanceof Error ? error.message : error}`);
  });
  const answer: unknown = await response.json().catch(() => {
    throw noReplay(`${base} answers with status ${response.status} and a body that is no JSON`);
  });
  const ms = Math.round(performance.now() - begun);
  const id = response.headers.get("x-request-id") ?? "";
  const record = response.ok ? await recordOf(`${base}/v1/generations/${id}`, headers) : null;
  return sideOf(response.ok ? answer : null, { id, format, model: record?.model ?? String(request.model) }, {
    cost: record?.cost ?? null,
    error: response.ok ? null : `status ${response.status}: ${messageOf(answer)}`,
    ms: record?.latency_ms ?? ms,
  });
}

function noReplay(why: string): Failure {
  return new Failure("service_unavailable", `Cannot replay: ${why}`);
}

/** Null: it cannot be read. The answer, which has been paid for, is shown nevertheless. */
async function recordOf(address: string, headers: HeadersInit): Promise<GenerationView | null> {
  try {
    const response = await fetch(address, { headers, redirect: "error" });
    if (response.ok) return await response.json();
    await response.body?.cancel();
  } catch {
    // It is another server, or one that has just ended.
  }
  return null;
}

function messageOf(answer: unknown): string {
  const error = isObject(answer) ? answer.error : null;
  return isObject(error) ? String(error.message) : String(error);
}

function sideOf(
  answer: unknown,
  { id, format, model }: Pick<KeptPayload, "id" | "format" | "model">,
  { cost, error, ms }: Pick<Side, "cost" | "error" | "ms">,
): Side {
  const { choices, usage } = answer === null ? { choices: [], usage: null } : decoded(answer, format);
  const blocks = choices.flatMap((choice) => choice.blocks);
  return {
    id,
    model,
    error,
    text: blocks.map((block) => block.type === "text" ? block.text : "").filter((text) => text !== "").join(
      "\n",
    ),
    calls: blocks.flatMap((block) => block.type === "call" ? [`${block.name}(${block.arguments})`] : []),
    input: usage?.input ?? null,
    output: usage?.output ?? null,
    cost,
    ms,
  };
}

function decoded(answer: unknown, format: CallerFormatName): Answer {
  const collector = new Collector();
  collector.add(PROVIDER_FORMATS[format].decodeAnswer(answer));
  return collector.answer;
}

async function differences(before: Side, after: Side): Promise<string> {
  const { diffLines } = await import("diff");
  const row = (name: string, a: unknown, b: unknown) =>
    `${name.padEnd(14)} ${String(a ?? "unknown").padEnd(36)} ${b ?? "unknown"}${a === b ? "" : "  *"}`;
  const lines = [
    row("", before.id, after.id),
    row("model", before.model, after.model),
    row("input tokens", before.input, after.input),
    row("output tokens", before.output, after.output),
    row("price", before.cost, after.cost),
    row("milliseconds", before.ms, after.ms),
    ...(before.error === null && after.error === null
      ? []
      : [row("error", before.error ?? "none", after.error ?? "none")]),
    "",
  ];
  for (
    const [name, a, b] of [["text", before.text, after.text], [
      "tool calls",
      before.calls.join("\n"),
      after.calls.join("\n"),
    ]]
  ) {
    if (a === b) {
      lines.push(`${name}: the same${a === "" ? " (none)" : ""}`);
      continue;
    }
    lines.push(`${name}:`);
    for (const { value, added, removed } of diffLines(`${a}\n`, `${b}\n`)) {
      const sign = added ? "+" : removed ? "-" : " ";
      for (const line of value.replace(/\n$/, "").split("\n")) lines.push(`${sign} ${line}`);
    }
  }
  return lines.join("\n");
}
