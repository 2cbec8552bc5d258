/**
 * Claude Code and Codex through a proxy that cuts connections: every task ends right, and what is billed is what the provider
 * reported. Both ask again after a cut, which is another generation, or the same with `x-svc-join`.
 */
import { assert, assertEquals } from "@std/assert";
import { array, type Loose, object } from "../../../src/exchange/json.ts";
import { SECRET, type TestGateway, testGateway } from "../../support/gateway.ts";
import { type LoopbackProvider, loopbackProvider, sseResponse } from "../../support/provider.ts";
import { SCRIPTS } from "../../support/script/mod.ts";
import { eventually } from "../../support/time.ts";
import { type CuttingProxy, cuttingProxy } from "./cutting_proxy.ts";
import { installed, run } from "./program.ts";

/** Calls of a tool until the answer. */
const STEPS = 6;
const DONE = "The note is read.";
const SEEDS = [1, 2, 3];

interface Rig {
  home: string;
  provider: LoopbackProvider;
  gateway: TestGateway;
  proxy: CuttingProxy;
  /** A repeated request joins. */
  joins: boolean;
}

interface Program {
  name: string;
  api: "anthropic-messages" | "openai-responses";
  /** Results of tools in a request: how far the task is. Undefined: it is about something else. */
  step(body: Loose): number | undefined;
  /** Whether it goes on from a half answer, instead of asking again. */
  continues?(body: Loose): boolean;
  call(step: number, body: Loose, home: string): { id: string; name: string; input: Loose };
  run(path: string, rig: Rig): Promise<{ said: string; all: string }>;
}

const PROGRAMS: readonly Program[] = [
  {
    name: "claude",
    api: "anthropic-messages",
    step(body) {
      if (!array(body.tools).some((tool) => object(tool).name === "Read")) return undefined;
      const blocks = array(body.messages).flatMap((message) => array(object(message).content));
      return blocks.filter((block) => object(block).type === "tool_result").length;
    },
    continues: (body) => JSON.stringify(array(body.messages).at(-1)).includes("was cut off mid-stream"),
    call: (step, _, home) => ({
      id: `toolu_${step}`,
      name: "Read",
      input: { file_path: `${home}/note.txt`, limit: step + 1 },
    }),
    async run(path, { home, proxy, joins }) {
      const { stdout, stderr } = await run(path, {
        home,
        args: [
          ...["-p", "Read note.txt step by step.", "--model", "p/model", "--allowedTools", "Read"],
          ...["--output-format", "json"],
        ],
        env: {
          ANTHROPIC_BASE_URL: proxy.url,
          ANTHROPIC_AUTH_TOKEN: SECRET,
          ...(joins && { ANTHROPIC_CUSTOM_HEADERS: "x-svc-resume: true\nx-svc-join: true" }),
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          DISABLE_AUTOUPDATER: "1",
        },
      });
      return { said: stdout === "" ? "" : String(JSON.parse(stdout).result), all: stdout + stderr };
    },
  },
  {
    name: "codex",
    api: "openai-responses",
    step(body) {
      if (array(body.tools).length === 0) return undefined;
      return array(body.input).filter((item) => String(object(item).type).endsWith("_call_output")).length;
    },
    call(step, body) {
      const names = array(body.tools).map((tool) => String(object(tool).name));
      return names.includes("exec_command")
        ? { id: `call_${step}`, name: "exec_command", input: { cmd: `head -n ${step + 1} note.txt` } }
        : {
          id: `call_${step}`,
          name: "shell",
          input: { command: ["head", "-n", `${step + 1}`, "note.txt"] },
        };
    },
    async run(path, { home, proxy, joins }) {
      await Deno.mkdir(`${home}/.codex`);
      await Deno.writeTextFile(
        `${home}/.codex/config.toml`,
        [
          'model = "p/model"',
          'model_provider = "sluice"',
          "[model_providers.sluice]",
          'name = "Sluice"',
          `base_url = "${proxy.url}/v1"`,
          'env_key = "SLUICE_KEY"',
          'wire_api = "responses"',
          "stream_max_retries = 20",
          "request_max_retries = 20",
          ...(joins ? ['http_headers = { "x-svc-resume" = "true", "x-svc-join" = "true" }'] : []),
        ].join("\n"),
      );
      const { stdout, stderr } = await run(path, {
        home,
        args: [
          ...["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
          "Read note.txt step by step.",
        ],
        env: { SLUICE_KEY: SECRET },
      });
      return { said: stdout.trim().split("\n").at(-1) ?? "", all: stdout + stderr };
    },
  },
];

/** Answers by how far the conversation is, so that a request that comes again gets the same. */
function answering(program: Program, home: string): LoopbackProvider {
  const script = SCRIPTS[program.api];
  return loopbackProvider(({ body }) => {
    const step = program.step(body);
    const said = step === undefined
      ? { text: "A note" }
      : step < STEPS
      ? { text: `Step ${step}.`, calls: [program.call(step, body, home)] }
      : { text: DONE };
    const turn = step ?? 900;
    return body.stream === true
      ? sseResponse(script.frames(said, turn))
      : Response.json(script.whole(said, turn));
  });
}

/** What each answer of the scripts reports. */
const REPORTED = { "anthropic-messages": [424, 95], "openai-responses": [75, 80] };

for (const program of PROGRAMS) {
  const path = installed(program.name);
  for (const [seed, joins] of SEEDS.flatMap((seed) => [[seed, false], [seed, true]] as const)) {
    Deno.test({
      name: `${program.name} ends its task through connections that are cut${
        joins ? ", and pays no turn twice" : ""
      } (${seed})`,
      ignore: path === undefined,
      async fn() {
        const home = await Deno.makeTempDir();
        await Deno.writeTextFile(`${home}/note.txt`, "one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
        const provider = answering(program, home);
        const gateway = await testGateway({ p: { api: program.api, url: provider.url } });
        const proxy = cuttingProxy(gateway.url, { seed, most: 6, within: 3000, share: 0.5 });
        const { said, all } = await program.run(path!, { home, provider, gateway, proxy, joins });
        assertEquals(said, DONE, all);
        assert(proxy.cuts > 0, `of ${proxy.connections} connections none was cut`);
        // Calls whose caller was cut off go on to their end.
        const generations = async () => (await gateway.gateway.accounts.generations({ limit: 100 })).data;
        await eventually(async () => (await generations()).length === provider.seen.length);
        const records = await generations();
        const [input, output] = REPORTED[program.api];
        for (const { status, usage } of records) {
          assertEquals([status, usage!.input_tokens, usage!.output_tokens], ["completed", input, output]);
        }
        assertEquals(new Set(records.map(({ id }) => id)).size, provider.seen.length);
        const turns = provider.seen.filter(({ body }) =>
          program.step(body) !== undefined && !program.continues?.(body)
        ).length;
        if (Deno.env.has("SLUICE_TEST_SHOW")) {
          console.log(`${proxy.cuts} cuts, ${turns} answers for ${STEPS + 1} turns`);
        }
        if (joins) assertEquals(turns, STEPS + 1);
        await proxy.close();
        await gateway.close();
        await provider.close();
        await Deno.remove(home, { recursive: true });
      },
    });
  }
}
