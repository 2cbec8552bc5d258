/**
 * `GET /openapi.json`: the API and the administration API as OpenAPI 3.1, from the table of endpoints and
 * their schemas.
 */
import { FAILURES } from "../../exchange/failure.ts";
import { ACCESS } from "../../accounts/mod.ts";
import type { Endpoint, Parameter, Program } from "../../http/endpoint.ts";
import { ADMIN_ANSWERS } from "./admin_answers.ts";
import { API_ANSWERS } from "./answers.ts";
import { CONSOLE_ANSWERS } from "./console_answers.ts";
import { INPUTS } from "./inputs.ts";
import { ref, type Schema } from "./schema.ts";

/** Every schema that a row of the table can refer to. */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
  ...INPUTS,
  ...API_ANSWERS,
  ...ADMIN_ANSWERS,
  ...CONSOLE_ANSWERS,
};

const TAGS: readonly [name: string, path: RegExp, description: string][] = [
  [
    "Generations",
    /^\/v1\/(?:chat|messages|responses|estimate|generations)/,
    "Calls of models, in three formats.",
  ],
  ["Catalog", /^\/v1\//, "The models, and information about the caller's own key."],
  [
    "Administration",
    /^\/admin\//,
    "Keys, usage, records and providers. Requires the admin key, a token or a session.",
  ],
  ["Console", /^\/console/, "The web page for operators, and the sign-in."],
  ["Operation", /^/, "Health, metrics, manual."],
];

export function openApiDocument(endpoints: readonly Endpoint[], program: Program): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of endpoints) {
    (paths[pathOf(endpoint)] ??= {})[endpoint.method.toLowerCase()] = operation(endpoint);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Sluice",
      version: program.version,
      summary: "A gateway to language-model providers: one base URL and one API key for all models.",
      description: "The manual is at [/docs](/docs).",
      license: { name: program.license, identifier: program.license },
    },
    servers: [{ url: "/", description: "This gateway." }],
    externalDocs: { url: "/docs", description: "The manual." },
    tags: TAGS.map(([name, , description]) => ({ name, description })),
    paths,
    components: { schemas: SCHEMAS, securitySchemes: SECURITY_SCHEMES, responses: FAILED },
  };
}

function pathOf({ path }: Endpoint): string {
  return path.replaceAll("+}", "}");
}

function operation(endpoint: Endpoint): Record<string, unknown> {
  const { method, summary, request, parameters = [], credential, surface } = endpoint;
  const changing = method !== "GET" && credential === "admin_key";
  const csrf = {
    name: "x-svc-csrf",
    in: "header",
    description: "Required with a session cookie: the value `csrf` of the session.",
    schema: { type: "string" },
  };
  const access = credential === "admin_key"
    ? `For the roles ${ACCESS[endpoint.access].join(", ")}.`
    : undefined;
  return {
    operationId: `${method.toLowerCase()}${
      pathOf(endpoint).replaceAll(/[{}]/g, "").replaceAll(/[/._-]+(\w?)/g, (_, c: string) => c.toUpperCase())
    }`,
    tags: [TAGS.find(([, path]) => path.test(endpoint.path))![0]],
    summary,
    ...(access !== undefined && { description: access }),
    ...((parameters.length > 0 || changing) && {
      parameters: [...parameters.map(parameter), ...(changing ? [csrf] : [])],
    }),
    ...(request !== undefined && {
      requestBody: {
        required: request !== "KeyRotation" && request !== "ProviderModel",
        content: { "application/json": { schema: schemaNamed(request) } },
      },
    }),
    responses: responses(endpoint),
    security: securityOf(credential, surface.apiKeyHeader !== false),
  };
}

/** A day or a time; `format: date-time` would exclude days. */
const MOMENT_OF_QUERY = String
  .raw`^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+\-]\d\d:\d\d)?)?$`;

function parameter(
  { name, in: place, description, type = "string", values, least, most, pattern, required }: Parameter,
) {
  const schema = type === "date-time" ? { type: "string", pattern: MOMENT_OF_QUERY } : {
    type,
    ...(values && { enum: values }),
    ...(least !== undefined && { minimum: least }),
    ...(most !== undefined && { maximum: most }),
    ...(pattern !== undefined && { pattern }),
  };
  return { name, in: place, description, ...((required || place === "path") && { required: true }), schema };
}

function responses(endpoint: Endpoint): Record<string, unknown> {
  const { answer: { status = 200, schema, types, empty = [] }, credential, surface, request } = endpoint;
  const content = Object.fromEntries(
    (types ?? ["application/json"]).map((type) => [
      type,
      {
        schema: type !== "application/json"
          ? { type: "string" }
          : schema === undefined
          ? {}
          : schemaNamed(schema),
      },
    ]),
  );
  const failed = (name: string) => ({ $ref: `#/components/responses/${name}` });
  const format = surface.format.name;
  const own = format === "chat_completions" ? "" : format === "messages" ? "Messages" : "Responses";
  return {
    [status]: {
      description: DESCRIPTIONS[status] ?? "The response.",
      ...(status < 300 && status >= 200 && { content }),
    },
    ...Object.fromEntries(empty.map((one) => [one, { description: DESCRIPTIONS[one] }])),
    ...(credential !== "none" &&
      { 401: failed(surface.shortUnauthorized ? "ShortUnauthorized" : `${own}Failure`) }),
    ...(credential === "admin_key" && { 403: failed(`${own}Failure`) }),
    ...(request !== undefined && { 422: failed(`${own}Failure`) }),
    "4XX": failed(`${own}Failure`),
    "5XX": failed(`${own}Failure`),
  };
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  101: "The connection is switched to the WebSocket protocol.",
  200: "Success.",
  201: "Created.",
  204: "No content.",
  302: "Redirect to the identity provider.",
  303: "Redirect to the console.",
  304: "Not modified: the client's copy, named in `If-None-Match`, is current.",
};

function schemaNamed(name: string): Schema {
  return Object.hasOwn(SCHEMAS, name) ? ref(name) : {};
}

const SECURITY_SCHEMES = {
  apiKey: { type: "http", scheme: "bearer", description: "A key `sk_live_…`." },
  apiKeyHeader: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "The same key in `x-api-key`, as Anthropic's clients send it.",
  },
  administrator: { type: "http", scheme: "bearer", description: "The admin key, or a token `sk_admin_…`." },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "sluice_session",
    description:
      "Session cookie, which `POST /console/session` sets. Over HTTPS its name is `__Host-sluice_session`.",
  },
};

function securityOf(credential: Endpoint["credential"], apiKeyHeader: boolean): Record<string, string[]>[] {
  switch (credential) {
    case "api_key":
      return [{ apiKey: [] }, ...(apiKeyHeader ? [{ apiKeyHeader: [] }] : [])];
    case "admin_key":
      return [{ administrator: [] }, { session: [] }];
    case "admin_or_loopback":
      return [{ administrator: [] }, { session: [] }, {}];
    case "session":
      return [{ session: [] }];
    case "none":
      return [];
  }
}

const CODES = Object.entries(FAILURES).map(([code, { status }]) => `${status} \`${code}\``).join(", ");

function failure(schema: string, example: unknown, description = `A refusal or a failure: ${CODES}.`) {
  return {
    description,
    headers: { "x-request-id": { description: "Id of the request.", schema: { type: "string" } } },
    content: { "application/json": { schema: ref(schema), examples: { refused: { value: example } } } },
  };
}

const MESSAGE = "The API key is not valid.";
const FAILED = {
  Failure: failure("Error", { error: { code: "invalid_api_key", message: MESSAGE } }),
  MessagesFailure: failure("MessagesError", {
    type: "error",
    error: { type: "not_found_error", message: 'Cannot find model "x".' },
  }),
  ResponsesFailure: failure("ResponsesError", {
    error: { type: "authentication_error", code: "invalid_api_key", message: MESSAGE, param: null },
  }),
  ShortUnauthorized: failure(
    "ShortUnauthorized",
    { error: "unauthorized" },
    "The key is missing or not valid.",
  ),
};
