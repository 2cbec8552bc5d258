/** `@openai/agents` with its shell, patches and computer, at models of another API. */
import { assert, assertEquals } from "@std/assert";
import {
  Agent,
  applyPatchTool,
  computerTool,
  OpenAIResponsesModel,
  run,
  setTracingDisabled,
  shellTool,
} from "@openai/agents";
import OpenAI from "openai";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider, type Seen, sseResponse } from "../support/provider.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

setTracingDisabled(true);

const PIXEL = "iVBORw0KGgo=";
/** What the model calls, in one turn after the other. */
const CALLS: readonly (readonly [string, unknown])[] = [
  ["shell", { commands: ["ls", "pwd"] }],
  ["apply_patch", { type: "create_file", path: "a.txt", diff: "+one\n+two" }],
  ["apply_patch", { type: "update_file", path: "a.txt", diff: "@@\n one\n-two\n+three" }],
  ["computer", { type: "click", x: 3, y: 4 }],
];

function model({ body }: Seen): Response {
  const nth = (body.messages as Any[]).filter(({ role }) => role === "tool").length;
  const head = {
    id: "c",
    model: "m",
    created: 1,
    usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
  };
  const [name, args] = CALLS[nth] ?? [];
  const called = { name, arguments: JSON.stringify(args) };
  const call = { index: 0, id: `call_${nth}`, type: "function", function: called };
  const message = name === undefined ? { content: "Done." } : { content: null, tool_calls: [call] };
  const choice = { index: 0, finish_reason: name === undefined ? "stop" : "tool_calls" };
  if (body.stream !== true) {
    const choices = [{ ...choice, message: { role: "assistant", ...message } }];
    return Response.json({ ...head, object: "chat.completion", choices });
  }
  const chunk = { ...head, object: "chat.completion.chunk", choices: [{ ...choice, delta: message }] };
  return sseResponse([`data: ${JSON.stringify(chunk)}\n\n`, "data: [DONE]\n\n"]);
}

for (const stream of [false, true]) {
  Deno.test(`agents ${stream ? "stream" : "run"} shell, patches and a computer at a model of chat-completions`, async () => {
    await using provider = loopbackProvider(model);
    await using gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
    const client = new OpenAI({ apiKey: SECRET, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const done: unknown[] = [];
    const note = (...words: unknown[]) => void done.push(words);
    const agent = new Agent({
      name: "Worker",
      model: new OpenAIResponsesModel(client, "p/model"),
      tools: [
        shellTool({
          shell: {
            run: ({ commands }) => {
              note("shell", commands);
              const output = commands.map((command) => ({
                stdout: `out of ${command}`,
                stderr: "",
                outcome: { type: "exit", exitCode: 0 } as const,
              }));
              return Promise.resolve({ output });
            },
          },
        }),
        applyPatchTool({
          editor: {
            createFile: ({ path, diff }) => {
              note("create", path, diff);
              return Promise.resolve({ status: "completed", output: "created" });
            },
            updateFile: ({ path, diff }) => {
              note("update", path, diff);
              return Promise.resolve({ status: "failed", output: "no such line" });
            },
            deleteFile: () => Promise.resolve(),
          },
        }),
        computerTool({
          computer: {
            environment: "browser",
            dimensions: [1024, 768],
            screenshot: () => Promise.resolve(PIXEL),
            click: (x, y, button) => note("click", x, y, button),
            doubleClick: () => {},
            scroll: () => {},
            type: () => {},
            wait: () => {},
            move: () => {},
            keypress: () => {},
            drag: () => {},
          },
        }),
      ],
    });
    let said: unknown;
    if (stream) {
      const result = await run(agent, "Go", { stream: true });
      await result.completed;
      said = result.finalOutput;
    } else said = (await run(agent, "Go")).finalOutput;
    assertEquals(said, "Done.");
    assertEquals(done, [
      ["shell", ["ls", "pwd"]],
      ["create", "a.txt", "+one\n+two"],
      ["update", "a.txt", "@@\n one\n-two\n+three"],
      ["click", 3, 4, "left"],
    ]);
    const last = JSON.stringify(provider.seen.at(-1)!.body);
    for (const result of ["out of pwd", "created", "no such line", PIXEL]) {
      assert(last.includes(result), result);
    }
  });
}
