/** Coding agents as the tests of this folder run them: how far a task of theirs is, the next call, and the command line. */
import { array, type Loose, object } from "../../../src/exchange/json.ts";
import { SECRET } from "../../support/gateway.ts";
import { eventually } from "../../support/time.ts";
import type { CuttingProxy } from "./cutting_proxy.ts";
import { run } from "./program.ts";

export interface Rig {
  home: string;
  proxy: CuttingProxy;
  /** A repeated request joins. */
  joins: boolean;
}

export interface Program {
  name: string;
  /** Of the provider behind the gateway. */
  api: "anthropic-messages" | "openai-responses" | "openai-chat";
  /** Bytes of an answer within which cuts fall; by default 3000. */
  within?: number;
  /** What it says where it gives its task up after a cut instead of asking again: the task ends there. */
  givesUp?: string;
  /** Of its connections so many are cut; by default half. One that sends all of its requests over few needs more. */
  share?: number;
  /** Proofs of reasoning come back to the provider. */
  keepsProofs?: boolean;
  /** Results of tools in a request: how far the task is. Undefined: it is about something else. */
  step(body: Loose): number | undefined;
  /** Whether it goes on from a half answer, instead of asking again. */
  continues?(body: Loose): boolean;
  call(step: number, body: Loose, home: string): { id: string; name: string; input: Loose };
  run(path: string, rig: Rig): Promise<{ said: string; all: string }>;
}

export const SEEDS = [1, 2, 3];

export const PROGRAMS: readonly Program[] = [
  {
    name: "claude",
    api: "anthropic-messages",
    // "Connection closed" in Claude Code 2.1.197, "Connection lost" in 2.1.332, towards any server.
    givesUp: "mid-response",
    share: 0.9,
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
  {
    name: "opencode",
    api: "openai-responses",
    keepsProofs: true,
    step(body) {
      if (array(body.tools).length === 0) return undefined;
      return array(body.input).filter((item) => object(item).type === "function_call_output").length;
    },
    call: (step, _, home) => ({
      id: `call_${step}`,
      name: "read",
      input: { filePath: `${home}/note.txt`, limit: step + 1 },
    }),
    async run(path, { home, proxy, joins }) {
      const config = {
        provider: {
          sluice: {
            npm: "@ai-sdk/openai-compatible",
            options: {
              baseURL: `${proxy.url}/v1`,
              apiKey: "{env:SLUICE_KEY}",
              // Proofs of reasoning are read back from the fields of this name.
              name: "google",
              ...(joins && { headers: { "x-svc-resume": "true", "x-svc-join": "true" } }),
            },
            models: { "p/model": {} },
          },
        },
      };
      await Deno.writeTextFile(`${home}/opencode.json`, JSON.stringify(config));
      const { stdout, stderr } = await run(path, {
        home,
        args: ["run", "--format", "json", "-m", "sluice/p/model", "Read note.txt step by step."],
        env: {
          SLUICE_KEY: SECRET,
          OPENCODE_DISABLE_AUTOUPDATE: "1",
          OPENCODE_DISABLE_MODELS_FETCH: "1",
          OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
        },
      });
      const texts = stdout.split("\n").flatMap((line) => {
        const { part } = line.startsWith("{") ? object(JSON.parse(line)) : {};
        return object(part).type === "text" ? [String(object(part).text)] : [];
      });
      return { said: texts.at(-1) ?? "", all: stdout + stderr };
    },
  },
  {
    name: "cline",
    api: "openai-chat",
    // An answer that is held back is short.
    within: 1200,
    step(body) {
      if (array(body.tools).length === 0) return undefined;
      return array(body.messages).filter((message) => object(message).role === "tool").length;
    },
    call: (step, _, home) => ({
      id: `call_${step}`,
      name: "read_files",
      input: { files: [{ path: `${home}/note.txt`, start_line: 1, end_line: step + 1 }] },
    }),
    async run(path, { home, proxy, joins }) {
      await run(path, {
        home,
        args: ["auth", "-p", "openai", "-k", SECRET, "-m", "p/model", "-b", `${proxy.url}/v1`],
        env: {},
      });
      const file = `${home}/.cline/data/settings/providers.json`;
      const settings = JSON.parse(await Deno.readTextFile(file));
      // It asks again only where nothing of an answer came.
      settings.providers["openai-compatible"].settings.headers = {
        "x-svc-hold": "true",
        ...(joins && { "x-svc-resume": "true", "x-svc-join": "true", "x-svc-session": "note" }),
      };
      await Deno.writeTextFile(file, JSON.stringify(settings));
      const { stdout, stderr } = await run(path, {
        home,
        args: ["--json", "Read note.txt step by step."],
        env: {},
      });
      await endHub(home);
      const lines = stdout.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
      return {
        said: String(lines.findLast(({ type }) => type === "run_result")?.text ?? ""),
        all: stdout + stderr,
      };
    },
  },
];

/** Cline leaves a process behind for its next run, which says its number in a file once it is up. */
async function endHub(home: string): Promise<void> {
  await eventually(async () => {
    try {
      const { pid } = JSON.parse(await Deno.readTextFile(`${home}/.cline/data/locks/hub/production.json`));
      Deno.kill(pid, "SIGTERM");
      await eventually(() => hasEnded(pid));
      return true;
    } catch {
      return false;
    }
  });
}

function hasEnded(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGCONT");
    return false;
  } catch {
    return true;
  }
}
