/**
 * Bedrock, Vertex AI and Azure on loopback: each checks the credential by itself, uses the wire format of the endpoint that is called,
 * streamed or whole, and keeps what it was sent.
 */
import { loadValue } from "../../../src/config/load.ts";
import { assemble } from "../../../src/assemble.ts";
import type { Gateway, GatewayOptions } from "../../../src/assembly/gateway.ts";
import { SECRET } from "../../support/gateway.ts";
import { binaryOf, chunksOf } from "../../support/event_stream.ts";
import { read } from "../../support/scenarios.ts";
import { PATIENCE_MS, steadyClock } from "../../support/time.ts";
import { type Cloud, cloud, NOW, type Seen } from "../credentials/cloud.ts";
import { signatureFault } from "../credentials/sigv4.ts";

export type { Seen };

const JSON_TYPE = { "content-type": "application/json" };
const EVENT_STREAM = { "content-type": "application/vnd.amazon.eventstream" };
const SSE = { "content-type": "text/event-stream" };

/** The answer of a scenario in the format of the endpoint with this path; undefined: no endpoint has it. */
export function answerOf({ path, body }: Seen, scenario: string): Response | undefined {
  const wants = (JSON.parse(body) as { stream?: boolean }).stream === true;
  const file = (format: string, stream: boolean) =>
    read(scenario, `${format}.${stream ? "sse" : "answer.json"}`)!;
  const plain = (format: string, stream: boolean) =>
    new Response(file(format, stream), { headers: stream ? SSE : JSON_TYPE });
  if (/^\/model\/[^/]+\/converse-stream$/.test(path)) {
    return new Response(binaryOf(file("converse", true)), { headers: EVENT_STREAM });
  }
  if (/^\/model\/[^/]+\/converse$/.test(path)) return plain("converse", false);
  if (/^\/model\/[^/]+\/invoke-with-response-stream$/.test(path)) {
    return new Response(chunksOf(file("messages", true)), { headers: EVENT_STREAM });
  }
  if (/^\/model\/[^/]+\/invoke$/.test(path)) return plain("messages", false);
  if (/:streamRawPredict$/.test(path)) return wants ? plain("messages", true) : undefined;
  if (/:rawPredict$/.test(path)) return wants ? undefined : plain("messages", false);
  if (/:streamGenerateContent\?alt=sse$/.test(path)) return plain("gemini", true);
  if (/:generateContent$/.test(path)) return plain("gemini", false);
  if (/\/anthropic\/v1\/messages$/.test(path)) return plain("messages", wants);
  if (/\/v1\/responses$/.test(path)) return plain("responses", wants);
  if (/\/chat\/completions$/.test(path)) return plain("chat_completions", wants);
}

/** Bedrock: refuses what is not signed for it with the secret of a key, as Bedrock does. */
export function bedrock(
  secrets: Readonly<Record<string, string>>,
  answer: (seen: Seen) => Response | undefined,
  now: () => number = () => NOW,
): Cloud {
  const refuse = (status: number, type: string, message: string) =>
    Response.json({ message }, {
      status,
      headers: {
        "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/`,
        date: new Date(now()).toUTCString(),
      },
    });
  return cloud((seen) => {
    const authorization = seen.headers.get("authorization") ?? "";
    const [, key, region, service] = /Credential=([^/]+)\/\d+\/([^/]+)\/([^/]+)\//.exec(authorization) ?? [];
    if (key === undefined) {
      return refuse(403, "MissingAuthenticationTokenException", "Missing Authentication Token");
    }
    if (secrets[key] === undefined) {
      return refuse(
        403,
        "UnrecognizedClientException",
        "The security token included in the request is invalid.",
      );
    }
    const date = seen.headers.get("x-amz-date")!.replace(/^(....)(..)(..T..)(..)(..Z)$/, "$1-$2-$3:$4:$5");
    if (Math.abs(Date.parse(date) - now()) > 5 * 60_000) {
      return refuse(403, "InvalidSignatureException", "Signature expired: it is now later");
    }
    const fault = signatureFault(seen, secrets[key]);
    if (fault !== null || region !== "eu-central-1" || service !== "bedrock") {
      return refuse(403, "InvalidSignatureException", fault ?? `wrong scope ${region} ${service}`);
    }
    return answer(seen) ?? refuse(404, "UnknownOperationException", seen.path);
  });
}

export interface Rig extends AsyncDisposable {
  gateway: Gateway;
  logged: string[];
  /** A request of a caller; its stream is read to the end. */
  ask(path: string, body: object): Promise<{ status: number; text: string; headers: Headers }>;
}

/** A gateway whose environment is the test's, at the time of the impostors. */
export async function rig(
  config: Record<string, unknown>,
  env: Record<string, string>,
  options: Pick<Partial<GatewayOptions>, "now" | "clock"> = {},
): Promise<Rig> {
  const variable = (name: string) => env[name];
  const { config: loaded } = loadValue({
    store: { url: "sqlite::memory:" },
    keys: [{ name: "test", secret: SECRET }],
    ...config,
  }, { env: variable });
  const logged: string[] = [];
  const gateway = await assemble(loaded, {
    now: options.now ?? (() => NOW),
    clock: options.clock ?? steadyClock(),
    storeWaitMs: PATIENCE_MS,
    log: (line) => logged.push(line),
    env: variable,
    sleep: () => Promise.resolve(),
  });
  return {
    gateway,
    logged,
    async ask(path, body) {
      const response = await gateway.handle(
        new Request(`http://gateway${path}`, {
          method: "POST",
          headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
          body: JSON.stringify(body),
        }) as never,
      );
      return { status: response.status, text: await response.text(), headers: response.headers };
    },
    async [Symbol.asyncDispose]() {
      await gateway.idle();
      await gateway.close();
    },
  };
}

export const PRICING = { prompt: "0.000001", completion: "0.000002" };

/** One model for each route. */
export function models(routes: readonly Record<string, unknown>[]): object[] {
  return routes.map((route, i) => ({
    id: `m/${i}`,
    pricing: PRICING,
    routes: [route],
    capabilities: {
      modality_input: ["text", "image", "file"],
      features: ["tools", "reasoning", "prompt_caching", "structured_outputs", "response_format"],
    },
  }));
}
