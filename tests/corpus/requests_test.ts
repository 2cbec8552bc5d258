/**
 * Every recorded request that was answered, as a request of its caller format, to every provider API: what goes out is
 * accepted by a checker as strict as the API, nothing that the caller said is lost without a word, and inside one format
 * reading and writing are each other's reverse. `SLUICE_CORPUS_ONLY` is part of the id of the recordings to look at.
 */
import { assertEquals } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { FormatName, FunctionTool, Prompt } from "../../src/exchange/prompt.ts";
import { flattenTools } from "../../src/exchange/tools.ts";
import type { CallerFormat, EncodeRequest } from "../../src/formats/format.ts";
import { CALLER_FORMATS, PROVIDER_FORMATS } from "../../src/formats/mod.ts";
import { API_OF } from "../support/apis.ts";
import { checkRequest as checkGeminiRequest, checkSignatures } from "../formats/gemini/request_checker.ts";
import type { Carried } from "./carried.ts";
import { readChatRequest } from "./carried_chat.ts";
import { losses } from "./carried_compare.ts";
import { readConverseRequest } from "./carried_converse.ts";
import { readGeminiRequest } from "./carried_gemini.ts";
import { readMessagesRequest } from "./carried_messages.ts";
import { readResponsesRequest } from "./carried_responses.ts";
import { checkChatRequest } from "./check_chat_request.ts";
import { checkConverseRequest } from "./check_converse_request.ts";
import { checkMessagesRequest } from "./check_messages_request.ts";
import { checkResponsesRequest } from "./check_responses_request.ts";
import { readRecordings, type Recording } from "../support/recordings.ts";
import { type Wild, wild } from "./wild.ts";
import { sharedTest } from "../support/shared.ts";

type Caller = "chat_completions" | "messages" | "responses";

const CALLER_OF: Readonly<Record<Recording["api"], Caller | null>> = {
  "openai-chat": "chat_completions",
  "openai-responses": "responses",
  "anthropic-messages": "messages",
  "gemini-generate": null,
};

/** A model of each generation whose rules differ. */
const TARGETS: Readonly<Record<FormatName, readonly string[]>> = {
  chat_completions: ["gpt-5-mini"],
  responses: ["gpt-5-mini"],
  messages: ["claude-haiku-4-5", "claude-sonnet-4-6"],
  gemini: ["gemini-2.5-flash", "gemini-3-pro-preview"],
  converse: ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "amazon.nova-2-lite-v1:0"],
};

const READ: Readonly<Record<FormatName, (body: Wild) => Carried>> = {
  chat_completions: readChatRequest,
  messages: readMessagesRequest,
  responses: readResponsesRequest,
  gemini: readGeminiRequest,
  converse: readConverseRequest,
};

const CHECK: Readonly<Record<FormatName, (body: unknown) => unknown>> = {
  chat_completions: checkChatRequest,
  messages: checkMessagesRequest,
  responses: checkResponsesRequest,
  gemini: checkGeminiRequest,
  converse: checkConverseRequest,
};

/** Recorded requests that callers of this service are refused, by what the refusal says, and why. */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/^Cannot use the tool "(?:code_execution|web_fetch)/, "the provider would fetch pages or run code"],
  [/^Cannot use tools\[\d+\]: code_interpreter/, "the provider would fetch pages or run code"],
  [/^Cannot use (?:store|background|conversation|previous_response_id):/, "nothing is stored here"],
];

/** What a provider API has no form for: refused by name before anything is sent. */
const UNSENDABLE: readonly (readonly [RegExp, string])[] = [
  [/^Cannot send the \w+: Bedrock .* got an address/, "an address, from which Bedrock fetches nothing"],
  [/a stored file|Google file id|id of a stored file/, "a file that another provider holds"],
  [/^Cannot send the document: .* got application\//, "an office document, which Google does not read"],
  [/^Cannot send a document of type application\//, "an office document, which Anthropic does not read"],
  [/^Cannot send audio: the API of this model's provider/, "audio, which Anthropic does not hear"],
  [/^Cannot send video/, "video, which only Gemini and dialects of chat-completions see"],
];

const only = Deno.env.get("SLUICE_CORPUS_ONLY") ?? "";

sharedTest("corpus/", "every recorded request reaches every provider API whole", () => {
  const recorded = readRecordings().filter((r) => r.status === 200 && r.request && r.id.includes(only));
  const cells = new Map<string, number>();
  const refused = new Map<string, number>();
  const failures: string[] = [];
  const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);
  for (const recording of recorded) {
    const caller = CALLER_OF[recording.api];
    if (!caller) continue;
    const body: Wild = { ...wild(recording.request), model: "acme/one" };
    let prompt: Prompt;
    try {
      prompt = decode(CALLER_FORMATS[caller], body);
    } catch (thrown) {
      const reason = reasonOf(thrown, REFUSED);
      if (reason) count(refused, `refused: ${reason}`);
      else failures.push(`${recording.id}: ${(thrown as Error).message}`);
      continue;
    }
    const said = READ[caller](body);
    for (const target of Object.keys(TARGETS) as FormatName[]) {
      for (const model of TARGETS[target]) {
        for (const stream of [true, false]) {
          const cell = `${caller} -> ${target}${stream ? " (stream)" : ""}`;
          try {
            const { body: sent, dropped } = encode({ ...prompt, stream }, target, model);
            const wire = wild(JSON.parse(JSON.stringify(sent)));
            if (caller !== target) CHECK[target](wire);
            else if (accepts(target, body)) CHECK[target](wire);
            if (target === "gemini" && model.includes("-3")) checkSignatures(checkGeminiRequest(wire));
            const lost = losses(said, READ[target](wire), target, dropped);
            if (caller !== target) lost.push(...unsaid({ body, wire, prompt, dropped }));
            if (lost.length > 0) {
              failures.push(`${recording.id} -> ${target} ${model}: lost ${lost.join("; ")}`);
            }
            count(cells, cell);
          } catch (thrown) {
            const reason = reasonOf(thrown, UNSENDABLE);
            if (reason) count(refused, `not sent to ${target}: ${reason}`);
            else failures.push(`${recording.id} -> ${target} ${model}: ${(thrown as Error).message}`);
          }
        }
      }
    }
  }
  const lines = [...[...cells].sort(), ...[...refused].sort()].map(([key, n]) => `  ${key.padEnd(60)} ${n}`);
  console.log(`tests/corpus: requests carried\n${lines.join("\n")}\n  wrong ${failures.length}`);
  assertEquals([...new Set(failures)], []);
});

function decode(format: CallerFormat, body: Wild): Prompt {
  return format.decodeRequest(body, { unseal: () => null, headers: () => ({}) });
}

function encode(prompt: Prompt, target: FormatName, model: string) {
  const context: EncodeRequest = {
    model,
    stream: prompt.stream,
    maxOutput: null,
    features: null,
    efforts: null,
  };
  return PROVIDER_FORMATS[target].encodeRequest(
    flattenTools(prompt, API_OF[target].toolForms(prompt.format)).prompt,
    context,
  );
}

/** Whether a body is official as the caller sent it: then it must still be when it goes out. */
function accepts(target: FormatName, body: Wild): boolean {
  try {
    CHECK[target](body);
    return true;
  } catch {
    return false;
  }
}

function reasonOf(thrown: unknown, table: readonly (readonly [RegExp, string])[]): string | undefined {
  if (!(thrown instanceof Failure) || thrown.code !== "feature_not_supported") return undefined;
  return table.find(([said]) => said.test(thrown.message))?.[1];
}

/** Fields, blocks and tools that only the caller's format knows, and of which nobody was told. */
function unsaid(
  { body, wire, prompt, dropped }: { body: Wild; wire: Wild; prompt: Prompt; dropped: readonly string[] },
): string[] {
  // OpenAI gave some of them to both of its APIs.
  const found = Object.keys(prompt.unknown).filter((field) =>
    !dropped.includes(field) && JSON.stringify(wire[field]) !== JSON.stringify(prompt.unknown[field])
  );
  const sent = JSON.stringify(wire);
  const isSent = (tool: FunctionTool) => sent.includes(`"name":${JSON.stringify(tool.name)}`);
  const lostTool = prompt.tools.some((t) => t.kind === "opaque" && !(t.asFunction && isSent(t.asFunction)));
  if (lostTool && !dropped.includes("tools")) found.push("opaque tools");
  const opaque = prompt.turns.some((t) =>
    t.content.some((c) =>
      (c.type === "opaque" && !c.represented) ||
      (c.type === "result" && c.content.some((x) => x.type === "opaque"))
    )
  );
  const where = body.input === undefined ? "messages" : "input";
  if (opaque && !dropped.includes(where)) found.push(`opaque ${where}`);
  return found.map((what) => `${what} without a word`);
}
