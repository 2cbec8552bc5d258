/** The endpoints of the API: generations in three formats, the model catalog, and a key's own account. */
import type { Key } from "../accounts/mod.ts";
import { Failure } from "../exchange/failure.ts";
import type { CallerFormatName } from "../exchange/format_name.ts";
import { lazy } from "../exchange/lazy.ts";
import type { Kit } from "../pipeline/kit.ts";
import type { Step } from "../timing/slices.ts";
import type { Endpoint, RequestContext } from "./endpoint.ts";
import { withBody } from "./gate.ts";
import { generation } from "./generation.ts";
import { CATALOG, CHAT, MESSAGES, RESPONSES, STREAMS, type Surface } from "./surfaces.ts";

// Loaded on first use, since it is rarely called.
const compacting = lazy(() => import("./compact.ts"));
const counting = lazy(() => import("./count_tokens.ts"));
const estimating = lazy(() => import("./estimate.ts"));

const generates = (
  path: string,
  surface: Surface & { name: CallerFormatName },
  schema: string,
  summary: string,
): Endpoint => ({
  method: "POST",
  path,
  surface,
  credential: "api_key",
  generates: true,
  summary,
  request: `${schema}Request`,
  answer: { schema: `${schema}Response`, types: ["application/json", "text/event-stream"] },
  handle: (context) => generation(context, surface.name),
});

export const API: readonly Endpoint[] = [
  generates(
    "/v1/chat/completions",
    CHAT,
    "ChatCompletions",
    "Generates an answer in the chat-completions format.",
  ),
  generates("/v1/messages", MESSAGES, "Messages", "Generates an answer in the messages format."),
  generates("/v1/responses", RESPONSES, "Responses", "Generates an answer in the responses format."),
  {
    method: "POST",
    path: "/v1/responses/compact",
    surface: RESPONSES,
    credential: "api_key",
    generates: true,
    summary: "Compacts a conversation to a few items from which the client continues.",
    request: "CompactRequest",
    answer: { schema: "CompactResponse" },
    handle: async (context) => await (await compacting.open()).compact(context),
  },
  {
    method: "GET",
    path: "/v1/responses",
    surface: RESPONSES,
    credential: "none",
    summary: "Opens a WebSocket for several turns of the responses format, one after the other.",
    answer: { status: 101, types: ["application/json"] },
    handle: async (context) => await (await import("./responses_socket.ts")).responsesSocket(context),
  },
  {
    method: "POST",
    path: "/v1/messages/count_tokens",
    surface: MESSAGES,
    credential: "api_key",
    summary: "Estimates how many input tokens a messages request has.",
    request: "CountTokensRequest",
    answer: { schema: "CountTokensResponse" },
    handle: (context, key) =>
      withBody(
        context,
        key,
        async (body, step) =>
          Response.json({ input_tokens: await count("messages", body, { context, key, step }) }),
      ),
  },
  {
    method: "POST",
    path: "/v1/responses/input_tokens",
    surface: RESPONSES,
    credential: "api_key",
    summary: "Estimates how many input tokens a responses request has.",
    request: "InputTokensRequest",
    answer: { schema: "InputTokensResponse" },
    handle: (context, key) =>
      withBody(context, key, async (body, step) => {
        const input_tokens = await count("responses", body, { context, key, step });
        return Response.json({ object: "response.input_tokens", input_tokens });
      }),
  },
  {
    method: "POST",
    path: "/v1/estimate",
    surface: CATALOG,
    credential: "api_key",
    summary:
      "Estimates the cost of a request and whether it would be accepted. Nothing is sent to a provider.",
    parameters: [{
      name: "format",
      in: "query",
      description: "The format of the body. Default: detected from the body.",
      values: ["chat_completions", "chat-completions", "chat", "messages", "responses"],
    }],
    request: "EstimateRequest",
    answer: { schema: "Estimate" },
    handle: async (context, key) => await (await estimating.open()).estimate(context, key),
  },
  {
    method: "GET",
    path: "/v1/models",
    surface: CATALOG,
    credential: "api_key",
    summary: "Lists the models that are visible to the key.",
    answer: { schema: "ModelList" },
    handle: ({ state }, key) => listOfModels(state.kit, key),
  },
  {
    method: "GET",
    path: "/v1/models/{model+}",
    surface: CATALOG,
    credential: "api_key",
    summary: "Shows one model of the catalog.",
    parameters: [{
      name: "model",
      in: "path",
      description: "The model's id, with its slash as it is or encoded.",
    }],
    answer: { schema: "Model" },
    handle: oneModel,
  },
  {
    method: "GET",
    path: "/v1/key",
    surface: CATALOG,
    credential: "api_key",
    summary: "Shows the key's own limits, spend and reset time.",
    answer: { schema: "KeyStatus" },
    handle: async ({ state }, key) => Response.json(await state.administration.keyStatus(key)),
  },
  {
    method: "GET",
    path: "/v1/generations/{id}",
    surface: CATALOG,
    credential: "api_key",
    summary: "Shows the record of one of the key's own generations.",
    parameters: [{ name: "id", in: "path", description: "The generation's id, as `x-request-id` gave it." }],
    answer: { schema: "Generation" },
    handle: async ({ state, parameters }, key) =>
      Response.json(await state.administration.generation(parameters.id, { owner: key })),
  },
  {
    method: "GET",
    path: "/v1/generations/{id}/stream",
    surface: STREAMS,
    credential: "api_key",
    summary: "Resumes a stream after an event. 204: there are no later events.",
    parameters: [
      { name: "id", in: "path", description: "The generation's id, as `x-request-id` gave it." },
      { name: "last-event-id", in: "header", description: "Id of the last event that was received." },
      {
        name: "starting_after",
        in: "query",
        description:
          "The same as `last-event-id`, for clients that cannot send headers. The header has priority.",
      },
    ],
    answer: { types: ["text/event-stream"], empty: [204] },
    handle: async (context, key) => {
      // Loaded on first use, since few clients resume streams.
      const { resumeStream } = await import("./resume/resume_endpoint.ts");
      return await resumeStream(context, key);
    },
  },
];

function listOfModels({ catalog, accounts }: Kit, key: Key): Response {
  const body = catalog.listText(key, { limited: accounts.isLimited(key) });
  return new Response(body, { headers: { "content-type": "application/json" } });
}

async function count(
  format: CallerFormatName,
  body: unknown,
  { context: { request, state }, key, step }: { context: RequestContext; key: Key; step: Step },
): Promise<number> {
  const { countTokens } = await counting.open();
  return await countTokens(format, body, request, { key, kit: state.kit, step });
}

function oneModel({ state, parameters: { model } }: RequestContext, key: Key): Response {
  // An alias is resolved to its model.
  const { catalog, accounts } = state.kit;
  const id = catalog.find(model)?.id ?? model;
  const found = catalog.list(key, { limited: accounts.isLimited(key) }).find((m) => m.id === id);
  if (found) return Response.json(found);
  throw new Failure("model_not_found", `Cannot find model ${JSON.stringify(model.slice(0, 200))}.`);
}
