/** A gateway between a key with a limit and a provider whose answers report uses of its own tools. */
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";

export type Loose = Record<string, unknown>;

export const TOKENS = { prompt: "0.000001", completion: "0.000002" };
export const FEES = { file_search: "0.0025", x_search: "0.005", search_source: "0.025" };
/** Of 1000 tokens of input and 100 of output. */
const OF_TOKENS = 0.0012;

interface Asked {
  api?: "openai-responses" | "openai-chat";
  stream?: boolean;
  output?: Loose[];
  usage?: Loose;
  /** Further fields of the response. */
  response?: Loose;
  body?: Loose;
  limit?: string;
  model?: Loose;
  calls?: number;
}

export const call = (type: string, more: Loose = {}) => ({
  id: `${type}_1`,
  type,
  status: "completed",
  queries: ["q"],
  results: null,
  ...more,
});

function responseOf({ output = [], usage = {}, response }: Asked): Loose {
  const content = [{ type: "output_text", annotations: [], text: "Hi" }];
  return {
    id: "resp_1",
    object: "response",
    created_at: 1_771_255_560,
    status: "completed",
    error: null,
    model: "model",
    output: [...output, { id: "msg_1", type: "message", status: "completed", role: "assistant", content }],
    usage: {
      input_tokens: 1000,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 100,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 1100,
      ...usage,
    },
    ...response,
  };
}

export function responsesAnswer(asked: Asked): Response {
  const response = responseOf(asked);
  if (!asked.stream) return Response.json(response);
  const events: Loose[] = [{
    type: "response.created",
    response: { ...response, status: "in_progress", output: [], usage: null },
  }];
  for (const [output_index, item] of (response.output as Loose[]).entries()) {
    events.push({
      type: "response.output_item.added",
      output_index,
      item: { ...item, status: "in_progress" },
    });
    events.push({ type: "response.output_item.done", output_index, item });
  }
  events.push({ type: "response.completed", response });
  return sseResponse(
    events.map((event, sequence_number) =>
      `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`
    ),
  );
}

function chatAnswer({ stream, usage = {} }: Asked): Response {
  const counts = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100, ...usage };
  const choice = { index: 0, finish_reason: "stop" };
  const head = { id: "c", object: "chat.completion", created: 1, model: "model" };
  if (!stream) {
    const message = { role: "assistant", content: "Hi" };
    return Response.json({ ...head, choices: [{ ...choice, message }], usage: counts });
  }
  const chunk = { ...head, object: "chat.completion.chunk" };
  const delta = { role: "assistant", content: "Hi" };
  return sseResponse([
    `data: ${JSON.stringify({ ...chunk, choices: [{ ...choice, delta }], usage: counts })}\n\n`,
    "data: [DONE]\n\n",
  ]);
}

export async function ask(asked: Asked) {
  const { api = "openai-responses", stream = false, limit = "10", calls = 1 } = asked;
  await using provider = loopbackProvider(() =>
    api === "openai-chat" ? chatAnswer(asked) : responsesAnswer(asked)
  );
  const model = { context_length: 4000, pricing: { ...TOKENS, ...FEES }, ...asked.model };
  await using gateway = await testGateway({ p: { api, url: provider.url, model } }, {
    keys: [{ name: "test", secret: SECRET, spend_limit: { amount: limit, period: "total" } }],
  });
  const path = api === "openai-chat" ? "/v1/chat/completions" : "/v1/responses";
  const shared = { model: "p/model", stream, ...asked.body };
  const body = api === "openai-chat"
    ? { messages: [{ role: "user", content: "Hi" }], max_tokens: 100, ...shared }
    : { input: "Hi", max_output_tokens: 100, ...shared };
  let status = 0;
  for (let i = 0; i < calls; i++) {
    const response = await gateway.post(path, body);
    await response.text();
    status = response.status;
  }
  await gateway.gateway.idle();
  const { accounts } = gateway.gateway;
  await accounts.flush();
  const { data } = await accounts.generations({});
  const steps = data.length === 0 ? [] : (await accounts.generation(data[0].id)).steps ?? [];
  return {
    status,
    cost: data[0]?.cost,
    spent: data.reduce((sum, { cost }) => sum + Number(cost), 0),
    step: steps.find(({ kind }) => kind === "provider_tools"),
    logged: gateway.logged,
  };
}

/** Beside the tokens. */
export const fee = (cost: string) => Number((Number(cost) - OF_TOKENS).toFixed(9));

/** As xAI reports them. */
export const counts = (counts: Loose) => ({
  num_sources_used: 0,
  num_server_side_tools_used: 3,
  cost_in_usd_ticks: 161_508_500,
  server_side_tool_usage_details: {
    web_search_calls: 0,
    x_search_calls: 0,
    code_interpreter_calls: 0,
    file_search_calls: 0,
    mcp_calls: 0,
    document_search_calls: 0,
    image_generation_calls: 0,
    ...counts,
  },
});
