/** `sluice try`: sends one question to each model and prints a table of the results. */
import { CONFIG_KEY } from "../accounts/config.ts";
import type { AccountsService } from "../accounts/mod.ts";
import type { Config } from "../config/schema.ts";
import type { IncomingRequest } from "../http/endpoint.ts";
import { matchesAny } from "../models/patterns.ts";
import { inColumns } from "./columns.ts";
import { UsageError } from "./option_values.ts";

export interface TryOptions {
  text: string;
  /**
   * Patterns over catalog ids, separated by commas; default: the models of the configuration, or the whole
   * catalog if it names none.
   */
  models?: string;
  /** The most models that are called. */
  limit: number;
  json: boolean;
  /** Creates a gateway from a configuration. */
  open(config: Config): Promise<TryGateway>;
}

export interface TryGateway {
  handle(request: IncomingRequest): Promise<Response>;
  accounts: Pick<AccountsService, "generation" | "flush">;
  models(): readonly { id: string }[];
  close(): Promise<unknown>;
}

export interface Tried {
  model: string;
  /** Null: it answered. */
  error: string | null;
  answer: string;
  ttft_ms: number | null;
  input_tokens: number | null;
  output_tokens: number | null;
  cost: string | null;
  dropped: string | null;
}

const AT_ONCE = 4;
const MOST_OUTPUT = 1024;
const SECRET = `sk_live_${crypto.randomUUID()}`;
const SHOWN_CHARS = 40;

/**
 * Resolves with the text to print, one line per model or JSON, and with the number of models that answered.
 * Providers bill the calls; they are not recorded.
 */
export async function tryModels(
  config: Config,
  options: TryOptions,
): Promise<{ text: string; answered: number }> {
  const { json, limit } = options;
  // Use a store in memory and an account without limits, so that the calls are not recorded and no limit
  // applies.
  const gateway = await options.open({
    ...config,
    store: { ...config.store, url: "sqlite::memory:" },
    accounts: [{ name: "default", credits: null }],
    keys: [CONFIG_KEY.parse({ name: "try", secret: SECRET })],
    auto: { ...config.auto, models: [] },
  });
  try {
    const all = gateway.models().map(({ id }) => id);
    const patterns = options.models?.split(",") ?? named(config);
    const wanted = all.filter((id) => matchesAny(patterns, id));
    if (wanted.length === 0) {
      throw new UsageError(
        all.length === 0
          ? "Cannot try: the catalog has no model"
          : `Cannot try: no model of the catalog fits ${JSON.stringify(options.models ?? "")}`,
      );
    }
    const tried: Tried[] = [];
    const waiting = wanted.slice(0, limit).entries();
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      for (const [i, model] of waiting) tried[i] = await ask(model, options, gateway);
    }));
    const answered = tried.filter(({ error }) => error === null).length;
    if (json) return { text: JSON.stringify(tried, null, 2), answered };
    const more = wanted.length - tried.length;
    const rest = more > 0
      ? `\n${
        more === 1 ? "1 more model was" : `${more} more models were`
      } not asked: --limit ${wanted.length}, or --models PATTERN`
      : "";
    return { text: table(tried) + rest, answered };
  } finally {
    await gateway.close();
  }
}

/** The models that the configuration names, without those of the demo provider. */
function named({ models, providers }: Config): string[] {
  const demo = new Set(providers.filter(({ api }) => api.name === "demo").map(({ name }) => name));
  const own = models.filter(({ routes }) => !routes.every(({ provider }) => demo.has(provider)));
  return own.length > 0 ? own.map(({ id }) => id) : ["*"];
}

async function ask(model: string, { text }: TryOptions, gateway: TryGateway): Promise<Tried> {
  const body = JSON.stringify({
    model,
    stream: true,
    max_tokens: MOST_OUTPUT,
    messages: [{ role: "user", content: text }],
  });
  const headers = { authorization: `Bearer ${SECRET}`, "content-type": "application/json" };
  const response = await gateway.handle(
    new Request("http://sluice/v1/chat/completions", { method: "POST", headers, body }),
  );
  const responseText = await response.text();
  await gateway.accounts.flush().catch(() => {});
  const record = await gateway.accounts.generation(response.headers.get("x-request-id") ?? "", {}).catch(() =>
    null
  );
  const { answer, error } = response.ok ? read(responseText) : { answer: "", error: messageOf(responseText) };
  return {
    model,
    error,
    answer,
    ttft_ms: record?.ttft_ms ?? null,
    input_tokens: record?.usage?.input_tokens ?? null,
    output_tokens: record?.usage?.output_tokens ?? null,
    cost: record?.cost ?? null,
    dropped: response.headers.get("x-svc-dropped"),
  };
}

/** The text of a stream, or the error that ended it. */
function read(stream: string): { answer: string; error: string | null } {
  let answer = "";
  for (const line of stream.split("\n")) {
    if (!line.startsWith("data: {")) continue;
    const chunk = JSON.parse(line.slice(6));
    if (chunk.error) return { answer, error: String(chunk.error.message) };
    answer += chunk.choices?.[0]?.delta?.content ?? "";
  }
  return { answer, error: null };
}

function messageOf(body: string): string {
  try {
    return String(JSON.parse(body).error.message);
  } catch {
    return "no answer";
  }
}

function table(tried: readonly Tried[]): string {
  const short = (text: string) => {
    const line = text.replace(/\s+/g, " ").trim();
    return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS)}…` : line;
  };
  return inColumns([
    ["MODEL", "ANSWERED", "FIRST TOKEN", "TOKENS", "COST", "DROPPED", ""],
    ...tried.map((t) => [
      t.model,
      t.error === null ? "yes" : "no",
      t.ttft_ms === null ? "" : `${t.ttft_ms} ms`,
      t.input_tokens === null ? "" : `${t.input_tokens} + ${t.output_tokens}`,
      t.cost ?? "",
      t.dropped ?? "",
      t.error === null ? short(t.answer) : t.error,
    ]),
  ]).join("\n");
}
